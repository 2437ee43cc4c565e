"""The floor of the start-up measure: a pygls server that does nothing."""

from pygls.lsp.server import LanguageServer

server = LanguageServer("empty", "0")

if __name__ == "__main__":
    server.start_io()

"""The language server: decode, call the session, encode. The only package that imports pygls."""

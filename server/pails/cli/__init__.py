"""The command line: `pails run` and `pails doctor`. A client of the server like any other."""

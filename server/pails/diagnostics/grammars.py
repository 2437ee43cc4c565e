"""Loads a grammar when it is first needed: 24 of them would cost every start half a second."""

import importlib
from functools import cache

from tree_sitter import Language

from pails.diagnostics.languages import GRAMMARS


@cache
def load(name: str) -> Language:
    """The grammar of that name in `GRAMMARS`.

    Raises ImportError when its wheel is missing or broken, ValueError when it was built for a
    tree-sitter of another ABI.
    """
    grammar = GRAMMARS[name]
    module = importlib.import_module(grammar.module)
    capsule: object = getattr(module, grammar.function)()
    return Language(capsule)

"""A command as models write it, made a program with its arguments. Pure.

No shell runs it: what is clearly meant for one is refused, what may be is noted.
"""

import re
import shlex
from collections.abc import Sequence

from pydantic_core import from_json

from pails.core.text import join_surrogates

_USE_BASH = 'no shell runs it. For shell syntax use ["bash", "-c", "…"]'
_SHELL_SYNTAX = re.compile(r"[|&;<>()$`\\*?\[\]{}\n]|(?:^|\s)[~#!]|^\s*\w+=")
_NEVER_MEANT_LITERALLY = frozenset(("&&", "||", ">>", "&>", ">&2", "2>&1", "2>/dev/null"))
_SELDOM_MEANT_LITERALLY = frozenset(("|", ">", "<", "&"))


def as_list(command: object) -> object:
    """A list in any of the shapes in which models send one: bare, or as a string of JSON."""
    if not isinstance(command, str):
        return command
    try:
        return from_json(command) if command.lstrip().startswith("[") else [command]
    except ValueError:
        return [command]


def program_and_arguments(command: list[str]) -> list[str]:
    """What to run; one string with blanks, which models like to send, is split.

    Raises `ValueError`, which completes "COMMAND …".
    """
    arguments = [join_surrogates(part) for part in command]
    if len(arguments) == 1:
        arguments = _split(arguments[0])
    if not arguments or not arguments[0].strip():
        raise ValueError("names no program")
    if any("\0" in part for part in arguments):
        raise ValueError("holds a NUL character, which no program can be given")
    if operators := _NEVER_MEANT_LITERALLY.intersection(arguments):
        raise ValueError(f"holds {' '.join(sorted(operators))}, but {_USE_BASH}")
    return arguments


def shell_notes(command: Sequence[str]) -> list[str]:
    """A note, if any, about arguments that look as if a shell was meant to read them."""
    operators = _SELDOM_MEANT_LITERALLY.intersection(command)
    if not operators:
        return []
    return [f"Note: {' '.join(sorted(operators))} went to the program as text; {_USE_BASH}."]


def _split(line: str) -> list[str]:
    if not re.search(r"\s", line.strip()):
        return [line.strip()]
    if _SHELL_SYNTAX.search(line):
        raise ValueError(f"is one string with shell syntax, but {_USE_BASH}")
    return shlex.split(line)

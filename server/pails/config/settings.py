"""Every setting: its default, what is accepted, and whether a workspace may set it.

A workspace's file came with the repository, so it is data that nobody has vouched for. It may
not say where the key is sent or what commands see, and it may only make the mode stricter.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, cast
from urllib.parse import urlsplit

from pails.core.events import Mode

LogLevel = Literal["DEBUG", "INFO", "WARNING", "ERROR"]

STRICTNESS = (Mode.AUTO, Mode.ASK, Mode.PLAN)
"""The modes, from the most permissive to the strictest."""


@dataclass(frozen=True, slots=True)
class Config:
    """The settings in force. An empty `model` or `base_url` means that none is configured."""

    model: str = ""
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    mode: Mode = Mode.AUTO
    max_rounds: int = 20
    command_timeout_seconds: float = 30.0
    parallel_reads: int = 4
    idle_timeout_seconds: float = 120.0
    log_level: LogLevel = "INFO"
    environment_passthrough: tuple[str, ...] = ()


Parse = Callable[[object], object]
"""Turns a value from a file into the setting's type, or raises `ValueError`: what is expected."""


@dataclass(frozen=True, slots=True)
class Setting:
    """How one field of `Config` may be set.

    `from_text` turns an environment variable's text into what a file would hold. A `secret`
    stands in files as a placeholder `${NAME}` only. What may hold a password is not `repeatable`:
    no warning shows the refused value.
    """

    parse: Parse
    from_text: Callable[[str], object] = str
    workspace: bool = True
    secret: bool = False
    repeatable: bool = True


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.isprintable():
        raise ValueError("one line of text")
    return value.strip()


def _base_url(value: object) -> str:
    expected = "an address such as http://localhost:8080/v1, without a password in it"
    text = _text(value).rstrip("/")
    if not text:
        return ""
    try:
        parts = urlsplit(text)
        _ = parts.port  # raises when it is no number
    except ValueError as error:
        raise ValueError(expected) from error
    if parts.scheme not in {"http", "https"} or not parts.hostname or "@" in parts.netloc:
        raise ValueError(expected)
    return text


def _one_of(names: tuple[str, ...], normalise: Callable[[str], str]) -> Callable[[object], str]:
    def parse(value: object) -> str:
        text = normalise(value.strip()) if isinstance(value, str) else value
        if text not in names:
            raise ValueError(f"one of {', '.join(names)}")
        return cast("str", text)

    return parse


def _whole(low: int, high: int) -> Parse:
    def parse(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise ValueError(f"a whole number from {low} to {high}")
        return value

    return parse


def _seconds(low: float, high: float) -> Parse:
    def parse(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError(f"a number of seconds from {low:g} to {high:g}")
        if not low <= value <= high:
            raise ValueError(f"a number of seconds from {low:g} to {high:g}")
        return float(value)

    return parse


def _variable_names(value: object) -> tuple[str, ...]:
    names = cast("list[object]", value) if isinstance(value, list) else [None]
    if not all(isinstance(name, str) and name and "=" not in name for name in names):
        raise ValueError('a list of variable names such as ["LANG", "VIRTUAL_ENV"]')
    return tuple(cast("list[str]", names))


def _number(text: str) -> object:
    """The number that the text writes, or the text itself for `parse` to refuse."""
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        return number if math.isfinite(number) else text
    return text


def _comma_separated(text: str) -> object:
    return [name.strip() for name in text.split(",") if name.strip()]


_mode = _one_of(tuple(mode.value for mode in Mode), str.lower)

SETTINGS: Mapping[str, Setting] = MappingProxyType(
    {
        "model": Setting(_text),
        "base_url": Setting(_base_url, workspace=False, repeatable=False),
        "api_key": Setting(_text, workspace=False, secret=True, repeatable=False),
        "mode": Setting(lambda value: Mode(_mode(value))),
        "max_rounds": Setting(_whole(1, 1000), _number),
        "command_timeout_seconds": Setting(_seconds(1, 600), _number),
        "parallel_reads": Setting(_whole(1, 64), _number),
        "idle_timeout_seconds": Setting(_seconds(1, 7200), _number),
        "log_level": Setting(_one_of(("DEBUG", "INFO", "WARNING", "ERROR"), str.upper)),
        "environment_passthrough": Setting(_variable_names, _comma_separated, workspace=False),
    }
)
"""The table. Its keys are the fields of `Config`."""

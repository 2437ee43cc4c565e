"""Five layers, the later wins: defaults, user file, workspace file, environment, editor.

Nothing here fails a start. A value that cannot be used is left out with a warning that names the
place, the setting, what was expected, and what is used instead.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast

from pails.config.paths import Paths, unusable_folders
from pails.config.settings import SETTINGS, STRICTNESS, Config, Setting

EDITOR = "the editor's settings"
ENVIRONMENT = "the environment"
"""The place of what `PAILS_*` variables set, as `LoadedConfig.origins` names it."""
ENVIRONMENT_PREFIX = "PAILS_"
MAX_FILE_BYTES = 256 * 1024
_PLACEHOLDER = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, slots=True)
class LoadedConfig:
    """The settings in force. `origins` says for each one where it was set, `default` included."""

    config: Config
    origins: Mapping[str, str]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Layer:
    """Raw values and the place they came from. `trusted` is False for a workspace's file."""

    place: str
    values: Mapping[str, object]
    trusted: bool = True
    holds_keys: bool = False


def load(workspace: Path | None, environ: Mapping[str, str], editor: object) -> LoadedConfig:
    """Merge all layers. `editor` is the client's `settings` object, snake_case or camelCase."""
    merge = _Merge(environ)
    merge.add_file(Paths.from_environment(environ).config / "config.toml")
    if workspace is not None:
        merge.add_file(workspace / ".pai" / "config.toml", trusted=False)
    variables = _from_environment(environ, merge.warnings)
    merge.add(_Layer(ENVIRONMENT, variables, holds_keys=True))
    merge.add(_Layer(EDITOR, _from_editor(editor, merge.warnings)))
    return LoadedConfig(merge.config, merge.origins, tuple(merge.warnings))


class _Merge:
    """The settings so far, built layer by layer."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.config = Config()
        self.origins = dict.fromkeys(SETTINGS, "default")
        self.warnings: list[str] = []
        self._environ = environ

    def add_file(self, path: Path, *, trusted: bool = True) -> None:
        try:
            values = read_toml(path)
        except ValueError as error:
            self.warnings.append(f"{path}: {error}. The whole file is left out.")
        else:
            self.add(_Layer(str(path), values, trusted))

    def add(self, layer: _Layer) -> None:
        for name, raw in layer.values.items():
            setting = SETTINGS.get(name)
            if setting is None:
                hint = _hint(name.lower().replace("-", "_"), SETTINGS) or "."
                self.warnings.append(f"{layer.place}: there is no setting `{name}`{hint}")
                continue
            try:
                value = self._value(name, setting, raw, layer)
            except ValueError as error:
                self._refuse(layer, name, str(error))
            else:
                self.config = replace(self.config, **{name: value})
                self.origins[name] = layer.place

    def _value(self, name: str, setting: Setting, raw: object, layer: _Layer) -> object:
        """The setting's value, or `ValueError` with the rest of the sentence "`name` …"."""
        if not layer.trusted and not setting.workspace:
            raise ValueError("may not be set by a workspace; set it in your own configuration")
        if setting.secret and not layer.holds_keys and not _is_placeholder(raw):
            raise ValueError(
                "must be a placeholder such as ${OPENAI_API_KEY}: a key does not belong in a "
                "file. Put it into an environment variable, and renew it if the file was shared"
            )
        expanded = self._expanded(raw, layer)
        try:
            value = setting.parse(expanded)
        except ValueError as error:
            shown = f", not {_short(raw)}" if setting.repeatable else ""
            raise ValueError(f"must be {error}{shown}") from error
        if name == "mode" and not layer.trusted:
            self._check_stricter(value)
        return value

    def _check_stricter(self, mode: object) -> None:
        allowed = STRICTNESS[STRICTNESS.index(self.config.mode) :]
        if mode not in allowed:
            raise ValueError("may only be made stricter by a workspace")

    def _expanded(self, raw: object, layer: _Layer) -> object:
        """The value with `${NAME}` replaced. A workspace may not ask for our environment."""
        if not isinstance(raw, str) or layer.holds_keys:
            return raw
        names: list[str] = _PLACEHOLDER.findall(raw)
        if names and not layer.trusted:
            raise ValueError("may not hold a placeholder in a workspace's file")
        missing = [name for name in names if not self._environ.get(name)]
        if missing:
            raise ValueError(f"names an environment variable that is not set: {missing[0]}")
        return _PLACEHOLDER.sub(lambda match: self._environ[match[1]], raw)

    def _refuse(self, layer: _Layer, name: str, why: str) -> None:
        self.warnings.append(
            f"{layer.place}: `{name}` {why}. "
            f"Used instead: {self._in_force(name)} ({self.origins[name]})."
        )

    def _in_force(self, name: str) -> str:
        value: object = getattr(self.config, name)
        if SETTINGS[name].secret:
            return "a key" if value else "no key"
        return str(value) if value not in ("", ()) else "nothing"


def read_toml(path: Path) -> dict[str, Any]:
    """The file's values, {} when there is none; `ValueError` says why it cannot be used.

    Whoever wrote a repository chose what lies at this path: a pipe, a device or a huge file must
    not stall the start.
    """
    try:
        if not path.is_file():
            if path.exists():
                raise ValueError("is not an ordinary file")
            return {}
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
        if len(content) > MAX_FILE_BYTES:
            raise ValueError(f"is larger than {MAX_FILE_BYTES // 1024} KB")
        return tomllib.loads(content.decode("utf-8-sig"))
    except OSError as error:
        raise ValueError(f"cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"is not UTF-8 text, see byte {error.start}") from error
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"is not valid TOML: {error}") from error
    except RecursionError as error:
        raise ValueError("is nested too deeply") from error


def _from_environment(environ: Mapping[str, str], warnings: list[str]) -> dict[str, object]:
    """The settings among the variables. Empty means unset. Near misses are told, not guessed."""
    for name in unusable_folders(environ):
        warnings.append(
            f"the environment: `{name}` must be a folder, not {_short(environ[name])}. "
            "Used instead: the platform's usual folder (default)."
        )
    known = {ENVIRONMENT_PREFIX + name.upper(): name for name in SETTINGS}
    values: dict[str, object] = {}
    for variable, text in environ.items():
        if name := known.get(variable):
            if text.strip():
                values[name] = SETTINGS[name].from_text(text)
        elif variable.startswith(ENVIRONMENT_PREFIX) and (hint := _hint(variable, known, 0.9)):
            warnings.append(f"the environment: there is no setting `{variable}`{hint}")
    return values


def _from_editor(settings: object, warnings: list[str]) -> dict[str, object]:
    """The editor's values in our spelling. Editors send null or "" for what nobody set."""
    if settings is None:
        return {}
    if not isinstance(settings, Mapping):
        warnings.append(f"{EDITOR}: must be an object, not {_short(settings)}. They are left out.")
        return {}
    return {
        re.sub(r"(?<=[a-z])([A-Z])", lambda match: "_" + match[1].lower(), name): value
        for name, value in cast("Mapping[str, object]", settings).items()
        if value is not None and value != ""
    }


def _is_placeholder(raw: object) -> bool:
    return isinstance(raw, str) and (not raw or _PLACEHOLDER.fullmatch(raw.strip()) is not None)


def _hint(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    near = [f"`{match}`" for match in get_close_matches(name, known, n=2, cutoff=cutoff)]
    return f"; did you mean {' or '.join(near)}?" if near else ""


def _short(raw: object) -> str:
    text = repr(raw)
    return text if len(text) <= 60 else text[:57] + "…"

"""Configuration: layers, origins, bad values, untrusted workspaces, keys, folders, names."""

import dataclasses
import os
import stat
from collections.abc import Mapping
from pathlib import Path, PureWindowsPath
from typing import Any

import pytest

from pails.config import Config, LoadedConfig, Paths, load
from pails.config.paths import workspace_key
from pails.config.settings import SETTINGS
from pails.core.errors import StorageError
from pails.core.events import Mode


class Place:
    """A user's configuration folder and a workspace, both empty at first."""

    def __init__(self, root: Path) -> None:
        self.user = root / "config" / "config.toml"
        self.workspace = root / "project"
        self.project = self.workspace / ".pai" / "config.toml"
        self.user.parent.mkdir()
        self.project.parent.mkdir(parents=True)

    def load(
        self, environ: Mapping[str, str] | None = None, editor: Mapping[str, Any] | None = None
    ) -> LoadedConfig:
        variables = {"PAILS_CONFIG_DIR": str(self.user.parent), **(environ or {})}
        return load(self.workspace, variables, editor or {})


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def only(warnings: tuple[str, ...]) -> str:
    assert len(warnings) == 1, warnings
    return warnings[0]


def test_nothing_set_gives_the_defaults_without_a_warning(place: Place) -> None:
    loaded = place.load()

    assert loaded == LoadedConfig(Config(), dict.fromkeys(SETTINGS, "default"), ())


def test_the_table_holds_exactly_the_fields_of_config() -> None:
    assert list(SETTINGS) == [field.name for field in dataclasses.fields(Config)]


def test_the_later_layer_wins_and_the_origin_is_told(place: Place) -> None:
    place.user.write_text('model = "u"\nmax_rounds = 5\nparallel_reads = 2\nlog_level = "debug"')
    place.project.write_text('model = "w"\nmax_rounds = 6\nparallel_reads = 3')
    loaded = place.load({"PAILS_MODEL": "e", "PAILS_MAX_ROUNDS": "7"}, {"model": "editor"})

    assert loaded.warnings == ()
    assert loaded.config == Config(
        model="editor", max_rounds=7, parallel_reads=3, log_level="DEBUG"
    )
    assert loaded.origins["model"] == "the editor's settings"
    assert loaded.origins["max_rounds"] == "the environment"
    assert loaded.origins["parallel_reads"] == str(place.project)
    assert loaded.origins["log_level"] == str(place.user)
    assert loaded.origins["mode"] == "default"


def test_every_setting_is_read_from_the_environment(place: Place) -> None:
    loaded = place.load(
        {
            "PAILS_MODEL": "模型",
            "PAILS_BASE_URL": "http://localhost:1234/v1/",
            "PAILS_API_KEY": "sk-${not a placeholder}",
            "PAILS_MODE": "Plan",
            "PAILS_MAX_ROUNDS": "3",
            "PAILS_COMMAND_TIMEOUT_SECONDS": "1.5",
            "PAILS_PARALLEL_READS": "1",
            "PAILS_IDLE_TIMEOUT_SECONDS": "60",
            "PAILS_LOG_LEVEL": "warning",
            "PAILS_ENVIRONMENT_PASSTHROUGH": "LANG, JAVA_HOME,",
        }
    )

    assert loaded.warnings == ()
    assert loaded.config == Config(
        model="模型",
        base_url="http://localhost:1234/v1",
        api_key="sk-${not a placeholder}",
        mode=Mode.PLAN,
        max_rounds=3,
        command_timeout_seconds=1.5,
        parallel_reads=1,
        idle_timeout_seconds=60.0,
        log_level="WARNING",
        environment_passthrough=("LANG", "JAVA_HOME"),
    )


def test_the_editor_may_write_camel_case_and_leaves_unset_what_it_sends_empty(
    place: Place,
) -> None:
    place.user.write_text('model = "kept"')
    loaded = place.load(
        editor={"baseUrl": "https://m.example/v1", "model": "", "maxRounds": None, "mode": "ask"}
    )

    assert loaded.warnings == ()
    assert loaded.config == Config(model="kept", base_url="https://m.example/v1", mode=Mode.ASK)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('max_rounds = "20"', "a whole number from 1 to 1000, not '20'"),
        ("max_rounds = true", "a whole number from 1 to 1000"),
        ("max_rounds = 0", "a whole number from 1 to 1000, not 0"),
        ("max_rounds = 2.5", "a whole number from 1 to 1000, not 2.5"),
        ("parallel_reads = 1000000", "a whole number from 1 to 64"),
        ("command_timeout_seconds = nan", "a number of seconds from 1 to 600"),
        ("command_timeout_seconds = inf", "a number of seconds from 1 to 600"),
        ("idle_timeout_seconds = false", "a number of seconds from 1 to 7200"),
        ("model = 3", "one line of text, not 3"),
        ('model = "a\\nb"', "one line of text"),
        ('mode = "yolo"', "one of auto, plan, ask, not 'yolo'"),
        ("log_level = []", "one of DEBUG, INFO, WARNING, ERROR, not []"),
        ('base_url = "localhost:80"', "an address such as"),
        ('base_url = "ftp://h/"', "an address such as"),
        ('base_url = "http://h:port"', "an address such as"),
        ('base_url = "http://[::1"', "an address such as"),
        (
            'base_url = "https://me:secret@h"',
            "an address such as http://localhost:8080/v1, without a password in it. Used",
        ),
        ('environment_passthrough = "LANG"', "a list of variable names"),
        ('environment_passthrough = ["A=1"]', "a list of variable names"),
        ("environment_passthrough = [1]", "a list of variable names"),
    ],
)
def test_a_bad_value_is_a_warning_and_the_others_still_count(
    place: Place, line: str, expected: str
) -> None:
    name = line.partition(" ")[0]
    place.user.write_text(line)
    loaded = place.load({"PAILS_MODEL": "fine"} if name != "model" else None)

    warning = only(loaded.warnings)
    assert warning.startswith(f"{place.user}: `{name}` must be {expected}")
    assert "Used instead: " in warning
    assert getattr(loaded.config, name) == getattr(Config(), name)
    assert loaded.config.model == ("" if name == "model" else "fine")


def test_a_bad_value_keeps_the_one_of_the_layer_below(place: Place) -> None:
    place.user.write_text("max_rounds = 9")
    place.project.write_text("max_rounds = -1")
    loaded = place.load({"PAILS_MAX_ROUNDS": "many"})

    assert loaded.config.max_rounds == 9
    assert [w.split(":")[0] for w in loaded.warnings] == [str(place.project), "the environment"]
    assert all(f"Used instead: 9 ({place.user})" in w for w in loaded.warnings)


def test_an_unknown_setting_names_the_nearest_one(place: Place) -> None:
    place.user.write_text('max-round = 3\nzzz = 1\nmodel = "m"')
    loaded = place.load()

    assert loaded.warnings == (
        f"{place.user}: there is no setting `max-round`; did you mean `max_rounds`?",
        f"{place.user}: there is no setting `zzz`.",
    )
    assert loaded.config.model == "m"


def test_a_mistyped_variable_is_told_and_a_foreign_one_is_not(place: Place) -> None:
    loaded = place.load({"PAILS_MODLE": "m", "PAILS_TEST_BASE_URL": "x", "PAILS_STATE_DIR": "/s"})

    assert "`PAILS_MODLE`; did you mean `PAILS_MODE` or `PAILS_MODEL`?" in only(loaded.warnings)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"model = ", "is not valid TOML"),
        (b'model = "\xff"', "is not UTF-8 text"),
        (b"a = " + b"[" * 20_000, "is nested too deeply"),
        (b"#" * 300_000, "is larger than 256 KB"),
    ],
)
def test_an_unusable_file_is_left_out_with_a_warning(
    place: Place, content: bytes, expected: str
) -> None:
    place.project.write_bytes(content)
    place.user.write_text('model = "m"')
    loaded = place.load()

    assert only(loaded.warnings).startswith(f"{place.project}: {expected}")
    assert loaded.config.model == "m"


def test_a_pipe_or_a_folder_at_the_files_place_does_not_stall_the_start(place: Place) -> None:
    os.mkfifo(place.project)
    place.user.mkdir()
    loaded = place.load()

    assert loaded.warnings == (
        f"{place.user}: is not an ordinary file. The whole file is left out.",
        f"{place.project}: is not an ordinary file. The whole file is left out.",
    )


def test_a_loop_of_links_is_a_warning(place: Place) -> None:
    place.project.symlink_to(place.project)

    assert place.load().config == Config()


def test_a_byte_order_mark_is_no_error(place: Place) -> None:
    place.user.write_bytes(b'\xef\xbb\xbfmodel = "m"\r\n')

    assert place.load().config.model == "m"


def test_a_workspace_cannot_send_the_key_elsewhere_or_open_the_environment(place: Place) -> None:
    place.user.write_text('base_url = "https://mine.example/v1"\napi_key = "${K}"')
    place.project.write_text(
        'base_url = "https://evil.example"\napi_key = "${HOME}"\n'
        'environment_passthrough = ["AWS_SECRET_ACCESS_KEY"]\nmodel = "${K}"'
    )
    loaded = place.load({"K": "sk-mine", "HOME": "/h"})

    assert loaded.config == Config(base_url="https://mine.example/v1", api_key="sk-mine")
    assert len(loaded.warnings) == 4
    assert all(warning.startswith(str(place.project)) for warning in loaded.warnings)
    assert "sk-mine" not in "".join(loaded.warnings)


@pytest.mark.parametrize(
    ("user", "workspace", "effective"),
    [
        ("auto", "ask", "ask"),
        ("auto", "plan", "plan"),
        ("ask", "plan", "plan"),
        ("ask", "auto", "ask"),
        ("plan", "ask", "plan"),
        ("plan", "auto", "plan"),
    ],
)
def test_a_workspace_may_only_make_the_mode_stricter(
    place: Place, user: str, workspace: str, effective: str
) -> None:
    place.user.write_text(f'mode = "{user}"')
    place.project.write_text(f'mode = "{workspace}"')
    loaded = place.load()

    assert loaded.config.mode == effective
    assert bool(loaded.warnings) == (workspace != effective)


def test_a_key_written_into_a_file_is_refused_and_never_repeated(place: Place) -> None:
    place.user.write_text('api_key = "sk-live-12345"')
    loaded = place.load(editor={"apiKey": "sk-editor-12345"})

    assert loaded.config.api_key == ""
    assert len(loaded.warnings) == 2
    for warning in loaded.warnings:
        assert "must be a placeholder such as ${OPENAI_API_KEY}" in warning
        assert "12345" not in warning


def test_a_placeholder_is_filled_from_the_environment(place: Place) -> None:
    place.user.write_text('api_key = "${MY_KEY}"\nbase_url = "http://${HOST}:80/v1"')
    loaded = place.load({"MY_KEY": "secret", "HOST": "127.0.0.1"})

    assert loaded.warnings == ()
    assert (loaded.config.api_key, loaded.config.base_url) == ("secret", "http://127.0.0.1:80/v1")


def test_a_placeholder_without_its_variable_names_it(place: Place) -> None:
    place.user.write_text('api_key = "${MY_KEY}"')
    loaded = place.load()

    assert "environment variable that is not set: MY_KEY" in only(loaded.warnings)


def test_the_key_is_not_in_the_repr() -> None:
    assert "sk-hidden" not in repr(Config(api_key="sk-hidden"))


def test_our_folders_are_private_even_where_they_were_open(tmp_path: Path) -> None:
    state = tmp_path / "deep" / "state"
    state.mkdir(parents=True)
    state.chmod(0o755)
    paths = Paths.from_environment({"PAILS_STATE_DIR": str(state)})
    paths.create()

    assert paths.logs == state / "logs"
    assert [stat.S_IMODE(p.stat().st_mode) for p in (paths.state, paths.logs)] == [0o700, 0o700]


def test_a_folder_that_cannot_be_made_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    paths = Paths.from_environment({"PAILS_STATE_DIR": str(tmp_path / "file" / "state")})

    with pytest.raises(StorageError, match="PAILS_STATE_DIR"):
        paths.create()


def test_folders_are_absolute_by_default_and_when_overridden() -> None:
    for environ in ({}, {"PAILS_STATE_DIR": "rel/state", "PAILS_CONFIG_DIR": "~/c"}):
        paths = Paths.from_environment(environ)
        assert paths.state.is_absolute()
        assert paths.config.is_absolute()
        assert paths.state != paths.config or not environ


def test_a_workspace_behind_a_link_is_the_same_workspace(tmp_path: Path) -> None:
    real = tmp_path / "my project"
    real.mkdir()
    (tmp_path / "link").symlink_to(real)

    key = workspace_key(real)
    assert key.startswith("my-project-")
    assert workspace_key(tmp_path / "link") == key
    assert workspace_key(tmp_path / "link" / ".." / "my project") == key


def test_the_case_of_a_drive_letter_does_not_matter() -> None:
    assert workspace_key(PureWindowsPath("c:\\X")) == workspace_key(PureWindowsPath("C:/X"))


def test_different_workspaces_have_different_keys(tmp_path: Path) -> None:
    names = ["a", "A", "a b", "a-b", "é", "项目", "..."]
    keys = {workspace_key(tmp_path / name) for name in names} | {workspace_key(Path("/"))}

    assert len(keys) == len(names) + 1
    assert all("/" not in key and len(os.fsencode(key)) < 200 for key in keys)


def test_accents_are_one_however_they_are_composed(tmp_path: Path) -> None:
    assert workspace_key(tmp_path / "e\u0301") == workspace_key(tmp_path / "\u00e9")


def test_a_path_that_is_not_text_or_has_no_end_still_has_a_key(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)

    assert workspace_key(loop).startswith("loop-")
    assert workspace_key(tmp_path / os.fsdecode(b"\xff\xfe")).startswith("root-")


@pytest.mark.parametrize("settings", [[1], "mode", 5])
def test_settings_of_the_editor_that_are_no_object_are_a_warning(
    place: Place, settings: object
) -> None:
    loaded = load(None, {"PAILS_CONFIG_DIR": str(place.user.parent)}, settings)

    assert loaded.config == Config()
    assert only(loaded.warnings).startswith("the editor's settings: must be an object, not ")


def test_an_editor_that_sets_nothing_gets_no_warning(place: Place) -> None:
    loaded = load(None, {"PAILS_CONFIG_DIR": str(place.user.parent)}, None)

    assert (loaded.config, loaded.warnings) == (Config(), ())


@pytest.mark.parametrize("name", ["PAILS_STATE_DIR", "PAILS_CONFIG_DIR"])
def test_a_folder_of_an_unknown_user_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    environ = {name: "~no-such-user/pails"}

    warning = only(load(None, environ, {}).warnings)

    assert warning.startswith(f"the environment: `{name}` must be a folder, not '~no-such-user/")
    assert Paths.from_environment(environ) == Paths.from_environment({})

"""Child processes get what they need and no secret of the server."""

import os
import sys

import pytest

from pails.host.environment import child_environment, command_environment
from pails.host.process import Finished, run

SECRETS = {
    "OPENAI_API_KEY": "s1",
    "KEY": "s2",
    "KEY_0": "s3",
    "GITHUB_TOKEN": "s4",
    "MY_TOKEN": "s5",
    "SSH_AUTH_SOCK": "/tmp/s6",
    "AWS_SECRET_ACCESS_KEY": "s7",
    "PAILS_API_KEY": "s8",
    "HTTPS_PROXY": "http://me:s9@proxy",
    "GIT_ASKPASS": "/s10",
    "PYTHONPATH": "/s11",
    "LD_PRELOAD": "/s12.so",
    "GIT_DIR": "/s13",
    "BASH_ENV": "/s14",
    "NODE_OPTIONS": "--require /s15",
}
NEEDED = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/home/me",
    "LANG": "zh_CN.UTF-8",
    "LC_TIME": "C",
    "XDG_CACHE_HOME": "/c",
    "TZ": "Asia/Shanghai",
    "JAVA_HOME": "/java",
    "PAILS_CALL": "outer",
}


def test_only_what_is_needed_passes():
    environment = child_environment(base={**SECRETS, **NEEDED, "COLORTERM": "truecolor"})
    assert environment.items() >= NEEDED.items()
    assert not environment.keys() & SECRETS.keys()
    assert "COLORTERM" not in environment


async def test_a_command_sees_no_secret(tmp_path, monkeypatch):
    for name, value in SECRETS.items():
        if name != "LD_PRELOAD":  # it would be read by this process's other children
            monkeypatch.setenv(name, value)
    finished = await run(["env"], tmp_path, child_environment(), 60, None)
    assert isinstance(finished, Finished)
    names = {line.partition("=")[0] for line in finished.output.splitlines()}
    assert "PATH" in names
    assert not names & SECRETS.keys()


def test_what_a_person_names_passes_but_nothing_of_ours():
    environment = child_environment(passthrough=("HTTPS_PROXY", "PAILS_API_KEY"), base=SECRETS)
    assert environment["HTTPS_PROXY"] == SECRETS["HTTPS_PROXY"]
    assert "PAILS_API_KEY" not in environment


def test_nothing_waits_for_a_person():
    environment = child_environment(base={"PAGER": "most"})
    assert environment["GIT_TERMINAL_PROMPT"] == "0"
    assert environment["TERM"] == "dumb"
    assert environment["PAGER"] == "cat"


def test_the_path_does_not_depend_on_the_folder():
    path = os.pathsep.join(["", ".", "bin", "/usr/bin", "node_modules/.bin", "/bin"])
    assert child_environment(base={"PATH": path})["PATH"] == os.pathsep.join(["/usr/bin", "/bin"])
    assert child_environment(base={})["PATH"]


def test_without_a_language_programs_write_utf8():
    assert child_environment(base={})["LANG"] == "C.UTF-8"
    assert "LANG" not in child_environment(base={"LC_ALL": "de_DE.UTF-8"})


@pytest.mark.skipif(sys.platform == "win32", reason="the folder has another name there")
def test_the_virtual_environment_of_the_workspace_comes_first(tmp_path):
    assert command_environment(tmp_path, base=NEEDED)["PATH"] == NEEDED["PATH"]
    programs = tmp_path / ".venv" / "bin"
    programs.mkdir(parents=True)
    (tmp_path / ".venv" / "pyvenv.cfg").touch()
    environment = command_environment(tmp_path, base={**NEEDED, "VIRTUAL_ENV": "/other"})
    assert environment["PATH"] == f"{programs}:{NEEDED['PATH']}"
    assert environment["VIRTUAL_ENV"] == str(tmp_path / ".venv")

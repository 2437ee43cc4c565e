"""Where paths really lead, tried on real links; and the files that decide what runs."""

import os
from pathlib import Path

import pytest

from pails.core.events import Effect, Mode
from pails.core.ports import Action, Decision
from pails.policy.gate import Gate
from pails.policy.names import is_secret


@pytest.fixture
def workspace(tmp_path) -> Path:
    root = tmp_path.resolve() / "ws"
    (root / ".git" / "hooks").mkdir(parents=True)
    (root / "src").mkdir()
    (root / "src" / "a.py").touch()
    return root


@pytest.fixture
def outside(tmp_path) -> Path:
    folder = tmp_path.resolve() / "o"
    folder.mkdir()
    (folder / "victim").write_text("x")
    return folder


def judge(workspace: Path, *, reads=(), writes=(), mode=Mode.AUTO, gate=None) -> Decision:
    effect = Effect.WRITE if writes else Effect.READ
    action = Action(
        "tool",
        effect,
        "title",
        reads=tuple(workspace / path for path in reads),
        writes=tuple(workspace / path for path in writes),
    )
    return (gate or Gate()).judge(action, mode, workspace)


def verdicts(workspace: Path, path: str | Path) -> tuple[str, str]:
    """Of a read and of a write."""
    return (
        judge(workspace, reads=[path]).verdict,
        judge(workspace, writes=[path]).verdict,
    )


@pytest.mark.parametrize("path", ["src/a.py", "new/deep/file", "src/../b", "..a/x", "."])
def test_inside_passes(path, workspace):
    assert verdicts(workspace, path) == ("allow", "allow")


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../o/victim", "src/../../x", "..", "/", "../ws2/a"]
)
def test_outside_is_refused(path, workspace):
    assert verdicts(workspace, path) == ("deny", "deny")


def test_links_that_lead_out_are_refused(workspace, outside):
    (workspace / "out").symlink_to(outside)
    (workspace / "f").symlink_to(outside / "victim")
    (workspace / "g").symlink_to(outside / "new")
    (workspace / "chain").symlink_to("src/hop")
    (workspace / "src" / "hop").symlink_to("../out/new")
    for path in ("out", "out/new", "out/../x", "f", "g", "chain", "src/hop"):
        assert verdicts(workspace, path) == ("deny", "deny"), path
    reason = judge(workspace, writes=["g"]).reason
    assert f"leads to {outside / 'new'}, which is outside the workspace" in reason


def test_a_link_is_looked_at_anew_each_time(workspace, outside):
    gate = Gate()
    assert judge(workspace, writes=["src/a.py"], gate=gate).verdict == "allow"
    (workspace / "src" / "a.py").unlink()
    (workspace / "src" / "a.py").symlink_to(outside / "victim")
    assert judge(workspace, writes=["src/a.py"], gate=gate).verdict == "deny"


def test_links_that_stay_inside_pass(workspace):
    (workspace / "link").symlink_to("src/a.py")
    (workspace / "later").symlink_to("src/not-yet")
    for path in ("link", "later"):
        assert verdicts(workspace, path) == ("allow", "allow")


def test_a_workspace_reached_through_a_link_is_the_same(workspace, tmp_path):
    (tmp_path / "alias").symlink_to(workspace)
    assert verdicts(tmp_path / "alias", "src/a.py") == ("allow", "allow")
    assert verdicts(workspace, tmp_path / "alias" / "src" / "a.py") == ("allow", "allow")
    assert verdicts(workspace, tmp_path / "alias" / ".env") == ("ask", "deny")


def test_what_no_file_can_have_is_refused(workspace):
    (workspace / "circle").symlink_to("circle")
    for path in ("a\0b", "circle", "\ud800"):
        assert verdicts(workspace, path) == ("deny", "deny")


def test_a_command_runs_in_the_workspace_only(workspace, outside):
    (workspace / "out").symlink_to(outside)
    for folder in (outside, workspace / "out"):
        action = Action("run_command", Effect.EXECUTE, "Run", reads=(folder,), argv=("ls",))
        assert Gate().judge(action, Mode.AUTO, workspace).verdict == "deny"


def test_the_folders_of_the_session_may_be_read_but_not_written(workspace, outside):
    (outside.parent / "alias").symlink_to(outside)
    gate = Gate(readable=[outside.parent / "alias"])
    assert judge(workspace, reads=[outside / "victim"], gate=gate).verdict == "allow"
    assert judge(workspace, writes=[outside / "victim"], gate=gate).verdict == "deny"
    (outside / "leak").symlink_to("/etc/passwd")
    assert judge(workspace, reads=[outside / "leak"], gate=gate).verdict == "deny"


DENIED = [
    *(".git/hooks/pre-commit", ".git/config", ".GIT/config", "sub/.git/config", ".git"),
    *(".git./config", ".git /config", "GIT~1/config", ".g\u200cit/config", ".git::$DATA/config"),
    *(".env", ".ENV", ".env.local", "sub/.env.production", ".envrc", ".env/x", ".Env.Test"),
]


@pytest.mark.parametrize("path", DENIED, ids=ascii)
@pytest.mark.parametrize("mode", Mode)
def test_git_and_environment_files_are_never_written(path, mode, workspace):
    assert judge(workspace, writes=[path], mode=mode).verdict == "deny"


ASKED = [
    *(".pai/config.toml", ".PAI/skills/x/SKILL.md", "sub/.pai/mcp.json", ".mcp.json", ".MCP.json"),
    *(".vscode/tasks.json", ".vscode/settings.json", ".VSCode/Tasks.json", "a/.vscode/launch.json"),
    *("x.code-workspace", ".idea/workspace.xml", ".devcontainer/devcontainer.json"),
    *(".husky/pre-commit", ".githooks/pre-push", ".nvim.lua"),
]


@pytest.mark.parametrize("path", ASKED)
def test_configuration_that_starts_programs_asks_whatever_was_granted(path, workspace):
    gate = Gate()
    for mode in (Mode.AUTO, Mode.ASK):
        decision = judge(workspace, writes=[path], mode=mode, gate=gate)
        assert (decision.verdict, decision.rule) == ("ask", "")
        gate.grant(decision)
        gate.grants.add(f"tool: {Path(path)}")
    assert judge(workspace, writes=[path], gate=gate).verdict == "ask"
    assert judge(workspace, writes=[path], mode=Mode.PLAN, gate=gate).verdict == "deny"


def test_protected_files_are_known_under_every_link(workspace):
    (workspace / "hooks").symlink_to(".git/hooks")
    (workspace / "plain").symlink_to(".env")
    (workspace / "conf").symlink_to(".vscode")
    (workspace / ".env.dev").symlink_to("src/a.py")
    assert judge(workspace, writes=["hooks/pre-commit"]).verdict == "deny"
    assert judge(workspace, writes=["plain"]).verdict == "deny"
    assert judge(workspace, writes=[".env.dev"]).verdict == "deny"
    assert judge(workspace, writes=["conf/tasks.json"]).verdict == "ask"
    assert judge(workspace, reads=["plain"]).verdict == "ask"


def test_a_git_folder_of_another_name_is_protected_too(workspace):
    (workspace / ".git").rename(workspace / "meta")
    (workspace / ".git").symlink_to("meta")
    assert judge(workspace, writes=["meta/hooks/pre-commit"]).verdict == "deny"


@pytest.mark.parametrize(
    "path",
    [
        "environment.py",
        ".envoy.yaml",
        ".gitignore",
        ".github/x.yml",
        "git/a",
        "mcp.json",
        ".vscode/extensions.json",
        "tasks.json",
        "env",
        "keys.py",
        ".env.example",
        ".env.local.sample",
        "sub/.env.template",
        "id_map.py",
        "id_ed25519.pub",
        "credentials.py",
        "src/secrets/a.ts",
        "src/config",
        "config/app.yml",
        "objects/x",
        "info/refs/x",
        "docker/config.json",
        ".config/app.toml",
        "ssh/a",
        "mise/readme.md",
    ],
)
def test_names_that_only_look_alike_pass(path, workspace):
    assert verdicts(workspace, path) == ("allow", "allow")


@pytest.mark.parametrize(
    "path", [".env", ".env.local", "id_rsa", "keys/ID_ed25519", "server.pem", "tls.KEY", ".netrc"]
)
def test_secrets_ask_before_they_are_read_in_every_mode(path, workspace):
    for mode in Mode:
        decision = judge(workspace, reads=[path], mode=mode)
        assert (decision.verdict, decision.rule) == ("ask", "")
    assert is_secret(Path(path))


def test_one_bad_path_among_good_ones_decides(workspace):
    assert judge(workspace, writes=["src/a.py", ".mcp.json"]).verdict == "ask"
    assert judge(workspace, writes=[".mcp.json", ".git/config"]).verdict == "deny"
    assert judge(workspace, reads=[".env", "/etc/passwd"], writes=["src/a.py"]).verdict == "deny"


def test_reasons_hide_nothing(workspace):
    reason = judge(workspace, reads=["/etc/\u202ex\n"]).reason
    assert "/etc/⟨U+202E⟩x⟨U+000A⟩" in reason


def test_a_refused_look_changes_nothing_on_the_disk(workspace):
    before = sorted(os.walk(workspace))
    for path in DENIED + ASKED:
        verdicts(workspace, path)
    assert sorted(os.walk(workspace)) == before


@pytest.mark.parametrize("named", ["meta", "./meta/\n", "{workspace}/meta\n"])
def test_a_git_folder_elsewhere_in_the_workspace_is_git_s_own(workspace, named):
    (workspace / ".git").rename(workspace / "meta")
    (workspace / ".git").write_text("gitdir: " + named.replace("{workspace}", str(workspace)))
    assert judge(workspace, writes=["meta/hooks/post-commit"]).verdict == "deny"
    assert judge(workspace, writes=[".git"]).verdict == "deny"
    assert judge(workspace, writes=["src/a.py"]).verdict == "allow"


@pytest.mark.parametrize("content", [b"", b"gitdir:", b"\xff\xfe", b"gitdir: \0", b"x" * 20_000])
def test_a_git_file_that_names_nothing_is_still_git_s_own(workspace, content):
    (workspace / ".git").rename(workspace / "meta")
    (workspace / ".git").write_bytes(content)
    assert judge(workspace, writes=[".git"]).verdict == "deny"
    assert judge(workspace, writes=["src/a.py"]).verdict == "allow"


@pytest.mark.parametrize(
    "path", [".zed/tasks.json", ".HELIX/languages.toml", "sub/.dir-locals.el", ".vim/coc.json"]
)
def test_configuration_of_more_editors_asks(path, workspace):
    assert judge(workspace, writes=[path]).verdict == "ask"


SECRETS = [
    *(".ssh/id_work", ".ssh/config", "sub/.SSH/keys/id_rsa.old", ".gnupg/x", "id_work"),
    *(
        ".aws/credentials",
        ".aws/config",
        ".kube/config",
        ".docker/config.json",
        ".cargo/credentials",
    ),
    *("prod.env", ".pgpass", ".htpasswd", "credentials.json", "Credentials.yml", "secrets.toml"),
    *("config/secrets.yaml", "terraform.tfstate", "a/terraform.tfstate.backup", "prod.tfvars"),
    *(".git-credentials", ".vault-token", ".env.backup", "deploy.ppk"),
]


@pytest.mark.parametrize("path", SECRETS)
def test_secrets_ask_before_they_are_read_or_written(path, workspace):
    read = judge(workspace, reads=[path])
    assert (read.verdict, read.rule) == ("ask", "")
    assert judge(workspace, writes=[path]).verdict in ("ask", "deny")
    assert is_secret(Path(path))


def test_a_folder_of_secrets_asks_itself(workspace):
    (workspace / ".ssh").mkdir()
    (workspace / "keys").symlink_to(".ssh")
    for path in (".ssh", "keys", "keys/id_work", "src/../.ssh"):
        assert judge(workspace, reads=[path]).verdict == "ask"


@pytest.mark.parametrize(
    "path",
    [
        *(".vimrc", ".lvimrc", ".config/nvim/init.lua", ".CODEX/config.toml", ".gemini/x"),
        *(".mise.toml", "mise.local.toml", ".tool-versions", ".pre-commit-config.yaml"),
        *(".fleet/run.json", ".vs/x", ".envrc.local", ".github/workflows/ci.yml"),
        *("sub/.gitlab-ci.yml", ".gitconfig", ".gitmodules", "a/.gitattributes", ".bashrc"),
        *(".profile", ".zshenv", ".config/fish/config.fish", ".config/git/config"),
    ],
)
def test_configuration_of_more_programs_asks(path, workspace):
    assert judge(workspace, writes=[path]).verdict == "ask"
    assert judge(workspace, reads=[path]).verdict == "allow"


# -- git folders by what they hold ----------------------------------------------------------------


def make(workspace: Path, *paths: str) -> None:
    for path in paths:
        (workspace / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace / path).touch()


@pytest.mark.parametrize("path", ["src/HEAD", "head", "new/folder/HEAD", "src/commondir"])
def test_a_file_that_would_begin_a_git_folder_asks(path, workspace):
    decision = judge(workspace, writes=[path])
    assert (decision.verdict, decision.rule) == ("ask", "")
    assert "part of a git folder" in decision.reason


@pytest.mark.parametrize("begun", ["HEAD", "objects/x", "refs/heads/main"])
@pytest.mark.parametrize("path", ["config", "hooks/post-checkout", "objects/ab/c", "info/x"])
def test_the_parts_of_a_git_folder_ask_as_soon_as_it_is_begun(begun, path, workspace):
    make(workspace, f"src/{begun}")
    assert judge(workspace, writes=[f"src/{path}"]).verdict == "ask"
    assert judge(workspace, writes=["src/a.py"]).verdict == "allow"
    make(workspace, begun)  # the workspace itself too
    assert judge(workspace, writes=[path]).verdict == "ask"


@pytest.mark.parametrize("path", ["config", "hooks/pre-commit", "worktrees/wt/HEAD", "new"])
def test_a_whole_git_folder_is_git_s_own_whatever_its_name(path, workspace):
    make(workspace, ".bare/HEAD", ".bare/objects/x", ".bare/refs/x", ".bare/config")
    assert judge(workspace, writes=[f".bare/{path}"]).verdict == "deny"
    assert judge(workspace, writes=["src/a.py"]).verdict == "allow"


def test_every_git_file_above_a_path_is_followed_and_what_it_shares(workspace):
    (workspace / "wt" / "meta" / "own").mkdir(parents=True)
    (workspace / "wt" / ".git").write_text("gitdir: meta/own\n")
    (workspace / "wt" / "meta" / "own" / "commondir").write_text("../../common\n")
    for path in ("wt/meta/own/x", "wt/common/config"):
        assert judge(workspace, writes=[path]).verdict == "deny", path
    assert judge(workspace, writes=["wt/a.py"]).verdict == "allow"


# -- home -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("home", ["ws", "ws/home/me"])
def test_in_a_home_folder_every_write_asks_and_says_why(home, workspace, monkeypatch):
    monkeypatch.setenv("HOME", str(workspace.parent / home))
    gate = Gate()
    for mode in (Mode.AUTO, Mode.ASK):
        decision = judge(workspace, writes=["notes.txt"], mode=mode, gate=gate)
        assert (decision.verdict, decision.rule) == ("ask", "")
        assert "home folder" in decision.reason
        gate.grants.add("tool: notes.txt")
    assert judge(workspace, reads=["notes.txt"]).verdict == "allow"
    assert judge(workspace, reads=[".ssh/id_work"]).verdict == "ask"
    assert judge(workspace, writes=["a"], mode=Mode.PLAN).verdict == "deny"


def test_a_project_within_the_home_folder_is_a_project(workspace, monkeypatch):
    monkeypatch.setenv("HOME", str(workspace.parent))
    assert judge(workspace, writes=["notes.txt"]).verdict == "allow"

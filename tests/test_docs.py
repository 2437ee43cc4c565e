"""The pages tell the truth: about the protocol, in their links, and about the dependencies."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

from pails.config.settings import SETTINGS
from pails.core.rpc import ErrorCode
from pails.lsp.protocol.methods import CLIENT_TO_SERVER, COMMANDS, SERVER_TO_CLIENT
from pails.session import codec
from scripts import protocol_docs, wire_types

ROOT = Path(__file__).parents[1]
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]


def test_the_protocol_page_is_current() -> None:
    page = protocol_docs.PAGE.read_text(encoding="utf-8")

    assert page == protocol_docs.render(), "run `make docs`"


def test_the_types_of_the_vs_code_client_are_those_of_the_server() -> None:
    assert wire_types.TARGET.read_text(encoding="utf-8") == wire_types.render(), "run `make docs`"


def test_the_check_fails_on_an_outdated_page(tmp_path: Path) -> None:
    for name in ("scripts", "docs"):
        shutil.copytree(ROOT / name, tmp_path / name)
    script = [sys.executable, str(tmp_path / "scripts" / "protocol_docs.py")]

    subprocess.run(script, check=True)
    subprocess.run([*script, "--check"], check=True)
    page = tmp_path / "docs" / "protocol.md"
    page.write_text(page.read_text(encoding="utf-8") + "by hand\n", encoding="utf-8")
    checked = subprocess.run([*script, "--check"], check=False, capture_output=True, text=True)
    assert checked.returncode == 1
    assert "make docs" in checked.stderr


def test_every_method_command_and_event_is_on_the_page_in_words_of_the_wire() -> None:
    page = protocol_docs.render()
    methods = CLIENT_TO_SERVER + SERVER_TO_CLIENT + COMMANDS
    kinds = codec.event_schema()["discriminator"]["mapping"]

    assert len(kinds) > 20
    assert [m.name for m in methods if f"| `{m.name}` |" not in page] == []
    assert [kind for kind in kinds if f"| `kind` | `{kind}` |" not in page] == []
    assert re.findall(r"\b(?:None|True|False)\b|\w+/\w+\.py\b", page.partition("\n## ")[2]) == []


def test_every_error_code_is_on_the_page() -> None:
    page = protocol_docs.render()
    rows = [f"| `{code.value}` | {code.name} | {code.meaning} |" for code in ErrorCode]

    assert "\n## Errors\n" in page
    assert [row for row in rows if row not in page] == []


def broken_links(page: Path) -> Iterator[str]:
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        if not file.exists():
            yield f"{page.name}: {target}: no such file"
        elif anchor and anchor not in anchors(file):
            yield f"{page.name}: {target}: no such heading"


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_setting_is_on_the_page() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")

    assert [name for name in SETTINGS if f"| `{name}` |" not in page] == []


def test_every_import_is_a_declared_dependency() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {re.split(r"[<>=\[ ]", line)[0] for line in project["dependencies"]}
    sources = (ROOT / "server" / "pails").rglob("*.py")
    imported = {name for source in sources for name in top_level_imports(source)}
    theirs = imported - set(sys.stdlib_module_names) - {"pails"}
    packages = metadata.packages_distributions()

    missing = {name for name in theirs if not declared & set(packages.get(name, [name]))}
    assert missing - {"pydantic_core"} == set(), "pydantic_core is a pinned part of pydantic"


def top_level_imports(source: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_link_is_broken(page: Path) -> None:
    assert list(broken_links(page)) == []


def test_a_broken_link_is_seen(tmp_path: Path) -> None:
    page = tmp_path / "a.md"
    page.write_text(
        "# A title, too\n[ok](#a-title-too) [x](#no) [y](no.md) `[z](no.md)` [w](https://h/)"
    )

    assert list(broken_links(page)) == [
        "a.md: #no: no such heading",
        "a.md: no.md: no such file",
    ]


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    listed = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    names = {re.split(r"[\[<>=! ]", requirement)[0] for requirement in listed}
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    explained = set(re.findall(r"`([\w.-]+)`", page))

    assert names - explained == set(), "say in docs/dependencies.md what they are for"
    grammars = {name for name in explained if name.startswith("tree-sitter-")}
    assert grammars - names == set(), "named in docs/dependencies.md and not installed"

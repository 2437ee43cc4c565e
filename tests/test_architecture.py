"""The shape of the package: who may import whom, and what is allowed in one place only.

Each rule is a function from the parsed modules to sentences that say what is wrong where. The
tables come first: a change of the architecture is a change of a table. The last part proves, on
tiny made-up packages, that every rule can fail.
"""

import ast
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "server" / "pails"

LAYERS = (
    {"__main__"},
    {"entry"},
    {"app"},
    {"lsp", "acp", "cli"},
    {"session"},
    {"agent"},
    {"tools"},
    {"model", "context", "policy", "memory", "skills", "mcp", "diagnostics", "snapshots"},
    {"host"},
    {"config", "telemetry"},
    {"core"},
)
"""From the top to the bottom. Imports point down; neighbours in one row never import each other."""

OPERATING_SYSTEM = (
    *("os", "subprocess", "signal", "shutil", "tempfile", "fcntl", "resource", "socket", "pty"),
    *("termios", "select", "multiprocessing", "ctypes"),
)

OWNERS: Mapping[str, set[str]] = {
    "pygls": {"lsp"},
    "lsprotocol": {"lsp"},
    "cattrs": {"lsp"},
    "httpx": {"model"},
    "tree_sitter": {"diagnostics"},
    "pygit2": {"snapshots"},
    "watchfiles": {"host"},
    "importlib.import_module": {"diagnostics"},
    "asyncio.subprocess": {"host"},
    "sqlite3": {"memory"},
    "mcp": {"mcp"},
    "platformdirs": {"config"},
    **{name: {"host"} for name in OPERATING_SYSTEM},
}
"""Who may import what. What is not listed is free for all, except in `core`."""

EXCEPTIONS = {
    ("pails.model.failures", "socket"): "names the error of a failed look-up; opens nothing",
}

NO_PYDANTIC = {"core", "config", "telemetry", "host", "policy", "diagnostics", "snapshots"}
"""Parts that are imported while the editor waits, or whose data never crosses a border."""

LATE_IMPORTS = {"pails.entry": "start-up: each command imports only what it needs"}

BORDERS = {
    "pails.lsp.transport": "a request, from the editor or to it",
    "pails.lsp.server": "a request: shutting down",
    "pails.cli.client": "a request, from the server to the terminal",
    "pails.tools.calls.executor": "a tool",
    "pails.tools.calls.judging": "a tool: a fault of one call is not one of its neighbours",
}
"""The only modules that may catch `Exception`: at the border of a request or of a tool.

A task needs no such border: `session.queue` waits for the run, and `session.turn` reads how it
ended.
"""

DISK_CALLS = {
    *("read_text", "read_bytes", "write_text", "write_bytes", "mkdir", "rmdir", "unlink"),
    *("iterdir", "rglob", "is_file", "is_dir", "is_symlink", "touch", "chmod", "readlink"),
    *("symlink_to", "hardlink_to", "lstat", "create_subprocess_exec", "create_subprocess_shell"),
}

DISK_OWNERS = {
    "host": "it is what host is for",
    "config": "reads its own files while the editor waits",
    "telemetry": "makes its own log private",
}

PACKAGE_DATA = {
    ("pails.tools.registry", "read_text"): "tool descriptions are part of the package",
    ("pails.context.prompt", "read_text"): "the system prompt is part of the package",
    ("pails.lsp.commands", "read_text"): "the code actions' prompts are part of the package",
}

SPEAKS_TO_A_TERMINAL = {"cli", "entry"}

NOT_AT_START = (
    *("pydantic.", "httpx.", "tree_sitter.", "platformdirs.", "pygit2.", "watchfiles."),
    *("pails.app.", "pails.session.", "pails.tools.", "pails.lsp.protocol."),
)
"""What must not be loaded before the server has answered `initialize`."""


@dataclass(frozen=True, slots=True)
class Module:
    """One parsed file. `part` is what stands in `LAYERS`; the package itself has part ""."""

    name: str
    tree: ast.Module
    is_package: bool

    @property
    def part(self) -> str:
        return part_of(self.name)


def part_of(name: str) -> str:
    """The folder or file under the package to which a dotted name belongs."""
    return name.partition(".")[2].partition(".")[0]


@dataclass(frozen=True, slots=True)
class Import:
    """`target` is the dotted name of a module, or of something in one; `name` is what it binds."""

    line: int
    target: str
    name: str
    in_function: bool


def read_package(root: Path) -> list[Module]:
    modules: list[Module] = []
    for path in sorted(root.rglob("*.py")):
        parts = [root.name, *path.relative_to(root).with_suffix("").parts]
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        modules.append(Module(name, ast.parse(path.read_text(encoding="utf-8")), is_package))
    return modules


def imports(module: Module) -> Iterator[Import]:
    inside = {
        id(node)
        for function in functions(module)
        for node in ast.walk(function)
        if node is not function
    }
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                name = alias.asname or alias.name
                yield Import(node.lineno, alias.name, name, id(node) in inside)
        elif isinstance(node, ast.ImportFrom):
            source = "." * node.level + (node.module or "")
            for alias in node.names:
                target, name = f"{source}.{alias.name}", alias.asname or alias.name
                yield Import(node.lineno, target, name, id(node) in inside)


def functions(module: Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def inner_imports(module: Module, names: set[str]) -> Iterator[tuple[int, str]]:
    """The line and the module of each import from the package itself."""
    for imported in imports(module):
        candidates = (imported.target, imported.target.rpartition(".")[0])
        found = next((name for name in candidates if name in names), None)
        if found is not None:
            yield imported.line, found


# -- the rules ----------------------------------------------------------------------------------


def layers_point_down(modules: Sequence[Module]) -> Iterator[str]:
    rank = {part: row for row, parts in enumerate(LAYERS) for part in parts}
    names = {module.name for module in modules}
    for module in modules:
        if module.part and module.part not in rank:
            yield f"{module.name}: `{module.part}` is in no layer"
            continue
        for line, target in inner_imports(module, names):
            part = part_of(target)
            if part in ("", module.part) or part not in rank:
                continue
            if not module.part or rank[part] <= rank[module.part]:
                yield f"{module.name}:{line} imports {target}, which is not below it"


def imports_are_absolute(modules: Sequence[Module]) -> Iterator[str]:
    for module in modules:
        for imported in imports(module):
            if imported.target.startswith("."):
                yield f"{module.name}:{imported.line} imports relatively"
            if imported.target.endswith(".*"):
                yield f"{module.name}:{imported.line} imports everything"


def owners_import_alone(modules: Sequence[Module]) -> Iterator[str]:
    for module in modules:
        for imported in imports(module):
            for owned, owners in OWNERS.items():
                inside = f"{imported.target}.".startswith(f"{owned}.")
                if inside and module.part not in owners and (module.name, owned) not in EXCEPTIONS:
                    yield f"{module.name}:{imported.line} imports {imported.target}"


def core_needs_only_the_standard_library(modules: Sequence[Module]) -> Iterator[str]:
    for module in modules:
        for imported in imports(module):
            top = imported.target.partition(".")[0]
            if module.part == "core" and top not in sys.stdlib_module_names | {"pails"}:
                yield f"{module.name}:{imported.line} imports {imported.target}"
            if module.part in NO_PYDANTIC and top.startswith("pydantic"):
                yield f"{module.name}:{imported.line} imports {imported.target}"


def no_import_hides_in_a_function(modules: Sequence[Module]) -> Iterator[str]:
    for module in modules:
        for imported in imports(module):
            if imported.in_function and module.name not in LATE_IMPORTS:
                yield f"{module.name}:{imported.line} imports {imported.target} in a function"


def nothing_imports_in_a_circle(modules: Sequence[Module]) -> Iterator[str]:
    names = {module.name for module in modules}
    by_module = {m.name: {target for _, target in inner_imports(m, names)} for m in modules}
    by_part: dict[str, set[str]] = {}
    for module in modules:
        targets = {part_of(target) for target in by_module[module.name]}
        by_part.setdefault(module.part, set()).update(targets - {module.part})
    for graph in (by_module, by_part):
        for cycle in cycles(graph):
            yield " → ".join(cycle)


def cycles(graph: Mapping[str, Iterable[str]]) -> Iterator[list[str]]:
    """One path for each edge that closes a circle, found depth first."""
    done: set[str] = set()

    def visit(node: str, path: list[str]) -> Iterator[list[str]]:
        if node in path:
            yield [*path[path.index(node) :], node]
        elif node not in done:
            for target in sorted(graph.get(node, ())):
                yield from visit(target, [*path, node])
            done.add(node)

    for start in sorted(graph):
        yield from visit(start, [])


def everything_is_annotated(modules: Sequence[Module]) -> Iterator[str]:
    for module in modules:
        for function in functions(module):
            given = function.args
            arguments = [*given.posonlyargs, *given.args, *given.kwonlyargs]
            arguments += [extra for extra in (given.vararg, given.kwarg) if extra]
            bare = [a.arg for a in arguments if not a.annotation and a.arg not in ("self", "cls")]
            if bare or function.returns is None:
                what = ", ".join([*bare, *([] if function.returns else ["return"])])
                yield f"{module.name}:{function.lineno} {function.name}: no type for {what}"


def exceptions_are_caught_broadly_at_borders_only(modules: Sequence[Module]) -> Iterator[str]:
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ExceptHandler) and _is_broad(node.type):
                raises_again = isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None
                if not raises_again and module.name not in BORDERS:
                    yield f"{module.name}:{node.lineno} catches everything"


def _is_broad(caught: ast.expr | None) -> bool:
    broad = {"Exception", "BaseException"}
    kinds = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(kind is None or (isinstance(kind, ast.Name) and kind.id in broad) for kind in kinds)


def every_module_says_what_it_is(modules: Sequence[Module]) -> Iterator[str]:
    for module in modules:
        if not ast.get_docstring(module.tree):
            yield f"{module.name} has no docstring"


def only_the_command_line_prints(modules: Sequence[Module]) -> Iterator[str]:
    for module in modules:
        for call in calls(module):
            if call.name == "print" and module.part not in SPEAKS_TO_A_TERMINAL:
                yield f"{module.name}:{call.line} prints"


def only_host_touches_the_disk(modules: Sequence[Module]) -> Iterator[str]:
    for module in modules:
        if module.part in DISK_OWNERS:
            continue
        from_host = {i.name for i in imports(module) if i.target.startswith("pails.host.")}
        for call in calls(module):
            touches = call.name in DISK_CALLS or (call.name == "open" and not call.receiver)
            ours = {call.name, call.receiver} & from_host or (
                module.name,
                call.name,
            ) in PACKAGE_DATA
            if touches and not ours:
                yield f"{module.name}:{call.line} calls {call.name}"


@dataclass(frozen=True, slots=True)
class Call:
    """`receiver` is `x` in `x.name()`, "" in `name()`, "…" where it is more than a name."""

    line: int
    name: str
    receiver: str


def calls(module: Module) -> Iterator[Call]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name):
                yield Call(node.lineno, node.func.id, "")
            elif isinstance(node.func, ast.Attribute):
                value = node.func.value
                receiver = value.id if isinstance(value, ast.Name) else "…"
                yield Call(node.lineno, node.func.attr, receiver)


Rule = Callable[[Sequence[Module]], Iterator[str]]

RULES: tuple[Rule, ...] = (
    layers_point_down,
    imports_are_absolute,
    owners_import_alone,
    core_needs_only_the_standard_library,
    no_import_hides_in_a_function,
    nothing_imports_in_a_circle,
    everything_is_annotated,
    exceptions_are_caught_broadly_at_borders_only,
    every_module_says_what_it_is,
    only_the_command_line_prints,
    only_host_touches_the_disk,
)


# -- the package keeps them ---------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_package_keeps_the_rule(rule: Rule) -> None:
    found = list(rule(read_package(PACKAGE)))

    assert not found, "\n" + "\n".join(found)


def test_every_exception_is_still_needed() -> None:
    modules = read_package(PACKAGE)
    imported = {(m.name, i.target.partition(".")[0]) for m in modules for i in imports(m)}
    called = {(module.name, call.name) for module in modules for call in calls(module)}
    late = {module.name for module in modules if any(i.in_function for i in imports(module))}
    broad = {
        module.name
        for module in modules
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ExceptHandler) and _is_broad(node.type)
    }

    assert not EXCEPTIONS.keys() - imported
    assert not PACKAGE_DATA.keys() - called
    assert not LATE_IMPORTS.keys() - late
    assert not BORDERS.keys() - broad


def test_the_server_starts_without_what_only_a_prompt_needs() -> None:
    """The editor waits for `initialize`; a model client or a parser has no part in it.

    Python itself lists on stderr what it imports, until the client goes away again.
    """
    params = {"processId": None, "capabilities": {}}
    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    body = json.dumps(request).encode()
    run = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "pails"],
        input=b"Content-Length: %d\r\n\r\n%b" % (len(body), body),
        capture_output=True,
        check=False,
        timeout=60,
    )
    listed = re.findall(r"^import time:.*\| *([\w.]+)$", run.stderr.decode(), re.MULTILINE)

    assert b'"capabilities"' in run.stdout
    assert {"pails.entry", "pails.lsp.server", "pails.host.stdio", "pygls.server"} <= {*listed}
    assert not [name for name in listed if f"{name}.".startswith(NOT_AT_START)]


# -- and every rule can fail --------------------------------------------------------------------

VIOLATIONS: tuple[tuple[Rule, Mapping[str, str], str], ...] = (
    (layers_point_down, {"core/a.py": "import pails.host", "host/__init__.py": ""}, "core.a:1"),
    (layers_point_down, {"lsp/a.py": "from pails import cli", "cli/__init__.py": ""}, "lsp.a:1"),
    (layers_point_down, {"model/a.py": "from pails.policy.b import X", "policy/b.py": ""}, "a:1"),
    (layers_point_down, {"__init__.py": "from pails.core.a import b", "core/a.py": ""}, "pails:1"),
    (layers_point_down, {"novel/a.py": ""}, "in no layer"),
    (imports_are_absolute, {"core/a.py": "from .b import c"}, "relatively"),
    (imports_are_absolute, {"core/a.py": "from pails.core import *"}, "everything"),
    (owners_import_alone, {"session/a.py": "from pygls.lsp import server"}, "session.a:1"),
    (owners_import_alone, {"app.py": "\nimport os.path"}, "app:2"),
    (owners_import_alone, {"agent/a.py": "def f() -> None:\n    import httpx"}, "agent.a:2"),
    (owners_import_alone, {"session/a.py": "from pygit2.enums import X"}, "session.a:1"),
    (owners_import_alone, {"tools/a.py": "from asyncio import subprocess"}, "tools.a:1"),
    (core_needs_only_the_standard_library, {"core/a.py": "import attrs"}, "attrs"),
    (core_needs_only_the_standard_library, {"host/a.py": "import pydantic_core"}, "pydantic"),
    (no_import_hides_in_a_function, {"app.py": "def f() -> None:\n    import json"}, "app:2"),
    (
        nothing_imports_in_a_circle,
        {"core/a.py": "import pails.core.b", "core/b.py": "from pails.core.a import x"},
        "pails.core.a → pails.core.b → pails.core.a",
    ),
    (
        nothing_imports_in_a_circle,
        {
            **{"host/a.py": "import pails.core.a", "core/b.py": "import pails.host.b"},
            **{"core/a.py": "", "host/b.py": ""},
        },
        "core → host → core",
    ),
    (everything_is_annotated, {"app.py": "def f(a, *b: int) -> None: ..."}, "no type for a"),
    (everything_is_annotated, {"app.py": "class A:\n    async def f(self): ..."}, "for return"),
    *(
        (
            exceptions_are_caught_broadly_at_borders_only,
            {"host/a.py": f"try:\n    f()\n{handler}:\n    pass"},
            "host.a:3",
        )
        for handler in ("except", "except Exception", "except (OSError, BaseException) as e")
    ),
    (every_module_says_what_it_is, {"app.py": "X = 1"}, "pails.app"),
    (only_the_command_line_prints, {"lsp/a.py": "print(1)"}, "lsp.a:1"),
    (only_host_touches_the_disk, {"tools/a.py": "open('x')"}, "calls open"),
    (only_host_touches_the_disk, {"session/a.py": "p.write_text('')"}, "calls write_text"),
    (only_host_touches_the_disk, {"tools/a.py": "(a / b).is_file()"}, "calls is_file"),
)


@pytest.mark.parametrize(("rule", "files", "expected"), VIOLATIONS)
def test_the_rule_sees_a_violation(
    tmp_path: Path, rule: Rule, files: Mapping[str, str], expected: str
) -> None:
    for name, text in files.items():
        path = tmp_path / "pails" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    assert expected in "\n".join(rule(read_package(tmp_path / "pails")))


def test_the_rules_accept_what_is_right(tmp_path: Path) -> None:
    root = tmp_path / "pails"
    for name, text in {
        "__init__.py": '"""The package."""\n__version__ = "1"',
        "core/a.py": '"""A."""\nimport re\n',
        "tools/a.py": (
            '"""A."""\nfrom pails.host import files\nfrom pails.host.files import is_file\n'
            "files.read_bytes(x)\nis_file(x)\nsession.open(x)\n"
        ),
        "host/files.py": '"""F."""\n',
        "host/a.py": (
            '"""A."""\nimport os\nfrom pails import __version__\nfrom pails.core import a\n'
            "def f(x: int) -> None:\n    try:\n        open('x')\n    except BaseException:\n"
            "        raise\n"
        ),
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)

    assert [text for rule in RULES for text in rule(read_package(root))] == []


def test_every_rule_has_a_violation() -> None:
    assert {rule for rule, _, _ in VIOLATIONS} == set(RULES)

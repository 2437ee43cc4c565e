"""Which grammar reads which file: data, and one look-up.

`h` may be C or C++, so such a file has two candidates: the first in which the text has no errors
is meant. `jsonc` is JSON with comments and trailing commas, as editors and compilers read their
own settings; the JSON grammar takes comments in either, only the commas make a difference.
"""

import re
from pathlib import PurePath
from typing import NamedTuple


class Grammar(NamedTuple):
    """Where a grammar is: a module with one function that returns the compiled language."""

    module: str
    function: str = "language"


GRAMMARS: dict[str, Grammar] = {
    "bash": Grammar("tree_sitter_bash"),
    "c": Grammar("tree_sitter_c"),
    "c-sharp": Grammar("tree_sitter_c_sharp"),
    "cpp": Grammar("tree_sitter_cpp"),
    "css": Grammar("tree_sitter_css"),
    "go": Grammar("tree_sitter_go"),
    "html": Grammar("tree_sitter_html"),
    "java": Grammar("tree_sitter_java"),
    "javascript": Grammar("tree_sitter_javascript"),
    "json": Grammar("tree_sitter_json"),
    "jsonc": Grammar("tree_sitter_json"),
    "kotlin": Grammar("tree_sitter_kotlin"),
    "lua": Grammar("tree_sitter_lua"),
    "markdown": Grammar("tree_sitter_markdown"),
    "php": Grammar("tree_sitter_php", "language_php"),
    "python": Grammar("tree_sitter_python"),
    "ruby": Grammar("tree_sitter_ruby"),
    "rust": Grammar("tree_sitter_rust"),
    "sql": Grammar("tree_sitter_sql"),
    "swift": Grammar("tree_sitter_swift"),
    "toml": Grammar("tree_sitter_toml"),
    "tsx": Grammar("tree_sitter_typescript", "language_tsx"),
    "typescript": Grammar("tree_sitter_typescript", "language_typescript"),
    "yaml": Grammar("tree_sitter_yaml"),
}

_MACROS = "this grammar does not expand macros: valid code that uses them may be reported"

IMPRECISE: dict[str, str] = {
    "c": _MACROS,
    "cpp": _MACROS,
    "sql": "this grammar does not know every dialect: valid statements may be reported",
    "swift": "this grammar does not know all of the language: valid code may be reported",
}
"""Languages in which a report is worth a doubt.

Found by reading up to 150 valid files of each language. Reported broken were none in Python,
JavaScript, JSON, Java, Go, Rust, C#, Ruby, PHP, Lua and Markdown; 1 to 2 % in HTML, YAML, TOML and
Kotlin; 4 % in TypeScript (types of curried calls, `import("x").Y` in declarations), 5 % in Swift,
8 % in Bash, 9 % in CSS (unencoded data URLs); 41 % in C (old macro-heavy samples), 60 to 75 % of
system headers and template libraries, 96 % in SQL (scripts of PostgreSQL extensions). Since only
what an edit brings is reported, an edit elsewhere in such a file stays silent.
"""

_EXTENSIONS = {
    "bash": "sh bash bats ebuild",
    "c": "c",
    "c-sharp": "cs csx",
    "cpp": "cpp cc cxx c++ hpp hh hxx h++ ipp tpp inl",
    "css": "css",
    "go": "go",
    "html": "html htm xhtml",
    "java": "java",
    "javascript": "js mjs cjs jsx",
    "json": "json geojson webmanifest ipynb jsonl ndjson",
    "jsonc": "jsonc code-workspace code-snippets",
    "kotlin": "kt kts",
    "lua": "lua",
    "markdown": "md markdown mkd",
    "php": "php phtml php5 php7",
    "python": "py pyi pyw",
    "ruby": "rb rake gemspec ru podspec",
    "rust": "rs",
    "sql": "sql",
    "swift": "swift",
    "toml": "toml",
    "tsx": "tsx",
    "typescript": "ts mts cts",
    "yaml": "yaml yml",
}

_FILE_NAMES = {
    "bash": ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile PKGBUILD",
    "json": "Pipfile.lock composer.lock flake.lock .watchmanconfig",
    "jsonc": ".babelrc .eslintrc .eslintrc.json .jshintrc .swcrc devcontainer.json tslint.json "
    "api-extractor.json language-configuration.json",
    "python": "SConstruct SConscript wscript",
    "ruby": "Rakefile Gemfile Vagrantfile Podfile Fastfile Brewfile Guardfile .irbrc .pryrc",
    "toml": "Cargo.lock Pipfile poetry.lock uv.lock pdm.lock",
    "yaml": ".clang-format .clang-tidy .clangd .gemrc CITATION.cff",
}

_INTERPRETERS = {
    "bash": "bash",
    "dash": "bash",
    "lua": "lua",
    "node": "javascript",
    "php": "php",
    "python": "python",
    "ruby": "ruby",
    "sh": "bash",
}

_BY_EXTENSION = {ext: name for name, exts in _EXTENSIONS.items() for ext in exts.split()}
_BY_FILE_NAME = {file: name for name, files in _FILE_NAMES.items() for file in files.split()}
_SETTINGS = re.compile(r"(ts|js)config(\..+)?\.json|tsconfig-.+\.json")
_SHEBANG = re.compile(r"#!\s*\S*?(?:env\s+(?:-S\s+)?(?:\S*/)?)?([a-z]+)[\d.]*(?:\s|$)")


def candidates(path: PurePath, text: str = "") -> tuple[str, ...]:
    """The languages that the file may be in, likeliest first; none when no grammar knows it.

    The text matters only for a file without an extension: its first line may name an interpreter.
    """
    name = path.name
    if name in _BY_FILE_NAME:
        return (_BY_FILE_NAME[name],)
    extension = path.suffix[1:].lower()
    if not extension:
        return _by_interpreter(text)
    if extension == "h":
        return ("c", "cpp")
    if extension == "json" and (path.parent.name == ".vscode" or _SETTINGS.fullmatch(name)):
        return ("jsonc",)
    return (_BY_EXTENSION[extension],) if extension in _BY_EXTENSION else ()


def _by_interpreter(text: str) -> tuple[str, ...]:
    shebang = _SHEBANG.match(text[:200].removeprefix("\ufeff"))
    name = _INTERPRETERS.get(shebang[1]) if shebang else None
    return (name,) if name else ()

"""Folders that a snapshot leaves out though no ignore file names them: what tools put there."""

from collections.abc import Callable, Mapping

ALWAYS = frozenset(
    (
        # version control
        *(".git", ".hg", ".svn", ".jj", ".bzr"),
        # dependencies
        *("node_modules", "bower_components", "jspm_packages", ".venv", ".pixi", ".direnv"),
        # caches
        *("__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".tox"),
        *(".nox", ".eggs", ".gradle", ".terraform", ".parcel-cache", ".turbo", ".sass-cache"),
        *(".next", ".nuxt", ".svelte-kit", ".dart_tool"),
    )
)

BESIDE: Mapping[str, tuple[str, ...]] = {
    "target": ("Cargo.toml", "pom.xml", "build.sbt", "target/CACHEDIR.TAG"),
    "build": ("build.gradle", "build.gradle.kts", "build/CMakeCache.txt"),
    "venv": ("venv/pyvenv.cfg",),
    "env": ("env/pyvenv.cfg",),
    "obj": ("obj/project.assets.json",),
    "_build": ("mix.exs", "dune-project"),
    "deps": ("mix.exs",),
    "Pods": ("Podfile",),
    ".build": ("Package.swift",),
}
"""Names that a person may give a folder too. They count where one of these is beside them."""

SIGNS = frozenset(sign.rsplit("/", 1)[-1] for signs in BESIDE.values() for sign in signs)


def is_build_folder(name: str, exists_beside: Callable[[str], bool]) -> bool:
    """Whether to leave a folder out; `exists_beside` tells of paths relative to the one above."""
    return name in ALWAYS or any(exists_beside(sign) for sign in BESIDE.get(name, ()))

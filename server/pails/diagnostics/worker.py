"""The process in which parsing happens: `python -m pails.diagnostics.worker`.

A request is `{"languages": [...], "before": text or null, "after": text}`, its answer
`{"language", "new": [[start, end, message, source line], ...], "existing"}`. A request
`{"load": language}` is answered by `{"abi": number}`. A grammar that cannot be loaded makes
`{"error": text}` of either.
"""

from typing import Any

from pails.diagnostics.compare import compare
from pails.diagnostics.grammars import load
from pails.diagnostics.syntax import Finding, find_errors
from pails.host.serving import serve

_MEMORY = 1 << 30
_SECONDS = 10


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Answer one request; never raises for any text."""
    try:
        if "load" in request:
            return {"abi": load(request["load"]).abi_version}
        return check(request["languages"], request["before"], request["after"])
    except (ImportError, ValueError, OSError) as error:
        return {"error": f"{type(error).__name__}: {error}"}


def check(languages: list[str], before: str | None, after: str) -> dict[str, Any]:
    """What an edit broke, in whichever of the languages the text is in."""
    language, found = languages[0], _errors(after, languages[0])
    for other in languages[1:]:
        if found and len(others := _errors(after, other)) < len(found):
            language, found = other, others
    # Without errors now there is no need to know those from before.
    old = _errors(before, language) if found and before else []
    new, existing = compare(before or "", old, after, found)
    return {
        "language": language,
        "new": [(it.start, it.end, it.message, it.source_line) for it in new],
        "existing": existing,
    }


def _errors(text: str, language: str) -> list[Finding]:
    return find_errors(text, load(language), language)


def main() -> None:
    """Serve requests until the parent is gone."""
    serve(answer, _MEMORY, _SECONDS)


if __name__ == "__main__":
    main()

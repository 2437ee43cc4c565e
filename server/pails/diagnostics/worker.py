"""The process in which parsing happens: `python -m pails.diagnostics.worker`.

A request to check an edit is `{"languages": [...], "path", "id": number, "texts": [before, after]}`
or, where the text before is known by the id of an earlier request, the same with
`"base": id, "span": [start, end], "texts": [replacement]` (offsets in code points). One text alone
is no edit and is read through for later. The answer is
`{"language", "new": [[start, end, message, source line], ...], "existing"}`, or `{"unknown": true}`
for a base that is not known, or no longer.

A request `{"load": language}` is answered by `{"abi": number}`. A grammar that cannot be loaded
makes `{"error": text}` of either.
"""

from collections import OrderedDict
from typing import Any, NamedTuple

from pails.diagnostics.compare import compare
from pails.diagnostics.grammars import load
from pails.diagnostics.trees import Checked, check
from pails.host.serving import serve

_MEMORY = 1 << 30
_SECONDS = 10
_MOST_TEXTS = 8
_MOST_CHARACTERS = 4_000_000
"""Of all texts that are kept. A tree takes some fifty times as many bytes."""


class _Kept(NamedTuple):
    """The text of a file as it was checked last."""

    id: int
    text: str
    checked: Checked


class Service:
    """Answers requests, and keeps what it may need for the next."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Answer one request; never raises for any text."""
        try:
            if "load" in request:
                return {"abi": load(request["load"]).abi_version}
            return self._check(request)
        except (ImportError, ValueError, OSError) as error:
            return {"error": f"{type(error).__name__}: {error}"}

    def _check(self, request: dict[str, Any]) -> dict[str, Any]:
        kept = self._kept.pop(request["path"], None)
        if "base" in request:
            if kept is None or kept.id != request["base"]:
                return {"unknown": True}
            start, end = request["span"]
            before = kept.text
            after = before[:start] + request["texts"][0] + before[end:]
        else:
            before, after = request["texts"][0], request["texts"][-1]
        known = kept.checked if kept is not None and kept.text == before else None
        checked = _in_best_language(request["languages"], after, known)
        self._keep(request["path"], _Kept(request["id"], after, checked))
        # Without errors now there is no need to know those from before.
        old = _errors(before, checked.language, known) if checked.found and before else []
        new, existing = compare(before, old, after, checked.found)
        return {
            "language": checked.language,
            "new": [(it.start, it.end, it.message, it.source_line) for it in new],
            "existing": existing,
        }

    def _keep(self, path: str, kept: _Kept) -> None:
        """Make room by letting go of those that were not used for longest."""
        self._kept[path] = kept
        size = sum(len(kept.text) for kept in self._kept.values())
        while len(self._kept) > _MOST_TEXTS or (size > _MOST_CHARACTERS and len(self._kept) > 1):
            size -= len(self._kept.popitem(last=False)[1].text)


def _in_best_language(languages: list[str], text: str, before: Checked | None) -> Checked:
    """The text in whichever of the languages it has fewest errors."""
    best = check(text, languages[0], before)
    for language in languages[1:]:
        if best.found and len((other := check(text, language, before)).found) < len(best.found):
            best = other
    return best


def _errors(text: str, language: str, known: Checked | None) -> list[Any]:
    if known is not None and known.language == language:
        return known.found
    return check(text, language).found


def main() -> None:
    """Serve requests until the parent is gone."""
    serve(Service().answer, _MEMORY, _SECONDS)


if __name__ == "__main__":
    main()

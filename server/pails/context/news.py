"""What became of the model's work since it last heard: rejected, replaced, changed by others."""

from collections.abc import Sequence
from dataclasses import dataclass

MAX_CHARS = 4_000
"""For all of it together: what is cut off, the model finds in the files."""

_INTRODUCTION = (
    "Since your last turn these files have changed. Take them as they are now, and do not bring "
    "back what was rejected."
)


@dataclass(frozen=True, slots=True)
class News:
    """`said` is a sentence that names the file, `diff` what happened in it."""

    said: str
    diff: str = ""


def render_news(news: Sequence[News]) -> str:
    """The block that tells it; empty when there is nothing to tell."""
    if not news:
        return ""
    room = MAX_CHARS - sum(len(one.said) + 1 for one in news)
    lines: list[str] = []
    more = 0
    for one in news:  # what was said is in no file; what happened in one, the model can find there
        diff = one.diff.splitlines()
        shown = _fitting(diff, room)
        room = room - sum(len(line) + 1 for line in shown) if len(shown) == len(diff) else 0
        lines += (one.said, *shown)
        more += len(diff) - len(shown)
    shown = _fitting(lines, MAX_CHARS)
    more += len(lines) - len(shown)
    if more:
        shown.append(f"[… {more:,} more line{'s' if more > 1 else ''}; read the files]")
    return "\n".join(("<review>", _INTRODUCTION, *shown, "</review>"))


def _fitting(lines: Sequence[str], room: int) -> list[str]:
    """The first of the lines, as many as there is room for."""
    fitting: list[str] = []
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        fitting.append(line)
    return fitting

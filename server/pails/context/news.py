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
    lines = [line for one in news for line in (one.said, *one.diff.splitlines())]
    room = MAX_CHARS
    shown: list[str] = []
    for line in lines:
        room -= len(line) + 1
        if room < 0:
            break
        shown.append(line)
    more = len(lines) - len(shown)
    if more:
        shown.append(f"[… {more:,} more line{'s' if more > 1 else ''}; read the files]")
    return "\n".join(("<review>", _INTRODUCTION, *shown, "</review>"))

"""The one way in which large results are shortened: head and tail stay, the middle is counted."""

from pails.core.text import safe_cut

# Room for the line that says what is missing, beside its hint.
_MARKER_ROOM = 90


def truncate(text: str, limit: int, hint: str = "") -> str:
    """Shorten `text` to at most `limit` characters, head and tail kept, with a line in between.

    That line says exactly what is missing and, by `hint`, how to get it ("read it from x.txt").
    Cuts fall on line ends where one is near, else between whole characters. Below about 100
    characters plus the hint there is no room for head and tail: then only the line itself stays.
    """
    if len(text) <= limit:
        return text
    room = max(0, limit - _MARKER_ROOM - len(hint))
    tail_room = room // 2
    head_end = _line_border(text, room - tail_room, back=True)
    tail_start = max(head_end, _line_border(text, len(text) - tail_room, back=False))
    dropped = text[head_end:tail_start]
    marker = _marker(len(dropped), dropped.count("\n"), hint)
    head, tail = text[:head_end], text[tail_start:]
    before = "" if not head or head.endswith("\n") else "\n"
    return f"{head}{before}{marker}\n{tail}"


def _line_border(text: str, index: int, *, back: bool) -> int:
    """A line start near `index`, on the side that drops more; else a safe cut there."""
    reach = 200
    if back:
        found = text.rfind("\n", max(0, index - reach), index)
        return found + 1 if found >= 0 else safe_cut(text, index)
    found = text.find("\n", max(0, index - 1), index + reach)
    if found >= 0:
        return found + 1
    while safe_cut(text, index) != index:  # forwards: the tail must not outgrow its room
        index += 1
    return index


def _marker(chars: int, lines: int, hint: str) -> str:
    counted = f"{chars:,} characters" + (f", {lines:,} lines" if lines else "")
    return f"[… {counted} left out{'; ' + hint if hint else ''} …]"

"""A notebook as a text to be read: its cells, their sources, what they printed in brief. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from pails.core.numbers import counted, shown_size
from pails.core.text import safe_cut
from pails.host.output import strip_controls
from pails.tools.text.cells import Cell, Notebook, as_object, joined

_OUTPUT_LINES = 5
_OUTPUT_CHARS = 200


def cells_as_text(notebook: Notebook) -> str:
    """All cells, each under a line that names it: `[cell 2 (id 1f3a90b2), code]`."""
    return "\n".join(line for cell in notebook.cells for line in _cell(cell))


def _cell(cell: Cell) -> Iterator[str]:
    yield f"[{cell.name}, {cell.type}]"
    if cell.source:
        yield cell.source.removesuffix("\n")
    for name, data in as_object(cell.node.value.get("attachments")).items():
        yield f"[attachment {name}: {_types(as_object(data))}]"
    for output in cell.outputs:
        yield from _output(output)
    yield ""


def _output(output: Mapping[str, Any]) -> Iterator[str]:
    """The kind and the size of what a cell put out, and the first lines of a text."""
    match output.get("output_type"):
        case "stream":
            yield from _text(str(output.get("name")), joined(output.get("text")))
        case "error":
            yield from _text("error", f"{output.get('ename')}: {output.get('evalue')}")
        case _:
            data = as_object(output.get("data"))
            rest = {kind: value for kind, value in data.items() if kind != "text/plain"}
            if rest:
                yield f"[output: {_types(rest)}]"
            if "text/plain" in data:
                yield from _text("text", joined(data["text/plain"]))


def _text(kind: str, text: str) -> Iterator[str]:
    lines = strip_controls(text).rstrip("\n").split("\n")
    yield f"[output: {kind}, {counted(len(lines), 'line')}]"
    for line in lines[:_OUTPUT_LINES]:
        cut = safe_cut(line, _OUTPUT_CHARS)
        yield f"  {line[:cut]}{'…' if cut < len(line) else ''}"
    if len(lines) > _OUTPUT_LINES:
        yield "  …"


def _types(data: Mapping[str, Any]) -> str:
    """Each media type with its size: `image/png 12.3 KB`."""
    return ", ".join(f"{kind} {shown_size(_size(kind, value))}" for kind, value in data.items())


def _size(kind: str, value: object) -> int:
    """Bytes. Pictures are in base64, of which four characters are three bytes."""
    text = joined(value) or repr(value)
    is_base64 = kind.startswith(("image/", "audio/", "video/")) and kind != "image/svg+xml"
    return len("".join(text.split())) * 3 // 4 if is_base64 else len(text.encode())

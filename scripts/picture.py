"""Records `examples/try_it.py` at a terminal of its own and writes docs/picture.svg.

    python scripts/picture.py

A person's part is played: the one approval is answered with `y`. No model of this machine is used,
so that the picture is the rehearsal, whoever takes it.
"""

import io
import os
import pty
import re
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "docs" / "picture.svg"
COLUMNS = 104


def record() -> str:
    """Everything the terminal showed, with its colours."""
    with tempfile.TemporaryDirectory() as home:
        environ = {
            "HOME": home,
            "PATH": os.environ["PATH"],
            "TERM": "xterm-256color",
            "COLUMNS": str(COLUMNS),
            "PYTHONPATH": str(ROOT / "server"),
            "PAILS_MODEL": "",
        }
        pid, terminal = pty.fork()
        if pid == 0:
            os.execve(sys.executable, [sys.executable, str(ROOT / "examples/try_it.py")], environ)
        shown = b""
        answered = False
        while True:
            try:
                data = os.read(terminal, 65536)
            except OSError:
                break
            if not data:
                break
            shown += data
            if not answered and b"[n]" in shown and not data.endswith(b"\n"):
                os.write(terminal, b"y\n")
                answered = True
        os.waitpid(pid, 0)
    return shown.decode().replace("\r\n", "\n")


def tidy(text: str) -> str:
    """The part of the run that a reader wants to see, without the paths of this machine."""
    text = re.sub(r"/\S*/pails-try-\w+/sample", "~/sample", text)
    start = text.index("> The test fails")
    start = text.rindex("\n", 0, start) + 1
    end = text.index("The copy in")
    lines = text[start:end].rstrip().split("\n")
    return "$ make run\n" + "\n".join(lines)


def draw(text: str) -> str:
    """The text as an SVG picture that needs nothing from elsewhere."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(text))
    svg = console.export_svg(title="Pails at work on a failing test (a rehearsal)")
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    svg = svg.replace("<text ", '<text xml:space="preserve" ')
    return svg.replace("Fira Code, monospace", "ui-monospace, Menlo, Consolas, monospace")


def main() -> None:
    recorded = record()
    PICTURE.write_text(draw(tidy(recorded)), encoding="utf-8")
    print(f"{PICTURE.relative_to(ROOT)} is written")


if __name__ == "__main__":
    main()

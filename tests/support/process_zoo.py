"""Commands that behave badly in one way each, and a look at what is left of them.

Every process of the zoo inherits a tag in its environment, by which a test finds it without the
help of the code under test.
"""

import asyncio
import contextlib
import os
import sys
from pathlib import Path
from uuid import uuid4

TAG = "PROCESS_ZOO"


def new_tag() -> str:
    return uuid4().hex


def python(source: str) -> list[str]:
    """A Python program as a command."""
    return [sys.executable, "-c", source]


def shell(script: str) -> list[str]:
    return ["sh", "-c", script]


READS_STDIN = [
    ["cat"],
    python("import sys; print('read', len(sys.stdin.read()))"),
    shell("read answer; echo got:$answer"),
]
READS_TERMINAL = shell("cat /dev/tty")

LEAVES_BACKGROUND = {
    "noisy group": shell("sleep 60 & echo done"),
    "own session": shell("setsid sleep 60 & echo done"),
    "silent": shell("sleep 60 >/dev/null 2>&1 & echo done"),
    "writes on": shell("(while :; do echo x; sleep 0.01; done) & echo done"),
    "double fork": python(
        "import os, time\n"
        "print('done', flush=True)\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        time.sleep(60)\n"
        "    os._exit(0)\n"
        "time.sleep(0.2)\n"
    ),
}

NEVER_ENDS = {
    "pipeline": shell("while :; do echo x; sleep 0.1; done | cat"),
    "own session": shell("echo x; setsid sleep 300 & wait"),
    "ignores TERM": shell("trap '' TERM; echo x; while :; do sleep 0.1; done"),
    "session ignores TERM": shell(
        "setsid sh -c \"trap '' TERM; echo x; sleep 300; sleep 300\" & wait"
    ),
    "drops environment": shell("echo x; env -i sleep 300 & setsid env -i sleep 300 & wait"),
    "double fork": python(
        "import os, time\n"
        "print('x', flush=True)\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork():\n"
        "        os._exit(0)\n"
        "time.sleep(300)\n"
    ),
    "stopped": shell("echo x; kill -STOP $$"),
    "closed output": shell("echo x; exec >/dev/null 2>&1; sleep 300"),
    "floods": shell("yes"),
}

COLOURS = ["printf", r"\033[31mred\033[0m plain\n\033]0;title\007after\n"]
PROGRESS = python(
    "import sys\nfor n in range(101): sys.stdout.write(f'\\r{n:3}%'); sys.stdout.flush()\nprint()"
)
ASCII_THEN_GBK = python(
    "import sys, time\n"
    "out = sys.stdout.buffer\n"
    "out.write(b'start\\n'); out.flush(); time.sleep(0.2)\n"
    "out.write('名前\\n'.encode('utf-8')); out.write('中文\\n'.encode('gbk')); out.flush()\n"
)
ONE_CHARACTER_IN_TWO_WRITES = python(
    "import sys, time\n"
    "out = sys.stdout.buffer\n"
    "for byte in '汉😀'.encode(): out.write(bytes([byte])); out.flush(); time.sleep(0.05)\n"
)


def flood(megabytes: int) -> list[str]:
    return shell(f"yes 0123456789abcde | head -c {megabytes}M")


def tagged(pid: int, tag: str) -> bool:
    """Whether this process lives (a zombie does not) and carries the tag."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        return state != "Z" and tag.encode() in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False


def alive(tag: str) -> list[int]:
    """The processes of the zoo that carry this tag."""
    pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    return [pid for pid in pids if pid != os.getpid() and tagged(pid, tag)]


def children_of(pid: int) -> list[int]:
    """The process ids of a process's children, by Linux's own account."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found += [int(child) for child in (task / "children").read_text().split()]
    return found


async def until_alive(tag: str, count: int = 1) -> list[int]:
    """Wait until so many processes of the zoo live."""
    async with asyncio.timeout(20):
        while len(found := alive(tag)) < count:
            await asyncio.sleep(0.02)
    return found

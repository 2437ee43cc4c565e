"""Commands run to their end, whatever they do: nothing hangs, nothing is left behind."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from pails.host.environment import child_environment
from pails.host.process import Finished, run
from pails.host.process_tree import kill_tree, tree_members, with_marker
from pails.host.programs import NotStarted
from tests.support import process_zoo as zoo

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


@pytest.fixture
def tag():
    tag = zoo.new_tag()
    yield tag
    for pid in zoo.alive(tag):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def environment(tag: str) -> dict[str, str]:
    return {**child_environment(), zoo.TAG: tag}


async def finish(argv, cwd: Path, tag: str = "", timeout: float = 60, **options) -> Finished:
    finished = await run(
        argv, cwd, environment(tag), timeout, options.pop("spill", None), **options
    )
    assert isinstance(finished, Finished), finished
    return finished


async def test_output_of_both_streams_comes_in_order(tmp_path):
    finished = await finish(zoo.shell("echo 1; echo 2 >&2; echo 3; exit 7"), tmp_path)
    assert (finished.output, finished.exit_code) == ("1\n2\n3\n", 7)
    assert (finished.dropped_bytes, finished.spill_path, finished.background_pids) == (0, None, ())
    assert not finished.timed_out


async def test_arguments_reach_the_program_as_they_are(tmp_path):
    arguments = ["a b", "$HOME", "*", "; ls", "汉字", "", "-n"]
    finished = await finish([*zoo.python("import sys; print(sys.argv[1:])"), *arguments], tmp_path)
    assert finished.output == f"{arguments}\n"


async def test_it_runs_in_its_folder(tmp_path):
    assert (await finish(["pwd"], tmp_path)).output == f"{tmp_path.resolve()}\n"


@pytest.mark.parametrize("argv", zoo.READS_STDIN, ids=str)
async def test_a_command_that_reads_its_input_finds_it_empty(argv, tmp_path):
    assert not (await finish(argv, tmp_path)).timed_out


async def test_there_is_no_terminal_to_read_from(tmp_path):
    finished = await finish(zoo.READS_TERMINAL, tmp_path)
    assert not finished.timed_out
    assert finished.exit_code != 0


@pytest.mark.parametrize("kind", zoo.LEAVES_BACKGROUND)
async def test_a_background_process_delays_nothing_and_is_reported(kind, tmp_path, tag):
    finished = await finish(zoo.LEAVES_BACKGROUND[kind], tmp_path, tag)
    assert "done\n" in finished.output
    assert (finished.exit_code, finished.timed_out) == (0, False)
    # One that writes on may have died of the closed pipe before the test looks.
    assert set(zoo.alive(tag)) <= set(finished.background_pids)
    assert finished.background_pids or kind == "writes on"


async def test_a_pipeline_leaves_nothing_to_report(tmp_path, tag):
    finished = await finish(zoo.shell("yes | head -1"), tmp_path, tag)
    assert (finished.output, finished.background_pids) == ("y\n", ())


@pytest.mark.parametrize("kind", zoo.NEVER_ENDS)
async def test_after_the_time_limit_nothing_of_the_tree_lives(kind, tmp_path, tag):
    finished = await finish(zoo.NEVER_ENDS[kind], tmp_path, tag, timeout=1)
    assert finished.timed_out
    assert finished.background_pids == ()
    assert finished.output.startswith(("x\n", "y\n"))
    assert zoo.alive(tag) == []


@pytest.mark.parametrize("kind", zoo.NEVER_ENDS)
async def test_after_a_cancellation_nothing_of_the_tree_lives(kind, tmp_path, tag):
    task = asyncio.create_task(finish(zoo.NEVER_ENDS[kind], tmp_path, tag))
    await zoo.until_alive(tag)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert zoo.alive(tag) == []


async def test_cancelled_again_while_it_ends_it_still_ends_everything(tmp_path, tag):
    task = asyncio.create_task(finish(zoo.NEVER_ENDS["ignores TERM"], tmp_path, tag))
    await zoo.until_alive(tag, 2)
    for _ in range(3):
        task.cancel()
        await asyncio.sleep(0.05)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert zoo.alive(tag) == []


async def test_a_cancellation_during_the_time_limit_is_not_swallowed(tmp_path, tag):
    told = asyncio.Event()

    async def hear(text: str) -> None:
        if "told to end" in text:
            told.set()

    command = zoo.shell("trap 'echo told to end' TERM; while :; do sleep 0.1; done")
    task = asyncio.create_task(finish(command, tmp_path, tag, timeout=0.3, on_output=hear))
    async with asyncio.timeout(20):
        await told.wait()  # it goes on all the same, for the whole time of grace
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert zoo.alive(tag) == []


async def test_cancelled_before_it_has_started_it_leaves_nothing(tmp_path, tag):
    task = asyncio.create_task(finish(["sleep", "300"], tmp_path, tag))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert zoo.alive(tag) == []


async def test_when_the_output_cannot_be_told_everything_ends(tmp_path, tag):
    async def fail(_text: str) -> None:
        raise RuntimeError("nobody listens")

    with pytest.raises(RuntimeError, match="nobody listens"):
        await finish(zoo.NEVER_ENDS["pipeline"], tmp_path, tag, on_output=fail)
    assert zoo.alive(tag) == []


async def test_a_signal_has_a_name(tmp_path):
    finished = await finish(zoo.shell("kill -SEGV $$"), tmp_path)
    assert (finished.exit_code, finished.signal_name) == (-signal.SIGSEGV, "SIGSEGV")


async def test_a_long_output_keeps_head_and_tail_and_the_whole_in_a_file(tmp_path):
    script = (
        "i=0; while [ $i -lt 30000 ]; do echo noise $i; i=$((i+1)); done; echo error: E; exit 1"
    )
    spill = tmp_path / "new" / "out.txt"
    finished = await finish(zoo.shell(script), tmp_path, spill=spill)
    assert finished.exit_code == 1
    assert finished.output.startswith("noise 0\n")
    assert finished.output.endswith("noise 29999\nerror: E\n")
    assert finished.spill_path == spill
    assert finished.spill_complete
    whole = spill.read_text()
    assert whole == "".join(f"noise {n}\n" for n in range(30000)) + "error: E\n"
    marker = f"[… {finished.dropped_bytes} bytes left out …]\n"
    assert marker in finished.output
    kept = finished.output.replace(marker, "")
    assert finished.dropped_bytes == len(whole) - len(kept)
    assert spill.stat().st_mode & 0o777 == 0o600


async def test_a_giant_line_does_not_push_out_the_others(tmp_path):
    source = "print('before'); print('x' * 5_000_000); print('after')"
    finished = await finish(zoo.python(source), tmp_path, spill=tmp_path / "out.txt")
    assert finished.dropped_bytes == 5_000_000 - 2_000 + 1
    marker = f"[… {finished.dropped_bytes} bytes left out …]"
    assert finished.output == f"before\n{'x' * 1500}{marker}{'x' * 499}\nafter\n"


async def test_a_short_output_leaves_no_file(tmp_path):
    finished = await finish(["echo", "汉" * 100], tmp_path, spill=tmp_path / "out.txt")
    assert finished.spill_path is None
    assert list(tmp_path.iterdir()) == []


async def test_an_output_that_cannot_be_kept_ends_nothing(tmp_path):
    (tmp_path / "file").touch()
    finished = await finish(zoo.flood(1), tmp_path, spill=tmp_path / "file" / "out.txt")
    assert (finished.exit_code, finished.spill_path) == (0, None)
    assert finished.dropped_bytes > 1_000_000


async def test_a_flood_stays_out_of_memory(tmp_path):
    source = f"""
import asyncio, resource
from pathlib import Path
from pails.host.process import run
from tests.support import process_zoo as zoo
path = Path({str(tmp_path)!r})
environment = {{"PATH": "/usr/bin:/bin"}}
async def slow(text):  # a listener that is slower than the flood
    await asyncio.sleep(0.02)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
finished = asyncio.run(
    run(zoo.flood(150), path, environment, 120, path / "out", on_output=slow)
)
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
shown = finished.output.encode()
marker = f"[… {{finished.dropped_bytes}} bytes left out …]\\n".encode()
assert marker in shown
print(grown // 1024, finished.dropped_bytes + len(shown) - len(marker), finished.spill_complete)
"""
    program = await finish([sys.executable, "-c", source], Path.cwd(), timeout=200)
    megabytes, total, complete = program.output.split()
    assert int(megabytes) < 60
    assert int(total) == 150 * 1024 * 1024
    assert complete == "False"
    assert (tmp_path / "out").stat().st_size == 64 * 1024 * 1024


async def test_colours_and_progress_do_not_reach_the_reader(tmp_path):
    assert (await finish(zoo.COLOURS, tmp_path)).output == "red plain\nafter\n"
    assert (await finish(zoo.PROGRESS, tmp_path)).output == "  0%\n100%\n"


async def test_encodings_are_found_line_by_line(tmp_path):
    assert (await finish(zoo.ASCII_THEN_GBK, tmp_path)).output == "start\n名前\n中文\n"
    assert (await finish(zoo.ONE_CHARACTER_IN_TWO_WRITES, tmp_path)).output == "汉😀"


async def test_output_is_told_while_the_command_runs(tmp_path):
    """The command waits for a file that only appears once its first line has been told."""
    told: list[str] = []
    go = tmp_path / "go"

    async def on_output(text: str) -> None:
        told.append(text)
        await asyncio.to_thread(go.touch)

    script = "echo first; while [ ! -e go ]; do sleep 0.05; done; printf last"
    finished = await finish(zoo.shell(script), tmp_path, on_output=on_output)
    assert told == ["first\n", "last"]
    assert finished.output == "first\nlast"


@pytest.mark.parametrize(
    ("argv", "cwd", "reason"),
    [
        (["no-such-program-here"], ".", "no program `no-such-program-here` on the PATH"),
        (["./missing"], ".", "no file ./missing in"),
        (["cd", "src"], ".", "part of the shell"),
        (["ls"], "missing", "does not exist"),
        (["ls"], "plain", "is not a folder"),
        (["./plain"], ".", "not executable"),
        (["./lost"], ".", "interpreter"),
        (["./blank"], ".", "no program this system can run"),
        (["echo", "a\0b"], ".", "cannot be passed"),
        (["echo", "\ud800"], ".", "cannot be passed"),
        (["echo", "x" * 3_000_000], ".", "too long together"),
    ],
    ids=lambda value: str(value)[:30],
)
async def test_what_cannot_start_is_a_sentence(argv, cwd, reason, tmp_path):
    for name, text, mode in (
        ("plain", "text", 0o644),
        ("lost", "#!/no/such/interpreter\n", 0o755),
        ("blank", "no interpreter line\n", 0o755),
    ):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(mode)
    outcome = await run(argv, tmp_path / cwd, environment(""), 20, None)
    assert isinstance(outcome, NotStarted)
    assert reason in outcome.reason


async def test_a_missing_python_names_the_one_there_is(tmp_path):
    (tmp_path / "python3").symlink_to(sys.executable)
    outcome = await run(["python", "-V"], tmp_path, {"PATH": str(tmp_path)}, 20, None)
    assert isinstance(outcome, NotStarted)
    assert "`python3`: use that" in outcome.reason


async def test_no_descriptor_of_ours_is_inherited(tmp_path):
    reading, writing = os.pipe()
    try:
        finished = await finish(["ls", "/proc/self/fd"], tmp_path)
        assert set(finished.output.split()) <= {"0", "1", "2", "3"}  # 3 is the listing itself
    finally:
        os.close(reading)
        os.close(writing)


def test_a_tree_is_ended_by_a_marker_alone(tag):
    """As at the end of the server, when it no longer knows each command it started."""
    marked = with_marker(environment(tag), tag)
    nested = with_marker(marked, "0" * 32)
    children = [
        subprocess.Popen(["sleep", "300"], env=env, start_new_session=True)
        for env in (marked, nested)
    ]
    pids = {child.pid for child in children}
    while set(tree_members(None, tag)) != pids:  # its environment shows a moment after its start
        time.sleep(0.01)
    assert kill_tree(None, tag) == []
    assert [child.wait() for child in children] == [-signal.SIGTERM] * 2


def test_no_marker_matches_no_process():
    assert tree_members(None, "") == []

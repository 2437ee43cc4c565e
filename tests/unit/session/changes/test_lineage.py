"""Whatever agent and person do in turn: nothing of the person's is ever in the agent's hunks."""

import asyncio
import tempfile
from collections.abc import Coroutine
from itertools import pairwise
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from pails.core.hunks import apply_hunks, diff_hunks
from pails.core.text import split_lines
from pails.session.changes.lineage import Author, Lineage
from tests.support.reviewing import ReviewDesk

COMMON = st.lists(st.sampled_from(["a\n", "b\n", "c\r\n", "\n", "字\n"]), max_size=8)
"""Lines that both write, so that equal lines stand everywhere."""


@st.composite
def texts(draw: st.DrawFn, name: str) -> str:
    """A text in which some lines can only be this author's."""
    own = st.integers(0, 3).map(lambda number: f"{name} {number}\n")
    return "".join(draw(st.lists(st.sampled_from(["a\n", "b\n", "字\n"]) | own, max_size=8)))


STEPS = st.lists(st.tuples(texts("agent"), texts("person")), min_size=1, max_size=4)
TEXTS = COMMON.map("".join)


def walked(start: str, steps: list[tuple[str, str]]) -> Lineage:
    """A turn of several writes, after each of which the person makes the text theirs."""
    lineage = Lineage()
    lineage.edit(start)
    for written, typed in steps:
        lineage.write(written, Author("t"))
        lineage.edit(typed)
    return lineage


@given(start=TEXTS, steps=STEPS)
def test_a_turn_owns_only_what_it_wrote(start: str, steps: list[tuple[str, str]]) -> None:
    lineage = walked(start, steps)
    assert "".join(line.text for line in lineage.lines) == steps[-1][1]
    owned = [line.text for line in lineage.lines if line.author]
    assert not any(text.startswith("person") for text in owned)
    assert not any("person" in lined.hunk.new for lined in lineage.change("t")[1])


@given(start=TEXTS, steps=STEPS)
def test_without_the_turn_no_line_of_the_person_is_lost(
    start: str, steps: list[tuple[str, str]]
) -> None:
    lineage = walked(start, steps)
    before = split_lines(lineage.change("t")[0])
    assert not any(line.startswith("agent") for line in before if line not in _typed(steps))
    for line in {line for line in lineage_texts(lineage) if line.startswith("person")}:
        assert before.count(line) >= lineage_texts(lineage).count(line)


def _typed(steps: list[tuple[str, str]]) -> set[str]:
    return {line for _, typed in steps for line in split_lines(typed)}


def lineage_texts(lineage: Lineage) -> list[str]:
    return [line.text for line in lineage.lines]


@given(start=TEXTS, written=st.lists(texts("agent"), min_size=1, max_size=4))
def test_alone_the_turn_leads_from_one_text_to_the_other(start: str, written: list[str]) -> None:
    lineage = Lineage()
    lineage.edit(start)
    for text in written:
        lineage.write(text, Author("t"))
    before, hunks = lineage.change("t")
    assert before == start
    found = [lined.hunk for lined in hunks]
    assert apply_hunks(start, found) == written[-1]
    assert all(hunk.old != hunk.new for hunk in found)
    assert all(one.at.end < other.at.start for one, other in pairwise(found))
    if len(written) == 1:
        assert tuple(found) == diff_hunks(start, written[0])


@given(count=st.integers(0, 8), data=st.data())
def test_taking_all_back_gives_every_line_its_owner_again(count: int, data: st.DataObject) -> None:
    start = [f"start {number}\n" for number in range(count)]
    written: list[str] = []
    for line in start:
        written += data.draw(st.lists(st.sampled_from(["new 1\n", "new 2\n"]), max_size=2))
        written += [line] if data.draw(st.booleans()) else []
    lineage = Lineage()
    lineage.write("".join(start), Author("t0"))
    lineage.write("".join(written), Author("t1"))
    lineage.revert(lineage.change("t1")[1], "".join(start))
    assert [line.author for line in lineage.lines] == [Author("t0")] * count


def run(work: Coroutine[None, None, None]) -> None:
    asyncio.run(work)


BEFORE = "".join(f"line {number}\n" for number in range(12))
CHANGES = st.lists(st.sampled_from(range(0, 12, 2)), unique=True, min_size=1, max_size=6)


def changed(text: str, name: str, lines: list[int]) -> str:
    for number in lines:
        text = text.replace(f"line {number}\n", f"{name} {number}\n{name} more\n")
    return text


@settings(max_examples=25, deadline=None)
@given(agent=CHANGES, data=st.data())
def test_any_order_of_decisions_leaves_the_persons_edits(
    agent: list[int], data: st.DataObject
) -> None:
    """Some accepted, the others rejected one by one, with edits of the person in between."""

    async def decide() -> None:
        with tempfile.TemporaryDirectory() as folder:
            desk = ReviewDesk(Path(folder))
            desk.type("a.txt", BEFORE)
            desk.turn("t1")
            await desk.write("a.txt", changed(BEFORE, "agent", agent))
            hunks = await desk.hunks("t1", "a.txt")
            kept: list[int] = []
            mine = [number for number in (1, 5, 9) if data.draw(st.booleans())]
            for hunk in data.draw(st.permutations(hunks)):
                if mine and data.draw(st.booleans()):
                    desk.type("a.txt", changed(desk.text("a.txt") or "", "mine", [mine[0]]))
                decision = data.draw(st.sampled_from(("accepted", "rejected")))
                if decision == "accepted":
                    kept.append(int(hunk.new.split()[1]))
                done = await desk.review.resolve("t1", decision, hunk_ids=[hunk.id])
                assert done.unresolved == ()
                ids = [hunk.id for hunk in await desk.hunks("t1", "a.txt")]
                assert ids == [hunk.id for hunk in hunks]
            now = desk.text("a.txt") or ""
            typed = mine[:1] if "mine" in now else []
            assert now == changed(changed(BEFORE, "agent", kept), "mine", typed)
            runs = await desk.review.origin(desk.path("a.txt"))
            lines = split_lines(now)
            for one in runs:
                assert all("agent" in line for line in lines[one.first - 1 : one.last])
                assert one.approved == "accepted"
            assert sum(one.last - one.first + 1 for one in runs) == 2 * len(kept)
            assert all(first.last < second.first for first, second in pairwise(runs))
            desk.close()

    run(decide())


@settings(max_examples=25, deadline=None)
@given(before=COMMON.map("".join), after=texts("agent"), data=st.data())
def test_a_part_rejected_and_then_the_rest_gives_the_text_before(
    before: str, after: str, data: st.DataObject
) -> None:
    async def decide() -> None:
        with tempfile.TemporaryDirectory() as folder:
            desk = ReviewDesk(Path(folder))
            desk.type("a.txt", before)
            desk.turn("t1")
            await desk.write("a.txt", after)
            turns = await desk.review.list()
            hunks = turns[0].files[0].hunks if turns else ()
            some = [hunk.id for hunk in hunks if data.draw(st.booleans())]
            if turns:
                await desk.review.resolve("t1", "rejected", hunk_ids=some)
                done = await desk.review.resolve("t1", "rejected")
                assert done.unresolved == ()
            assert desk.text("a.txt") == before
            assert await desk.review.origin(desk.path("a.txt")) == ()
            desk.close()

    run(decide())

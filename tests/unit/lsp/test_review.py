"""The review by plain LSP: what is offered is current, and what was not done is said."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from lsprotocol import types

from pails.core.errors import NotFoundError
from pails.core.events import Envelope, HunksResolved
from pails.core.review import (
    FileReview,
    HunkDecision,
    Resolution,
    ReviewHunk,
    TurnReview,
    Unresolved,
)
from pails.lsp import methods
from pails.lsp.client import Client
from pails.lsp.coding import decode
from pails.lsp.documents import OpenDocuments
from pails.lsp.following import Followers
from pails.lsp.protocol.sessions import PaiCapabilities
from pails.lsp.review import Reviews
from pails.lsp.review_commands import ReviewCommands
from tests.unit.lsp.conftest import FakeWire

PATH = Path("/w/x.py")
URI = "file:///w/x.py"
TEXT = "one\ntwo\nthree\n"
MESSAGE = "window/showMessage"


def hunk(hunk_id: str, line: int) -> ReviewHunk:
    return ReviewHunk(hunk_id, "pending", f"old {hunk_id}\n", f"new {hunk_id}\n", line, line)


class SessionAtHand:
    """A session whose review has these hunks; it is its own review."""

    def __init__(
        self, session_id: str, updated_at: float, turns: Mapping[str, Sequence[str]]
    ) -> None:
        self.id = session_id
        self.updated_at = updated_at
        self.review = self
        self.turns = turns
        self.stubborn: set[str] = set()
        self.decided: list[tuple[Any, ...]] = []
        self.while_asked: Callable[[], None] = lambda: None
        self.is_new = False
        self.upside_down = False

    async def pending(self, path: Path) -> tuple[tuple[str, ReviewHunk], ...]:
        found = tuple(
            (turn_id, hunk(name, number))
            for turn_id, names in self.turns.items()
            for number, name in enumerate(names)
            if path == PATH
        )
        self.while_asked()
        return found[::-1] if self.upside_down else found

    async def list(self, turn_id: str | None = None) -> tuple[TurnReview, ...]:
        return tuple(
            TurnReview(turn, "", (FileReview(PATH, tuple(hunk(name, 0) for name in names)),))
            for turn, names in self.turns.items()
            if turn_id in (None, turn)
        )

    async def resolve(
        self,
        turn_id: str,
        decision: HunkDecision,
        *,
        path: Path | None = None,
        hunk_ids: Sequence[str] | None = None,
        feedback: str = "",
        text: str | None = None,
    ) -> Resolution:
        assert text is None
        if turn_id not in self.turns:
            raise NotFoundError(f"There is no turn {turn_id}.")
        self.decided.append((turn_id, decision, path, hunk_ids, feedback))
        wanted = self.turns[turn_id] if hunk_ids is None else hunk_ids
        left = [name for name in wanted if name in self.stubborn]
        reason = "you have changed these lines since"
        return Resolution(
            tuple(name for name in wanted if name not in self.stubborn),
            tuple(Unresolved(name, PATH, reason) for name in left),
        )

    async def text_before(self, turn_id: str, path: Path) -> str | None:
        assert path == PATH
        return None if self.is_new else f"before {turn_id}\n"


class FollowersAtHand:
    """Followers of these sessions."""

    def __init__(self, *sessions: SessionAtHand) -> None:
        self.sessions = sessions
        self.tell: Callable[[Envelope], None] = lambda _: None

    def session(self, session_id: str) -> SessionAtHand:
        for session in self.sessions:
            if session.id == session_id:
                return session
        raise NotFoundError(f"No session {session_id!r}.")

    def listen(self, listener: Callable[[Envelope], None]) -> None:
        self.tell = listener


class Scene:
    """A document, and two sessions that have changed it."""

    def __init__(self, client: Client) -> None:
        self.documents = OpenDocuments()
        self.open(TEXT)
        self.old = SessionAtHand("old", 1.0, {"t1": ["a"], "t2": ["b", "c"]})
        self.new = SessionAtHand("new", 2.0, {"t3": ["d"]})
        self.followers = FollowersAtHand(self.old, self.new)
        self.kept: list[tuple[str, str]] = []
        followers = cast(Followers, self.followers)
        can = decode(PaiCapabilities, {"questions": True})
        self.reviews = Reviews(client, can, self.documents, followers)
        self.commands = ReviewCommands(client, self.documents, followers, self.reviews, self.keep)

    def open(self, text: str) -> None:
        self.documents.open(types.TextDocumentItem(URI, "python", 1, text))

    async def keep(self, name: str, text: str) -> Path:
        self.kept.append((name, text))
        return Path("/state") / name

    async def lens_titles(self) -> list[str]:
        lenses = await self.reviews.code_lenses(URI)
        return [lens.command.title for lens in lenses if lens.command]


@pytest.fixture
def scene(client: Client) -> Scene:
    return Scene(client)


def messages(wire: FakeWire) -> list[str]:
    return [params.message for params in wire.of(MESSAGE)]


async def test_all_sessions_are_asked(scene: Scene) -> None:
    assert (await scene.lens_titles())[0] == "Pails: 4 changes"


async def test_a_document_that_is_not_open_or_no_file_has_none(scene: Scene) -> None:
    scene.documents.open(types.TextDocumentItem("untitled:x", "python", 1, ""))
    assert await scene.reviews.code_lenses("untitled:x") == []
    assert await scene.reviews.code_lenses("file:///w/other.py") == []


async def test_lenses_fit_the_text_that_the_editor_has_when_they_are_sent(scene: Scene) -> None:
    def type_once() -> None:
        scene.new.while_asked = lambda: None
        scene.new.turns = {"t3": ["d", "e"]}
        scene.open("")

    scene.new.while_asked = type_once
    lenses = await scene.reviews.code_lenses(URI)
    assert lenses[0].command is not None and lenses[0].command.title == "Pails: 5 changes"
    assert {lens.range.start.line for lens in lenses} == {0}


async def test_what_is_decided_while_lenses_are_made_is_in_them(scene: Scene) -> None:
    def decide_once() -> None:
        scene.new.while_asked = lambda: None
        scene.new.turns = {}
        scene.followers.tell(Envelope("new", 9, HunksResolved("t3", str(PATH), ("d",), "accepted")))

    scene.new.while_asked = decide_once
    assert (await scene.lens_titles())[0] == "Pails: 3 changes"


async def test_a_hunk_is_decided_where_it_belongs(scene: Scene, wire: FakeWire) -> None:
    arguments = ["old", "t2", "c", "no globals"]
    result = await scene.commands.execute(methods.REJECT_HUNK, arguments)
    assert scene.old.decided == [("t2", "rejected", None, ["c"], "no globals")]
    assert result == {"resolved": ["c"], "unresolved": []}
    assert messages(wire) == []


@pytest.mark.parametrize(("typed", "decided"), [("no globals\n", 1), ("", 1), (None, 0)])
async def test_the_reason_is_asked_for_and_who_closes_the_question_has_not_decided(
    scene: Scene, wire: FakeWire, typed: str | None, decided: int
) -> None:
    wire.answers["pai/question/ask"] = lambda _: {"answer": typed}
    await scene.commands.execute(methods.REJECT_HUNK, ["old", "t2", "c", "", True])
    why = (typed or "").strip()
    assert scene.old.decided == [("t2", "rejected", None, ["c"], why)] * decided
    assert messages(wire) == []


async def test_a_file_is_decided_in_all_turns_that_changed_it(scene: Scene) -> None:
    result = await scene.commands.execute(methods.ACCEPT_FILE, [URI])
    assert scene.old.decided == [
        ("t1", "accepted", PATH, None, ""),
        ("t2", "accepted", PATH, None, ""),
    ]
    assert scene.new.decided == [("t3", "accepted", PATH, None, "")]
    assert result == {"resolved": ["a", "b", "c", "d"], "unresolved": []}


@pytest.mark.parametrize(
    ("arguments", "session", "turn_id"),
    [([], "new", "t3"), (["old"], "old", "t2"), (["old", "t1", "why"], "old", "t1")],
)
async def test_a_turn_is_the_newest_unless_named(
    scene: Scene, arguments: list[str], session: str, turn_id: str
) -> None:
    await scene.commands.execute(methods.REJECT_TURN, arguments)
    [decided] = scene.old.decided + scene.new.decided
    assert decided[:2] == (turn_id, "rejected")
    assert decided == scene.followers.session(session).decided[0]


async def test_what_was_not_done_is_said_once_for_each_reason(scene: Scene, wire: FakeWire) -> None:
    scene.old.stubborn = {"b", "c"}
    result = await scene.commands.execute(methods.REJECT_FILE, [URI])
    assert [left["hunkId"] for left in cast(Any, result)["unresolved"]] == ["b", "c"]
    [message] = messages(wire)
    assert message.startswith("Pails: 2 changes were left as before.\nx.py: you have changed")
    assert message.count("x.py") == 1


@pytest.mark.parametrize(
    ("command", "arguments", "says"),
    [
        (methods.ACCEPT_HUNK, ["gone", "t", "h"], "No session 'gone'"),
        (methods.REJECT_HUNK, ["old", "t9", "h"], "There is no turn t9"),
        (methods.ACCEPT_FILE, ["file:///w/other.py"], "is not open"),
        (methods.SHOW_BEFORE, ["file:///w/other.py"], "is not open"),
    ],
)
async def test_a_failure_is_said_for_lenses_show_none(
    scene: Scene, wire: FakeWire, command: str, arguments: list[str], says: str
) -> None:
    await scene.commands.execute(command, arguments)
    [message] = messages(wire)
    assert says in message


@pytest.mark.parametrize("command", [methods.REJECT_TURN, methods.SHOW_CHANGES])
async def test_when_nothing_waits_that_is_said(scene: Scene, wire: FakeWire, command: str) -> None:
    scene.old.turns = scene.new.turns = {}
    await scene.commands.execute(command, [] if command == methods.REJECT_TURN else [URI])
    [message] = messages(wire)
    assert "No changes of Pails" in message


async def test_the_text_before_is_that_of_the_oldest_turn(scene: Scene, wire: FakeWire) -> None:
    wire.answers["window/showDocument"] = lambda _: types.ShowDocumentResult(success=True)
    scene.old.upside_down = True
    await scene.commands.execute(methods.SHOW_BEFORE, [URI])
    assert scene.kept == [("x.py", "before t1\n")]


async def test_a_new_file_has_no_text_before(scene: Scene, wire: FakeWire) -> None:
    scene.old.is_new = True
    await scene.commands.execute(methods.SHOW_BEFORE, [URI])
    assert messages(wire) == ["Pails: x.py did not exist before the turn."]
    assert scene.kept == []


async def test_the_changes_are_shown_as_a_diff(scene: Scene, wire: FakeWire) -> None:
    wire.answers["window/showDocument"] = lambda _: types.ShowDocumentResult(success=True)
    await scene.commands.execute(methods.SHOW_CHANGES, [URI])
    [(name, text)] = scene.kept
    assert name == "x.py.diff"
    assert "-old c\n+new c\n" in text


async def test_texts_by_uri(scene: Scene) -> None:
    assert await scene.reviews.content(f"pails-before://{PATH}?old/t1") == "before t1\n"
    assert "+new d\n" in await scene.reviews.content(f"pails-changes://{PATH}.diff")
    scene.old.is_new = True
    assert await scene.reviews.content(f"pails-before://{PATH}?old/t1") == ""
    with pytest.raises(NotFoundError):
        await scene.reviews.content(f"pails-before://{PATH}?gone/t1")


async def test_a_change_refreshes_the_lenses(
    make_client: Callable[..., Client], wire: FakeWire
) -> None:
    came = asyncio.Event()
    wire.answers["workspace/codeLens/refresh"] = lambda _: came.set()
    able = types.CodeLensWorkspaceClientCapabilities(refresh_support=True)
    workspace = types.WorkspaceClientCapabilities(code_lens=able)
    scene = Scene(make_client(types.ClientCapabilities(workspace=workspace)))
    scene.followers.tell(Envelope("new", 9, HunksResolved("t3", str(PATH), ("d",), "accepted")))
    await came.wait()
    scene.reviews.close()

"""Approvals and questions reach the person, by `pai/…` or by plain messages, and stale ones go."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcMethodNotFound

from pails.core.errors import InvalidRequestError
from pails.core.events import (
    ApprovalChoice,
    ApprovalRequested,
    ApprovalResolved,
    Envelope,
    Event,
    ProposedHunk,
    QuestionAnswered,
    QuestionAsked,
)
from pails.core.ports import ApprovalAnswer
from pails.lsp.asking import Prompter, QuestionReply, approve_by, ask_by, tell_resolved
from pails.lsp.bare import CANNOT_ASK, DISMISSED, NO_PART, BarePerson
from pails.lsp.client import Client
from pails.lsp.coding import decode, encode
from pails.lsp.protocol.asking import ApprovalRequestParams
from pails.lsp.protocol.sessions import PaiCapabilities
from pails.session.codec import encode_event
from tests.unit.lsp.conftest import FakeWire

SHOW = "window/showMessageRequest"
APPROVAL = ApprovalRequested(
    turn_id="t",
    call_id="c",
    approval_id="a",
    tool="run_command",
    title="Run pytest",
    text="pytest -q ⟨U+202E⟩",
    rule="run_command pytest",
    reason="approval: mode auto asks",
    diff="",
)
QUESTION = QuestionAsked("t", "q", "Which?", ("one", "two"))


class SessionAtHand:
    """The answers that would go to a session."""

    id = "s"

    def __init__(self, *pending: ApprovalRequested | QuestionAsked) -> None:
        self.pending = pending
        self.answers: list[Any] = []

    def answer_approval(self, approval_id: str, answer: ApprovalAnswer) -> bool:
        self.answers.append((approval_id, answer))
        return True

    def answer_question(self, question_id: str, answer: str | None) -> bool:
        self.answers.append((question_id, answer))
        return True


def prompter(session: SessionAtHand, client: Client) -> Prompter:
    person = BarePerson(client, decode(PaiCapabilities, {"events": True}))
    approve, ask = approve_by(client, person.approve), ask_by(client, person.ask)
    return Prompter(session, approve, ask, tell_resolved(client, "s"))  # type: ignore[arg-type]


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def envelope(event: Event) -> Envelope:
    return Envelope("s", 1, event)


async def test_answers_go_to_the_session(client: Client, wire: FakeWire) -> None:
    session = SessionAtHand()
    wire.answers["pai/approval/request"] = lambda _: {"choice": "reject", "feedback": "no"}
    wire.answers["pai/question/ask"] = lambda _: {"answer": "two"}
    asking = prompter(session, client)
    asking.push(envelope(APPROVAL))
    asking.push(envelope(QUESTION))
    await settle()
    assert session.answers == [
        ("a", ApprovalAnswer(ApprovalChoice.REJECT, "no")),
        ("q", "two"),
    ]
    [params] = wire.of("pai/approval/request")
    assert params == {"sessionId": "s", **encode_event(APPROVAL)}
    assert encode(ApprovalRequestParams.model_validate(params)) == params, "the documented type"
    assert wire.of("pai/question/ask") == [
        {
            "sessionId": "s",
            "turnId": "t",
            "questionId": "q",
            "text": "Which?",
            "options": ["one", "two"],
        }
    ]


@pytest.mark.parametrize(
    "answer", [None, {"choice": "allowEverything"}, 7, JsonRpcException("no dialog")]
)
async def test_without_a_usable_answer_it_stays_pending(
    client: Client, wire: FakeWire, answer: Any
) -> None:
    session = SessionAtHand()
    wire.answers["pai/approval/request"] = lambda _: answer
    asking = prompter(session, client)
    asking.push(envelope(APPROVAL))
    await settle()
    assert session.answers == []


async def test_what_the_client_cannot_show_is_asked_as_a_plain_message(
    client: Client, wire: FakeWire
) -> None:
    """Such as a diff of a type of file that has an editor of its own."""
    session = SessionAtHand()
    for method in ("pai/approval/request", "pai/question/ask"):
        wire.answers[method] = lambda _: JsonRpcException("the diff cannot be opened")
    wire.answers[SHOW] = lambda params: chosen(params.actions[0].title)(params)
    asking = prompter(session, client)
    asking.push(envelope(replace(APPROVAL, diff="-a\n+b")))
    asking.push(envelope(QUESTION))
    await settle()
    assert session.answers == [("a", ApprovalAnswer(ApprovalChoice.ALLOW_ONCE)), ("q", "one")]
    assert "-a\n+b" in wire.of(SHOW)[0].message


async def test_a_plain_message_is_taken_off_the_screen_when_the_turn_is_cancelled(
    client: Client, wire: FakeWire
) -> None:
    session = SessionAtHand()
    wire.answers["pai/approval/request"] = lambda _: JsonRpcException("no diff view")
    asking = prompter(session, client)
    asking.push(envelope(APPROVAL))
    await settle()
    asking.push(envelope(ApprovalResolved("t", "a", ApprovalChoice.CANCELLED)))
    await settle()
    assert (wire.withdrawn, session.answers) == ([SHOW], [])


async def test_after_an_answer_that_cannot_be_taken_the_person_is_asked_again(
    client: Client, wire: FakeWire
) -> None:
    class Strict(SessionAtHand):
        def answer_approval(self, approval_id: str, answer: ApprovalAnswer) -> bool:
            if answer.texts:
                raise InvalidRequestError("no such part")
            return super().answer_approval(approval_id, answer)

    answers = [{"choice": "allowOnce"}, {"choice": "allowOnce", "texts": {"/else": "x"}}]
    wire.answers["pai/approval/request"] = lambda _: answers.pop()
    session = Strict()
    prompter(session, client).push(envelope(APPROVAL))
    await settle()
    assert session.answers == [("a", ApprovalAnswer(ApprovalChoice.ALLOW_ONCE))]


async def test_a_client_that_never_understands_is_left_alone(
    client: Client, wire: FakeWire
) -> None:
    class Never(SessionAtHand):
        def answer_approval(self, approval_id: str, answer: ApprovalAnswer) -> bool:
            raise InvalidRequestError("no such part")

    wire.answers["pai/approval/request"] = lambda _: {"choice": "allowOnce"}
    prompter(Never(), client).push(envelope(APPROVAL))
    await settle()
    assert len(wire.of("pai/approval/request")) == 3


async def test_a_declined_question_is_answered_with_nothing(client: Client, wire: FakeWire) -> None:
    session = SessionAtHand()
    wire.answers["pai/question/ask"] = lambda _: {"answer": None}
    prompter(session, client).push(envelope(QUESTION))
    await settle()
    assert session.answers == [("q", None)]


async def test_what_was_resolved_elsewhere_is_taken_off_the_screen(
    client: Client, wire: FakeWire
) -> None:
    session = SessionAtHand()
    asking = prompter(session, client)
    asking.push(envelope(APPROVAL))
    asking.push(envelope(QUESTION))
    await settle()
    asking.push(envelope(ApprovalResolved("t", "a", ApprovalChoice.CANCELLED)))
    asking.push(envelope(QuestionAnswered("t", "q", "one")))
    await settle()
    assert sorted(wire.withdrawn) == ["pai/approval/request", "pai/question/ask"]
    assert session.answers == []
    resolved = {"sessionId": "s", "approvalId": "a", "choice": "cancelled"}
    assert wire.of("pai/approval/resolved") == [resolved]


async def test_what_waits_is_asked_again_but_not_twice(client: Client, wire: FakeWire) -> None:
    session = SessionAtHand(APPROVAL, QUESTION)
    asking = prompter(session, client)
    asking.push(envelope(APPROVAL))
    asking.ask_pending()
    await settle()
    assert [method for method, _ in wire.asked] == ["pai/approval/request", "pai/question/ask"]
    asking.close()
    await settle()
    assert len(wire.withdrawn) == 2


@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        (
            {"choice": "allowOnce", "hunkIds": ["h1", "h3"]},
            ApprovalAnswer(ApprovalChoice.ALLOW_ONCE, hunk_ids=("h1", "h3")),
        ),
        (
            {"choice": "allowOnce", "texts": {"/w/名.py": "x = 1\n"}},
            ApprovalAnswer(ApprovalChoice.ALLOW_ONCE, texts={"/w/名.py": "x = 1\n"}),
        ),
    ],
)
async def test_an_answer_may_take_parts_or_other_texts(
    client: Client, wire: FakeWire, sent: Any, answer: ApprovalAnswer
) -> None:
    session = SessionAtHand()
    wire.answers["pai/approval/request"] = lambda _: sent
    prompter(session, client).push(envelope(APPROVAL))
    await settle()
    assert session.answers == [("a", answer)]


# -- clients that know plain LSP only ---------------------------------------------------------

PLAIN = decode(PaiCapabilities, {})

Approving = Callable[[Any], Awaitable[ApprovalAnswer | None]]


def chosen(title: str | None) -> Callable[[Any], types.MessageActionItem | None]:
    return lambda _: None if title is None else types.MessageActionItem(title)


@pytest.mark.parametrize(
    ("title", "answer"),
    [
        ("Allow once", ApprovalAnswer(ApprovalChoice.ALLOW_ONCE)),
        (
            "Allow for this session: run_command pytest",
            ApprovalAnswer(ApprovalChoice.ALLOW_SESSION),
        ),
        ("Reject", ApprovalAnswer(ApprovalChoice.REJECT)),
        (None, ApprovalAnswer(ApprovalChoice.UNANSWERED, DISMISSED)),
        ("something else", ApprovalAnswer(ApprovalChoice.UNANSWERED, DISMISSED)),
    ],
)
async def test_bare_approvals(
    client: Client, wire: FakeWire, title: str | None, answer: ApprovalAnswer
) -> None:
    wire.answers[SHOW] = chosen(title)
    assert await BarePerson(client, PLAIN).approve("s", APPROVAL) == answer
    [params] = wire.of(SHOW)
    assert "pytest -q ⟨U+202E⟩" in params.message and "mode auto asks" in params.message
    assert [action.title for action in params.actions] == [
        "Allow once",
        "Allow for this session: run_command pytest",
        "Reject",
    ]


async def test_bare_approvals_without_a_rule_cannot_be_allowed_for_longer(
    client: Client, wire: FakeWire
) -> None:
    wire.answers[SHOW] = chosen("Allow for this session: ")
    once = ApprovalRequested("t", "c", "a", "x", "Do x", "x", rule="", reason="r", diff="-a\n+b")
    answer = await BarePerson(client, PLAIN).approve("s", once)
    assert answer == ApprovalAnswer(ApprovalChoice.UNANSWERED, DISMISSED)
    [params] = wire.of(SHOW)
    assert [action.title for action in params.actions] == ["Allow once", "Reject"]
    assert "-a\n+b" in params.message


HUNKS = (
    ProposedHunk("h1", "/w/a.py", 0, "old\n", "new 名\n"),
    ProposedHunk("h2", "/w/a.py", 8, "", "safe \u202e evil\n"),
)
IN_PARTS = replace(APPROVAL, tool="edit_file", hunks=HUNKS)


@pytest.mark.parametrize(
    ("decisions", "answer"),
    [
        (["Take this part"] * 2, ApprovalAnswer(ApprovalChoice.ALLOW_ONCE, "", ("h1", "h2"))),
        (
            ["Leave this part out", "Take this part"],
            ApprovalAnswer(ApprovalChoice.ALLOW_ONCE, hunk_ids=("h2",)),
        ),
        (["Leave this part out"] * 2, ApprovalAnswer(ApprovalChoice.REJECT, NO_PART)),
        (["Take this part", None], ApprovalAnswer(ApprovalChoice.UNANSWERED, DISMISSED)),
    ],
)
async def test_bare_approvals_part_by_part(
    client: Client, wire: FakeWire, decisions: list[str | None], answer: ApprovalAnswer
) -> None:
    said = iter(["Decide part by part", *decisions])
    wire.answers[SHOW] = lambda _: chosen(next(said))(None)
    assert await BarePerson(client, PLAIN).approve("s", IN_PARTS) == answer
    _, first, second = wire.of(SHOW)
    assert first.message.endswith("/w/a.py line 1\n\n-old\n+new 名")
    assert second.message.endswith("part 2 of 2, /w/a.py line 9\n\n+safe ⟨U+202E⟩ evil")


async def test_one_part_is_the_whole(client: Client, wire: FakeWire) -> None:
    wire.answers[SHOW] = chosen("Decide part by part")
    one = replace(IN_PARTS, hunks=HUNKS[:1])
    answer = await BarePerson(client, PLAIN).approve("s", one)
    assert answer == ApprovalAnswer(ApprovalChoice.UNANSWERED, DISMISSED)


@pytest.mark.parametrize(("typed", "reason"), [("too clever\n", "too clever"), (None, "")])
async def test_who_can_type_can_say_why(
    client: Client, wire: FakeWire, typed: str | None, reason: str
) -> None:
    wire.answers[SHOW] = chosen("Reject, and say why")
    wire.answers["pai/question/ask"] = lambda _: {"answer": typed}
    person = BarePerson(client, decode(PaiCapabilities, {"questions": True}))
    answer = await person.approve("s", APPROVAL)
    assert answer == ApprovalAnswer(ApprovalChoice.REJECT, reason)


async def test_bare_approvals_that_cannot_be_shown_are_unanswered(
    client: Client, wire: FakeWire
) -> None:
    wire.answers[SHOW] = lambda _: JsonRpcMethodNotFound.of(SHOW)
    answer = await BarePerson(client, PLAIN).approve("s", APPROVAL)
    assert answer == ApprovalAnswer(ApprovalChoice.UNANSWERED, CANNOT_ASK)


async def test_dismissed_stays_pending_where_it_can_be_answered_by_method(
    client: Client, wire: FakeWire
) -> None:
    wire.answers[SHOW] = chosen(None)
    person = BarePerson(client, decode(PaiCapabilities, {"events": True}))
    assert await person.approve("s", APPROVAL) is None
    assert await person.ask("s", QUESTION) is None


@pytest.mark.parametrize(
    ("title", "reply"), [("two", QuestionReply("two")), (None, QuestionReply(None))]
)
async def test_bare_questions(
    client: Client, wire: FakeWire, title: str | None, reply: QuestionReply
) -> None:
    wire.answers[SHOW] = chosen(title)
    assert await BarePerson(client, PLAIN).ask("s", QUESTION) == reply


async def test_bare_questions_that_want_typing_go_unanswered_and_say_so(
    client: Client, wire: FakeWire
) -> None:
    free = QuestionAsked("t", "q", "What name?")
    assert await BarePerson(client, PLAIN).ask("s", free) == QuestionReply(None)
    [shown] = wire.of("window/showMessage")
    assert "What name?" in shown.message and "no way to type" in shown.message
    assert wire.asked == []

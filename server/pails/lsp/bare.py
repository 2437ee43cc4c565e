"""Approvals and questions for clients that know plain LSP only: `window/showMessageRequest`."""

import logging
from collections.abc import Sequence

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from pails.core.events import ApprovalChoice, ApprovalRequested, ProposedHunk, QuestionAsked
from pails.core.hunks import diff_lines
from pails.core.ports import ApprovalAnswer
from pails.lsp.asking import QuestionReply, ask_reason
from pails.lsp.client import Client
from pails.lsp.protocol.sessions import PaiCapabilities
from pails.policy.visible import visible_diff, visible_line

log = logging.getLogger(__name__)

ALLOW_ONCE = "Allow once"
ALLOW_SESSION = "Allow for this session: "
BY_PART = "Decide part by part"
REJECT_WITH_REASON = "Reject, and say why"
REJECT = "Reject"
TAKE = "Take this part"
LEAVE = "Leave this part out"
NO_PART = "the person took none of its parts"
DISMISSED = "the question was closed without an answer"
CANNOT_ASK = "this editor cannot show the question"


class BarePerson:
    """The person behind a client without `pai/approval/request`.

    A request that is dismissed counts as unanswered, for such a client has no other way to answer;
    unless it follows events: then it stays pending and can be answered by method. A client that
    answers questions can say why it rejects.
    """

    def __init__(self, client: Client, can: PaiCapabilities) -> None:
        self._client = client
        self._has_events = can.events
        self._can_type = can.questions

    async def approve(self, session_id: str, wanted: ApprovalRequested) -> ApprovalAnswer | None:
        """Ask with the whole text; nothing is cut off what a person is to allow."""
        try:
            return await self._ask_approval(session_id, wanted)
        except JsonRpcException as error:
            log.warning("the client cannot show an approval: %s", error)
            return self._unanswered(CANNOT_ASK)

    async def ask(self, _session_id: str, wanted: QuestionAsked) -> QuestionReply | None:
        """Offer the options. Free text cannot be typed here, so such a question goes unanswered."""
        if not wanted.options:
            self._client.show(
                types.MessageType.Info,
                f"Pails asks: {wanted.text}\nThis client has no way to type an answer, so the "
                "agent goes on without one.",
            )
            return None if self._has_events else QuestionReply(None)
        try:
            chosen = await self._choose(f"Pails asks: {wanted.text}", list(wanted.options))
        except JsonRpcException as error:
            log.warning("the client cannot show a question: %s", error)
            chosen = None
        return QuestionReply(chosen) if chosen or not self._has_events else None

    async def _ask_approval(
        self, session_id: str, wanted: ApprovalRequested
    ) -> ApprovalAnswer | None:
        allow_session = f"{ALLOW_SESSION}{wanted.rule}"
        offered = (
            (ALLOW_ONCE, True),
            (allow_session, bool(wanted.rule)),
            (BY_PART, len(wanted.hunks) > 1),
            (REJECT_WITH_REASON, self._can_type),
            (REJECT, True),
        )
        titles = [title for title, is_offered in offered if is_offered]
        chosen = await self._choose(_approval_text(wanted), titles)
        if chosen not in titles:
            return self._unanswered(DISMISSED)
        if chosen == ALLOW_ONCE:
            return ApprovalAnswer(ApprovalChoice.ALLOW_ONCE)
        if chosen == allow_session:
            return ApprovalAnswer(ApprovalChoice.ALLOW_SESSION)
        if chosen == BY_PART:
            return await self._ask_parts(wanted.hunks)
        asked = chosen == REJECT_WITH_REASON
        why = await ask_reason(self._client, session_id) if asked else ""
        return ApprovalAnswer(ApprovalChoice.REJECT, why or "")

    async def _ask_parts(self, hunks: Sequence[ProposedHunk]) -> ApprovalAnswer | None:
        """One question for each part; when one is dismissed nothing is decided."""
        taken: list[str] = []
        for number, hunk in enumerate(hunks, 1):
            title = f"Pails: part {number} of {len(hunks)}, {hunk.path} line {hunk.line + 1}"
            part = visible_diff("\n".join(diff_lines(hunk.old, hunk.new)))
            chosen = await self._choose(f"{visible_line(title)}\n\n{part}", [TAKE, LEAVE])
            if chosen not in (TAKE, LEAVE):
                return self._unanswered(DISMISSED)
            if chosen == TAKE:
                taken.append(hunk.id)
        if not taken:
            return ApprovalAnswer(ApprovalChoice.REJECT, NO_PART)
        return ApprovalAnswer(ApprovalChoice.ALLOW_ONCE, hunk_ids=tuple(taken))

    async def _choose(self, text: str, titles: list[str]) -> str | None:
        """The title that the person chose; None when the message was dismissed."""
        params = types.ShowMessageRequestParams(
            types.MessageType.Warning, text, [types.MessageActionItem(title) for title in titles]
        )
        item = await self._client.request(types.WINDOW_SHOW_MESSAGE_REQUEST, params)
        return item.title if isinstance(item, types.MessageActionItem) else None

    def _unanswered(self, why: str) -> ApprovalAnswer | None:
        return None if self._has_events else ApprovalAnswer(ApprovalChoice.UNANSWERED, why)


def _approval_text(wanted: ApprovalRequested) -> str:
    parts = [f"Pails: {wanted.title}", wanted.text, wanted.diff, f"({wanted.reason})"]
    return "\n\n".join(part for part in parts if part.strip("() \n"))

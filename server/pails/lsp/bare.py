"""Approvals and questions for clients that know plain LSP only: `window/showMessageRequest`."""

import logging

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from pails.core.events import ApprovalChoice, ApprovalRequested, QuestionAsked
from pails.core.ports import ApprovalAnswer
from pails.lsp.asking import QuestionReply
from pails.lsp.client import Client

log = logging.getLogger(__name__)

ALLOW_ONCE = "Allow once"
ALLOW_SESSION = "Allow for this session: "
REJECT = "Reject"
DISMISSED = "the question was closed without an answer"
CANNOT_ASK = "this editor cannot show the question"


class BarePerson:
    """The person behind a client without `pai/…`.

    A request that is dismissed counts as unanswered, for such a client has no other way to answer;
    unless it follows events (`has_events`): then it stays pending and can be answered by method.
    """

    def __init__(self, client: Client, *, has_events: bool) -> None:
        self._client = client
        self._has_events = has_events

    async def approve(self, _session_id: str, wanted: ApprovalRequested) -> ApprovalAnswer | None:
        """Ask with the whole text; nothing is cut off what a person is to allow."""
        allow_session = f"{ALLOW_SESSION}{wanted.rule}"
        actions = [ALLOW_ONCE, *([allow_session] if wanted.rule else []), REJECT]
        try:
            chosen = await self._choose(_approval_text(wanted), actions)
        except JsonRpcException as error:
            log.warning("the client cannot show an approval: %s", error)
            return self._unanswered(CANNOT_ASK)
        if chosen == ALLOW_ONCE:
            return ApprovalAnswer(ApprovalChoice.ALLOW_ONCE)
        if wanted.rule and chosen == allow_session:
            return ApprovalAnswer(ApprovalChoice.ALLOW_SESSION)
        if chosen == REJECT:
            return ApprovalAnswer(ApprovalChoice.REJECT)
        return self._unanswered(DISMISSED)

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

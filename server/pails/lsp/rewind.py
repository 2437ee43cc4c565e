"""Going back to before a turn: the `pai/…` methods, and the commands for plain LSP.

By plain LSP the person sees in a message what would happen, and chooses there.
"""

import logging
from collections.abc import Sequence
from pathlib import Path

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from pails.core.errors import InvalidRequestError, NotFoundError, PailsError
from pails.core.rewind import RewindReport, TurnPoint, summary
from pails.core.text import first_line, shown_path
from pails.lsp.client import Client
from pails.lsp.coding import decode_arguments, encode
from pails.lsp.following import Followers
from pails.lsp.methods import REWIND
from pails.lsp.protocol.commands import RewindArguments, UndoRewindArguments
from pails.lsp.protocol.rewinding import (
    RewindConflict,
    RewindResult,
    RewoundFile,
    SessionRewindParams,
    SessionUndoRewindParams,
    SnapshotsListParams,
    SnapshotsListResult,
)
from pails.lsp.protocol.rewinding import (
    TurnPoint as SentTurnPoint,
)
from pails.policy.visible import visible_line
from pails.session.manager import SessionManager
from pails.session.session import Session

log = logging.getLogger(__name__)

BOTH, TALK, FILES, CANCEL = "Rewind", "Talk only", "Files only", "Cancel"
_TITLE_CHARS = 60


class Rewinding:
    """Answers for all open sessions."""

    def __init__(self, client: Client, sessions: SessionManager, followers: Followers) -> None:
        self._client = client
        self._sessions = sessions
        self._followers = followers

    # -- methods -------------------------------------------------------------------------------

    async def list(self, params: SnapshotsListParams) -> SnapshotsListResult:
        points = await self._sessions.get(params.session_id).turns()
        return SnapshotsListResult(turns=[_point(point) for point in points])

    async def rewind(self, params: SessionRewindParams) -> RewindResult:
        if not params.talk and not params.files:
            raise InvalidRequestError("Neither the talk nor the files are to go back: name one.")
        report = await self._sessions.get(params.session_id).rewind(
            params.to_turn_id, talk=params.talk, files=params.files, preview=params.preview
        )
        return _result(report)

    async def undo(self, params: SessionUndoRewindParams) -> RewindResult:
        return _result(await self._sessions.get(params.session_id).undo_rewind(params.rewind_id))

    # -- commands ------------------------------------------------------------------------------

    async def execute(self, command: str, arguments: Sequence[object]) -> object:
        """Run a command of `methods.REWIND_COMMANDS`; what went wrong is shown as well."""
        try:
            if command == REWIND:
                given = decode_arguments(RewindArguments, command, arguments)
                report = await self._ask_and_rewind(given)
            else:
                undo = decode_arguments(UndoRewindArguments, command, arguments)
                report = await self._undo(undo)
        except PailsError as error:
            self._client.show(types.MessageType.Error, f"Pails: {error}")
            raise
        return None if report is None else encode(_result(report))

    async def _ask_and_rewind(self, given: RewindArguments) -> RewindReport | None:
        """None when the person cancelled."""
        session = self._session(given.session_id)
        point = await _turn(session, given.turn_id)
        preview, no_files = await _preview(session, point.turn_id)
        titles = [BOTH, TALK, FILES, CANCEL] if preview.files else [TALK, CANCEL]
        title = first_line(point.title, _TITLE_CHARS)
        text = f"Pails: back to before “{title}”?\n{_shown(preview, session)}"
        chosen = await self._choose(f"{text}\n{no_files}".strip(), titles)
        if chosen not in titles or chosen == CANCEL:
            return None
        report = await session.rewind(
            point.turn_id, talk=chosen in (BOTH, TALK), files=chosen in (BOTH, FILES)
        )
        self._say(f"Pails went back.\n{_shown(report, session)}")
        return report

    async def _undo(self, given: UndoRewindArguments) -> RewindReport:
        session = self._session(given.session_id)
        report = await session.undo_rewind(given.rewind_id)
        self._say(f"Pails took the rewind back.\n{_shown(report, session)}")
        return report

    async def _choose(self, text: str, titles: Sequence[str]) -> str | None:
        actions = [types.MessageActionItem(title) for title in titles]
        params = types.ShowMessageRequestParams(types.MessageType.Warning, text, actions)
        try:
            item = await self._client.request(types.WINDOW_SHOW_MESSAGE_REQUEST, params)
        except JsonRpcException as error:
            log.warning("the client cannot show a question: %s", error)
            return None
        return item.title if isinstance(item, types.MessageActionItem) else None

    def _session(self, session_id: str | None) -> Session:
        """The named session, else the one in which something happened last."""
        if session_id is not None:
            return self._sessions.get(session_id)
        sessions = self._followers.sessions
        if not sessions:
            raise InvalidRequestError("Nothing has happened here yet that could be taken back.")
        return max(sessions, key=lambda session: session.updated_at)

    def _say(self, text: str) -> None:
        self._client.show(types.MessageType.Info, text)


async def _turn(session: Session, turn_id: str | None) -> TurnPoint:
    """The named turn, else the last one that is still a part of the conversation."""
    points = await session.turns()
    wanted = [p for p in points if (p.in_talk if turn_id is None else p.turn_id == turn_id)]
    if wanted:
        return wanted[-1]
    if turn_id is None:
        raise InvalidRequestError("No turn is left in this conversation that could be taken back.")
    raise NotFoundError(f"This session has no turn {turn_id!r}. Nothing was changed.")


async def _preview(session: Session, turn_id: str) -> tuple[RewindReport, str]:
    """What a rewind would do; and why not with files, where these cannot go back."""
    try:
        return await session.rewind(turn_id, talk=True, files=True, preview=True), ""
    except PailsError as error:
        return await session.rewind(turn_id, talk=True, files=False, preview=True), str(error)


def _shown(report: RewindReport, session: Session) -> str:
    paths = [item.path for item in (*report.files, *report.conflicts)]
    shown = [visible_line(shown_path(Path(path), session.workspace)) for path in paths]
    return summary(report, shown)


def _result(report: RewindReport) -> RewindResult:
    return RewindResult(
        rewind_id=report.rewind_id or None,
        to_turn_id=report.to_turn_id,
        turns=list(report.turns),
        files=[RewoundFile(path=file.path, how=file.how) for file in report.files],
        conflicts=[RewindConflict(path=item.path, reason=item.reason) for item in report.conflicts],
        notes=list(report.notes),
    )


def _point(point: TurnPoint) -> SentTurnPoint:
    return SentTurnPoint(
        turn_id=point.turn_id,
        title=point.title,
        files=list(point.files),
        ran_commands=point.ran_commands,
        snapshot_id=point.before or None,
        in_talk=point.in_talk,
    )

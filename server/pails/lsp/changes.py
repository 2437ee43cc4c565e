"""The `pai/changes/…` methods: decode, call the review of a session, encode."""

from pails.core.review import FileReview, HunkDecision, Origin, Resolution, ReviewHunk, TurnReview
from pails.lsp.coding import absolute_path
from pails.lsp.protocol.changes import (
    ChangesExportOriginParams,
    ChangesExportOriginResult,
    ChangesListParams,
    ChangesListResult,
    ChangesOriginParams,
    ChangesOriginResult,
    ChangesResolveParams,
    ChangesResolveResult,
    ChangesTextParams,
    ChangesTextResult,
    FileChanges,
    HunkInfo,
    OriginRun,
    TurnChanges,
    UnresolvedHunk,
)
from pails.session.manager import SessionManager

DECISIONS: dict[str, HunkDecision] = {
    "accept": "accepted",
    "reject": "rejected",
    "replace": "replaced",
}
"""What a client asks for, and what it is when it is done."""


class Changes:
    """Answers for all open sessions."""

    def __init__(self, sessions: SessionManager) -> None:
        self._sessions = sessions

    async def list(self, params: ChangesListParams) -> ChangesListResult:
        turns = await self._sessions.get(params.session_id).review.list(params.turn_id)
        return ChangesListResult(turns=[_turn(turn) for turn in turns])

    async def resolve(self, params: ChangesResolveParams) -> ChangesResolveResult:
        resolution = await self._sessions.get(params.session_id).review.resolve(
            params.turn_id,
            DECISIONS[params.decision],
            path=None if params.path is None else absolute_path(params.path),
            hunk_ids=params.hunk_ids,
            feedback=params.feedback,
            text=params.text,
        )
        return encode_resolution(resolution)

    async def text(self, params: ChangesTextParams) -> ChangesTextResult:
        review = self._sessions.get(params.session_id).review
        text = await review.text_before(params.turn_id, absolute_path(params.path))
        return ChangesTextResult(text=text)

    async def origin(self, params: ChangesOriginParams) -> ChangesOriginResult:
        path, named = absolute_path(params.path), params.session_id
        sessions = self._sessions.opened if named is None else [self._sessions.get(named)]
        runs = [run for session in sessions for run in await session.review.origin(path)]
        runs.sort(key=lambda run: run.first)
        return ChangesOriginResult(runs=[_origin(run) for run in runs])

    async def export_origin(self, params: ChangesExportOriginParams) -> ChangesExportOriginResult:
        origin = await self._sessions.get(params.session_id).review.export_origin()
        return ChangesExportOriginResult(origin=origin)


def encode_resolution(resolution: Resolution) -> ChangesResolveResult:
    return ChangesResolveResult(
        resolved=list(resolution.resolved),
        unresolved=[
            UnresolvedHunk(hunk_id=left.hunk_id, path=str(left.path), reason=left.reason)
            for left in resolution.unresolved
        ],
    )


def _turn(turn: TurnReview) -> TurnChanges:
    return TurnChanges(
        turn_id=turn.turn_id, title=turn.title, files=[_file(file) for file in turn.files]
    )


def _file(file: FileReview) -> FileChanges:
    return FileChanges(
        path=str(file.path),
        hunks=[_hunk(hunk) for hunk in file.hunks],
        created=file.created,
        deleted=file.deleted,
        moved_from=None if file.moved_from is None else str(file.moved_from),
        note=file.note,
    )


def _hunk(hunk: ReviewHunk) -> HunkInfo:
    return HunkInfo(
        id=hunk.id,
        state=hunk.state,
        old=hunk.old,
        new=hunk.new,
        old_line=hunk.old_line,
        line=hunk.line,
        feedback=hunk.feedback,
    )


def _origin(run: Origin) -> OriginRun:
    return OriginRun(
        first=run.first,
        last=run.last,
        session_id=run.session_id,
        turn_id=run.turn_id,
        approved=run.approved,
    )

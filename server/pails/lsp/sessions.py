"""The sessions as a client sees them: made, listed, opened, copied, named, deleted, carried off."""

import re
from collections.abc import Iterable
from pathlib import Path

from pails.core.errors import InvalidRequestError
from pails.core.text import join_surrogates
from pails.lsp import uris
from pails.lsp.client import Client
from pails.lsp.coding import absolute_path
from pails.lsp.documents import OpenDocuments
from pails.lsp.following import Followers
from pails.lsp.protocol.base import Empty
from pails.lsp.protocol.sessions import (
    MentionedPlace,
    MentionSearchParams,
    MentionSearchResult,
    SessionDeleteParams,
    SessionExportParams,
    SessionExportResult,
    SessionForkParams,
    SessionImportParams,
    SessionInfo,
    SessionListParams,
    SessionListResult,
    SessionNewParams,
    SessionOpenParams,
    SessionRenameParams,
    SessionRestoreParams,
    SessionSummary,
)
from pails.session.finding import FileFinder
from pails.session.manager import SessionManager
from pails.session.session import Session

_SUFFIXES = {"log": ".jsonl", "markdown": ".md"}


class Sessions:
    """Answers the `pai/session/…` requests that are about whole sessions."""

    def __init__(
        self,
        client: Client,
        documents: OpenDocuments,
        manager: SessionManager,
        followers: Followers,
    ) -> None:
        self._client = client
        self._documents = documents
        self._finders: dict[Path, FileFinder] = {}
        self._manager = manager
        self._followers = followers

    async def new(self, params: SessionNewParams) -> SessionInfo:
        workspace = self._workspace(params.workspace)
        session = await self._manager.new(workspace, params.mode, params.model)
        return await self._followed(session)

    async def list(self, params: SessionListParams) -> SessionListResult:
        workspace = None if params.workspace is None else absolute_path(params.workspace)
        found = await self._manager.list(workspace)
        return SessionListResult(
            sessions=[
                SessionSummary(
                    session_id=summary.session_id,
                    workspace=summary.workspace,
                    title=summary.title,
                    updated_at=summary.updated_at,
                )
                for summary in found
            ]
        )

    async def open(self, params: SessionOpenParams) -> SessionInfo:
        workspace = None if params.workspace is None else absolute_path(params.workspace)
        session = await self._manager.open(params.session_id, workspace)
        await self._followers.follow(session, params.after_seq)
        return _info(session)

    async def fork(self, params: SessionForkParams) -> SessionInfo:
        return await self._followed(
            await self._manager.fork(params.session_id, params.before_turn_id)
        )

    async def rename(self, params: SessionRenameParams) -> Empty:
        await self._manager.rename(params.session_id, join_surrogates(params.title))
        return Empty()

    async def delete(self, params: SessionDeleteParams) -> Empty:
        await self._manager.delete(params.session_id)
        self._followers.forget(params.session_id)
        return Empty()

    async def restore(self, params: SessionRestoreParams) -> Empty:
        await self._manager.restore(params.session_id)
        return Empty()

    async def export(self, params: SessionExportParams) -> SessionExportResult:
        as_markdown = params.form == "markdown"
        title, text = await self._manager.export(params.session_id, as_markdown=as_markdown)
        name = re.sub(r"[^\w.-]+", "-", title).strip("-.") or params.session_id
        return SessionExportResult(name=f"{name}{_SUFFIXES[params.form]}", text=text)

    async def import_log(self, params: SessionImportParams) -> SessionInfo:
        workspace = self._workspace(params.workspace)
        text = join_surrogates(params.text)
        return await self._followed(await self._manager.import_log(text, workspace))

    async def mentions(self, params: MentionSearchParams) -> MentionSearchResult:
        workspace = self._workspace(params.workspace)
        finder = self._finders.setdefault(workspace, FileFinder(workspace))
        paths = [path for path, _ in self._documents.files()]
        found = await finder.find(params.query, params.limit, _below(workspace, paths))
        places = [
            MentionedPlace(
                kind="folder" if place.is_folder else "file",
                name=place.name,
                uri=uris.from_path(workspace / place.name),
            )
            for place in found
        ]
        return MentionSearchResult(places=places)

    async def _followed(self, session: Session) -> SessionInfo:
        await self._followers.follow(session, after_seq=0)
        return _info(session)

    def _workspace(self, named: str | None) -> Path:
        if named is not None:
            return absolute_path(named)
        if not self._client.folders:
            raise InvalidRequestError(
                "No folder is open in the editor. Open one, or name a workspace."
            )
        return self._client.folders[0]


def _below(workspace: Path, paths: Iterable[Path]) -> tuple[str, ...]:
    """The names below the workspace of those that lie there."""
    inside = (path for path in paths if path.is_relative_to(workspace))
    return tuple(path.relative_to(workspace).as_posix() for path in inside)


def _info(session: Session) -> SessionInfo:
    return SessionInfo(
        session_id=session.id,
        workspace=str(session.workspace),
        title=session.title,
        mode=session.mode,
        model=session.model_name,
        seq=session.seq,
        updated_at=session.updated_at,
        state=session.run_state,
    )

"""Going back to before a turn, and taking that back.

The talk goes back by an event alone: the log keeps everything. The files go back by a plan (see
`reversal`), which `carrying_out` follows. Before the first of them changes, two snapshots hold what
the plan starts from and what it leads to, and the log says so: so a rewind can be undone like
anything else, even one that was cut off in the middle.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pails.core.errors import InvalidRequestError, NotFoundError
from pails.core.events import RewindStarted, Rewound
from pails.core.ports import Texts
from pails.core.rewind import RewindConflict, RewindReport, RewoundFile, TurnPoint
from pails.core.tasks import uninterrupted
from pails.session.ids import new_id
from pails.session.recorder import Recorder
from pails.session.rewinding.carrying_out import carry_out
from pails.session.rewinding.deeds import Deeds
from pails.session.rewinding.reversal import Reversal, Reverser, told_path
from pails.session.rewinding.session_snapshots import SessionSnapshots
from pails.snapshots.entries import Entry, Snapshot, blob_id
from pails.snapshots.restore import Failure, result_of
from pails.tools.files.document import Document
from pails.tools.files.documents import Documents

_PREVIEW = "preview"


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A rewind that is planned and can be carried out."""

    now: Snapshot
    reversal: Reversal
    documents: Mapping[Path, Document]


class SessionRewinder:
    """Implements `core.ports.Rewinder` for the model, and the rest for the person."""

    def __init__(
        self,
        workspace: Path,
        recorder: Recorder,
        snapshots: SessionSnapshots,
        *,
        documents: Documents,
        texts: Texts,
    ) -> None:
        self._workspace = workspace
        self._recorder = recorder
        self._snapshots = snapshots
        self._documents = documents
        self._texts = texts
        self._editor = documents.editor
        self._busy = asyncio.Lock()  # the model's rewinds come in the middle of a turn

    async def turns(self) -> Sequence[TurnPoint]:
        return (await self._deeds()).points()

    async def preview_files(self, to_turn_id: str) -> RewindReport:
        return await self.preview(to_turn_id, talk=False, files=True)

    async def rewind_files(self, to_turn_id: str) -> RewindReport:
        return await self.rewind(to_turn_id, talk=False, files=True)

    async def preview(self, to_turn_id: str, *, talk: bool, files: bool) -> RewindReport:
        """What a rewind would do. Raises `NotFoundError`, and `SnapshotError` for files."""
        deeds = await self._deeds()
        report = RewindReport(to_turn_id, _leaving(deeds, to_turn_id) if talk else ())
        if not files:
            return report
        prepared = await self._prepared_rewind(_PREVIEW, deeds, to_turn_id)
        return self._told(report, prepared.reversal, ())

    async def rewind(self, to_turn_id: str, *, talk: bool, files: bool) -> RewindReport:
        """Go back to before the turn. Raises as `preview`."""
        return await uninterrupted(self._rewind(to_turn_id, talk=talk, files=files))

    async def fork(self, from_turn_id: str) -> None:
        """Have the turns after this one leave the conversation; the files stay as they are."""
        after = (await self._deeds()).since(from_turn_id)[1:]
        if after:
            await self.rewind(after[0].turn_id, talk=True, files=False)

    async def undo(self, rewind_id: str | None = None) -> RewindReport:
        """Take back a rewind, the last one that is not taken back when none is named.

        What the person did since stays. Raises `NotFoundError`, `InvalidRequestError`.
        """
        return await uninterrupted(self._undo(rewind_id))

    async def _rewind(self, to_turn_id: str, *, talk: bool, files: bool) -> RewindReport:
        async with self._busy:
            deeds = await self._deeds()
            report = RewindReport(to_turn_id, _leaving(deeds, to_turn_id) if talk else ())
            event = Rewound(new_id("rewind"), to_turn_id, talk)
            if files:
                now = f"{event.rewind_id}/now"
                prepared = await self._prepared_rewind(now, deeds, to_turn_id)
                event, report = await self._carry_out(event, report, prepared)
            return await self._conclude(event, report)

    async def _undo(self, rewind_id: str | None) -> RewindReport:
        async with self._busy:
            deeds = await self._deeds()
            undone = _to_undo(deeds, rewind_id)
            turns = _returning(deeds, undone)
            report = RewindReport(undone.to_turn_id, turns)
            event = Rewound(
                new_id("rewind"), undone.to_turn_id, undone.talk, undoes=undone.rewind_id
            )
            if undone.snapshot_id:
                ends = undone.snapshot_id, undone.after_id
                prepared = await self._prepared(
                    f"{event.rewind_id}/now", lambda reverser: reverser.of_rewind(*ends)
                )
                event, report = await self._carry_out(event, report, prepared)
            return await self._conclude(event, report)

    async def _conclude(self, event: Rewound, report: RewindReport) -> RewindReport:
        await self._recorder.emit(event)
        if event.talk:  # what the model has read is not in its conversation any more
            self._documents.forget()
        return replace(report, rewind_id=event.rewind_id)

    async def _deeds(self) -> Deeds:
        """In a thread, since the log may be long; with the snapshots that are still under way."""
        await self._snapshots.settle()
        envelopes = await self._recorder.replay(0)
        return await asyncio.to_thread(lambda: Deeds(envelope.event for envelope in envelopes))

    # -- planning

    async def _prepared_rewind(self, name: str, deeds: Deeds, to_turn_id: str) -> _Prepared:
        turns, undone = deeds.since(to_turn_id), deeds.rewinds.undone_files
        return await self._prepared(name, lambda reverser: reverser.of_turns(turns, undone))

    async def _prepared(self, name: str, plan: Callable[[Reverser], Reversal]) -> _Prepared:
        """The workspace is kept as it is under this name, and the plan starts from there."""
        now = await self._snapshots.take(name)
        documents = await self._open_documents()

        def run() -> Reversal:
            store = self._snapshots.workspace.store
            return plan(Reverser(store, self._texts, self._workspace, now, documents))

        return _Prepared(now, await asyncio.to_thread(run), documents)

    async def _open_documents(self) -> dict[Path, Document]:
        """The open documents of the workspace, by real path."""
        paths = [buffer.path for buffer in self._editor.open_buffers()] if self._editor else []
        inside = [path for path in paths if path.is_relative_to(self._workspace)]
        found = [await self._documents.read_or_new(path) for path in inside]
        return {item.real: item for item in found if isinstance(item, Document) and item.buffer}

    # -- carrying out

    async def _carry_out(
        self, event: Rewound, report: RewindReport, prepared: _Prepared
    ) -> tuple[Rewound, RewindReport]:
        plan = prepared.reversal.plan
        if plan.steps:
            event = await asyncio.to_thread(self._keep, event, prepared)
            await self._recorder.emit(
                RewindStarted(event.rewind_id, event.to_turn_id, event.snapshot_id, event.after_id)
            )
        failures = await carry_out(plan, self._workspace, self._documents, prepared.documents)
        failed = {failure.path for failure in failures}
        done = [step for step in plan.steps if step.path not in failed]
        report = self._told(report, prepared.reversal, failures)
        event = replace(
            event,
            files=(
                *(file.path for file in report.files),
                *prepared.reversal.links_to(step.path for step in done),
            ),
            conflicts=tuple(conflict.path for conflict in report.conflicts),
        )
        return event, report

    def _keep(self, event: Rewound, prepared: _Prepared) -> Rewound:
        """Keep what stands at the paths that are to change, and what will. Blocks."""
        now, store = prepared.reversal.now, self._snapshots.workspace.store
        steps = prepared.reversal.plan.steps
        before: dict[str, Entry | None] = {step.path: step.expected for step in steps}
        after = {step.path: result_of(step) for step in steps}
        written = [step for step in steps if step.action in ("write", "link")]
        made = {**now.made, **{blob_id(step.data): step.data for step in written}}
        prefix = prepared.now.name.removesuffix("/now")
        first = store.amend(f"{prefix}/before", prepared.now, before, made)
        second = store.amend(f"{prefix}/after", first, after, made)
        return replace(event, snapshot_id=first.name, after_id=second.name)

    def _told(
        self, report: RewindReport, reversal: Reversal, failures: Sequence[Failure]
    ) -> RewindReport:
        failed = {failure.path for failure in failures}
        left = (*reversal.plan.conflicts, *failures)
        return replace(
            report,
            files=tuple(
                RewoundFile(told_path(self._workspace, step.path), step.how)
                for step in reversal.plan.steps
                if step.path not in failed
            ),
            conflicts=tuple(
                RewindConflict(told_path(self._workspace, c.path), c.reason) for c in left
            ),
            notes=reversal.notes,
        )


def _leaving(deeds: Deeds, to_turn_id: str) -> tuple[str, ...]:
    """The turns that leave the conversation with a rewind to before this one."""
    turns = [turn.turn_id for turn in deeds.since(to_turn_id)]
    return tuple(turn for turn in turns if deeds.rewinds.in_talk(turn))


def _returning(deeds: Deeds, undone: Rewound) -> tuple[str, ...]:
    """The turns that come back to the conversation when this rewind is taken back."""
    if not undone.talk or undone.undoes or undone.to_turn_id not in deeds.turns:
        return ()
    turns = [turn.turn_id for turn in deeds.since(undone.to_turn_id)]
    return tuple(turn for turn in turns if not deeds.rewinds.in_talk(turn))


def _to_undo(deeds: Deeds, rewind_id: str | None) -> Rewound:
    rewinds = deeds.rewinds
    found = rewinds.last if rewind_id is None else rewinds.get(rewind_id)
    if found is None and rewind_id is None:
        raise NotFoundError("There is no rewind in this session that could be taken back.")
    if found is None:
        raise NotFoundError(f"This session has no rewind {rewind_id!r}. Nothing was changed.")
    if not rewinds.is_active(found.rewind_id):
        raise InvalidRequestError("This rewind has been taken back already. Nothing was changed.")
    return found

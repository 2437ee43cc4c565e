"""What a person may choose of a proposed write, and the write that they have chosen. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pails.core.events import ProposedHunk
from pails.core.hunks import Hunk, apply_hunks, diff_hunks, hunk_ids
from pails.core.ports import ApprovalAnswer
from pails.tools.registry import Proposal, ProposedFile

Typed = Mapping[Path, str | None]
"""By path, what the agent had wanted for each text that the person has written themselves."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The call to be run, and what the person has typed of it."""

    proposal: Proposal
    typed: Typed


def proposed_hunks(proposal: Proposal) -> tuple[ProposedHunk, ...]:
    """The parts of a call, if it can do with some of them. Takes a while for large texts."""
    if proposal.revise is None:
        return ()
    return tuple(
        ProposedHunk(hunk_id, str(file.path), hunk.at.start, hunk.old, hunk.new)
        for file in proposal.files
        for hunk_id, hunk in _hunks(file)
    )


def chooses_nothing(answer: ApprovalAnswer) -> bool:
    """Whether nothing is left of a call that the answer allows."""
    return answer.hunk_ids == () and not answer.texts


def chosen(proposal: Proposal, answer: ApprovalAnswer) -> Chosen:
    """The call as the answer allows it. Ids and paths are known to be of this call."""
    if proposal.revise is None or (answer.hunk_ids is None and not answer.texts):
        return Chosen(proposal, {})
    texts: dict[Path, str] = {}
    typed: dict[Path, str | None] = {}
    for file in proposal.files:
        own = answer.texts.get(str(file.path))
        if own is not None:
            texts[file.path], typed[file.path] = own, file.after
        elif answer.hunk_ids is not None:
            taken = [hunk for hunk_id, hunk in _hunks(file) if hunk_id in answer.hunk_ids]
            text = apply_hunks(file.before or "", taken)
            if text != (file.after or "") or (not taken and _hunks(file)):
                texts[file.path] = text
    return Chosen(proposal.revise(texts), typed)


def _hunks(file: ProposedFile) -> list[tuple[str, Hunk]]:
    hunks = diff_hunks(file.before or "", file.after or "")
    return list(zip(hunk_ids(str(file.path), hunks), hunks, strict=True))

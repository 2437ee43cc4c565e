"""A person takes a part of a proposed write, or writes the text themselves."""

from collections.abc import Mapping
from pathlib import Path

from pails.core.events import ApprovalChoice
from pails.core.ports import ApprovalAnswer, ToolResult
from pails.tools.calls.choosing import chooses_nothing, chosen, proposed_hunks
from pails.tools.registry import Proposal, ProposedFile

A, B, NEW = Path("/w/a.txt"), Path("/w/b.txt"), Path("/w/new.txt")
FILES = (
    ProposedFile(A, "one\ntwo\nthree\n", "1\ntwo\n3\n"),
    ProposedFile(B, "gone\n", None),
    ProposedFile(NEW, None, "new\n"),
)


class Call:
    """A proposal that notes how it was revised."""

    def __init__(self) -> None:
        self.texts: Mapping[Path, str] = {}
        self.proposal = Proposal(self._run, files=FILES, revise=self._revise)

    async def _run(self) -> ToolResult:
        return ToolResult("done")

    def _revise(self, texts: Mapping[Path, str]) -> Proposal:
        self.texts = texts
        return Proposal(self._run, "revised")


def answer(*ids: str, **texts: str) -> ApprovalAnswer:
    named = {str(Path("/w", name.replace("_", "."))): text for name, text in texts.items()}
    return ApprovalAnswer(ApprovalChoice.ALLOW_ONCE, "", ids or None, named)


def test_each_hunk_is_offered_with_its_place() -> None:
    hunks = proposed_hunks(Call().proposal)
    assert [(Path(hunk.path), hunk.line, hunk.old, hunk.new) for hunk in hunks] == [
        (A, 0, "one\n", "1\n"),
        (A, 2, "three\n", "3\n"),
        (B, 0, "gone\n", ""),
        (NEW, 0, "", "new\n"),
    ]
    assert len({hunk.id for hunk in hunks}) == 4


def test_a_call_that_cannot_be_revised_offers_nothing() -> None:
    call = Call()
    assert proposed_hunks(Proposal(call.proposal.run, files=FILES)) == ()


def test_only_the_chosen_hunks_are_written() -> None:
    call = Call()
    hunks = proposed_hunks(call.proposal)
    assert chosen(call.proposal, answer(hunks[1].id)).proposal.text == "revised"
    assert call.texts == {A: "one\ntwo\n3\n", B: "gone\n", NEW: ""}
    chosen(call.proposal, answer(*(hunk.id for hunk in hunks)))
    assert call.texts == {}


def test_a_text_of_the_person_outweighs_the_hunks() -> None:
    call = Call()
    taken = chosen(call.proposal, answer(proposed_hunks(call.proposal)[3].id, a_txt="mine\n"))
    assert call.texts == {A: "mine\n", B: "gone\n"}
    assert taken.typed == {A: "1\ntwo\n3\n"}


def test_a_plain_yes_changes_nothing() -> None:
    call = Call()
    assert chosen(call.proposal, answer()).proposal is call.proposal


def test_no_hunk_at_all_is_a_refusal() -> None:
    assert chooses_nothing(ApprovalAnswer(ApprovalChoice.ALLOW_ONCE, hunk_ids=()))
    assert not chooses_nothing(ApprovalAnswer(ApprovalChoice.ALLOW_ONCE))

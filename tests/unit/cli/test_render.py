"""What each event looks like. Where order matters, a whole turn is compared as text."""

from pathlib import Path

import pytest

from pails.cli.render import TurnView
from pails.core.events import (
    ApprovalChoice,
    ApprovalResolved,
    AssistantMessageAdded,
    Effect,
    Event,
    FileChanged,
    HunksResolved,
    Notice,
    PlanStep,
    PlanUpdated,
    Problem,
    ReasoningDelta,
    ReplyDiscarded,
    Rewound,
    RoundStarted,
    RunState,
    SourcePosition,
    StopReason,
    SyntaxChecked,
    TextDelta,
    ToolCallEnded,
    ToolCallPrepared,
    ToolCallStarted,
    ToolOutputDelta,
    TurnEnded,
)
from pails.core.messages import AssistantMessage, ToolCall, Usage
from tests.unit.cli.support import plain_screen, terminal_screen

WORKSPACE = Path("/work space")
DIFF = "--- a/calc.py\n+++ b/calc.py\n@@ -1 +1 @@\n-old\n+new\n"


def show(*events: Event) -> str:
    screen, shown = plain_screen()
    view = TurnView(screen, WORKSPACE)
    for event in events:
        view.show(event)
    return shown.getvalue()


def call(call_id: str, title: str, effect: Effect = Effect.READ, tool: str = "t") -> Event:
    return ToolCallPrepared("turn", call_id, tool, title, effect)


def ended(reason: StopReason, state: RunState, usage: Usage, error: str = "") -> Event:
    return TurnEnded("turn", state, reason, 2, usage, 1.25, (), error)


def test_a_whole_turn():
    position = SourcePosition(1, 7)
    problem = Problem(position, position, '"(" is not closed', "print(1")
    assert show(
        RoundStarted("turn", 1),
        ReasoningDelta("turn", "hm"),
        ReasoningDelta("turn", "hm"),
        AssistantMessageAdded("turn", AssistantMessage("I mend it.")),
        call("1", "Edit calc.py", Effect.WRITE),
        ToolCallStarted("turn", "1", Effect.WRITE),
        FileChanged("turn", "1", "/work space/calc.py", DIFF, 1, 1, "disk", saved=True),
        SyntaxChecked("turn", "1", "/work space/calc.py", "python", (problem,), 2),
        ToolCallEnded("turn", "1", "long", summary="+1 −1", seconds=0.04),
        call("2", "Run pytest", Effect.EXECUTE),
        ApprovalResolved("turn", "a", ApprovalChoice.ALLOW_SESSION),
        ToolOutputDelta("turn", "2", "one\ntw"),
        ToolOutputDelta("turn", "2", "o"),
        ToolCallEnded("turn", "2", "long", is_error=True, summary="exit code 1", seconds=9),
        AssistantMessageAdded("turn", AssistantMessage("It fails.")),
        ended(StopReason.DONE, RunState.COMPLETED, Usage(12345, 67, 8900)),
    ) == (
        "thinking …\n"
        "I mend it.\n"
        "● Edit calc.py\n"
        "  calc.py +1 −1\n"
        "    @@ -1 +1 @@\n"
        "    -old\n"
        "    +new\n"
        "  ✗ syntax (python): 1 new, 2 from before\n"
        '    calc.py:1:7: "(" is not closed\n'
        "    print(1\n"
        "          ^\n"
        "  ✓ +1 −1 (0.0 s)\n"
        "● Run pytest\n"
        "  allowed for this session\n"
        "  │ one\n"
        "  │ two\n"
        "  ✗ exit code 1\n"
        "It fails.\n"
        "\n"
        "Done · 2 rounds · 12,345 tokens in (8,900 cached), 67 out · 1.2 s\n"
        "  calc.py +1 −1\n"
        "  ✗ Run pytest: exit code 1\n"
    )


def test_calls_side_by_side_end_under_their_names():
    shown = show(
        call("1", "Read a"),
        call("2", "Read b"),
        ToolCallEnded("turn", "1", "x", summary="3 lines", seconds=0.26),
        ToolCallEnded("turn", "2", "x", summary="4 lines", seconds=0.3),
    )
    assert shown == "● Read a\n● Read b\n  ✓ Read a: 3 lines (0.3 s)\n  ✓ 4 lines (0.3 s)\n"


def test_a_call_with_bad_arguments_is_known_by_its_tool():
    calls = (ToolCall("1", "read_file", "{"),)
    shown = show(
        AssistantMessageAdded("turn", AssistantMessage("", calls)),
        ToolCallEnded("turn", "1", "The arguments are not valid JSON.\nmore", is_error=True),
    )
    assert shown == "  ✗ read_file: The arguments are not valid JSON. (0.0 s)\n"


def test_the_plan_is_a_checklist_and_its_tool_no_row():
    steps = (PlanStep("read", "done"), PlanStep("mend", "active"), PlanStep("test"))
    shown = show(
        call("1", "Update the plan", Effect.INTERACT, "update_plan"),
        PlanUpdated("turn", steps),
        ToolCallEnded("turn", "1", "x", summary="Plan kept"),
    )
    assert shown == "Plan\n  [x] read\n  [>] mend\n  [ ] test\n"


def test_a_terminal_streams_and_the_message_does_not_come_twice():
    screen, shown = terminal_screen(NO_COLOR="1")
    view = TurnView(screen, WORKSPACE)
    view.show(RoundStarted("turn", 1))
    view.show(TextDelta("turn", "Half an ans"))
    assert shown.getvalue() == "Half an ans"
    view.show(ReplyDiscarded("turn", "the connection was lost"))
    view.show(TextDelta("turn", "Whole."))
    view.show(AssistantMessageAdded("turn", AssistantMessage("Whole.")))
    assert shown.getvalue() == (
        "Half an ans\nThe reply broke off and starts again: the connection was lost\nWhole.\n"
    )


@pytest.mark.parametrize("begun", [ReasoningDelta("turn", "hm"), TextDelta("turn", "Hal")])
def test_only_a_reply_that_had_begun_can_break_off(begun: Event):
    reason = "No model server answers. Trying again in 1 s."
    again = ReplyDiscarded("turn", reason)
    assert show(RoundStarted("turn", 1), again, again) == f"{reason}\n{reason}\n"
    shown = show(RoundStarted("turn", 1), begun, again, again)
    assert shown.endswith(f"The reply broke off and starts again: {reason}\n{reason}\n")


def test_a_file_gets_no_reply_that_was_discarded():
    shown = show(
        TextDelta("turn", "Half an ans"),
        ReplyDiscarded("turn", "lost"),
        TextDelta("turn", "Whole."),
        AssistantMessageAdded("turn", AssistantMessage("Whole.")),
    )
    assert shown == "The reply broke off and starts again: lost\nWhole.\n"


def test_the_caret_stands_under_the_place_also_behind_wide_characters_and_tabs():
    place = SourcePosition(3, 6)
    problem = Problem(place, place, "wrong", "\t中文 =)")
    lines = show(SyntaxChecked("turn", "1", "/other/x.py", "python", (problem,))).splitlines()
    assert lines[1:] == ["    /other/x.py:3:6: wrong", "    \t中文 =)", "    \t      ^"]


def test_long_diffs_are_cut_and_say_so():
    diff = "--- a/x\n+++ b/x\n" + "".join(f"+{n}\n" for n in range(200))
    change = FileChanged("turn", "1", "/work space/x", diff, 200, 0, "disk", saved=True)
    lines = show(change).splitlines()
    assert lines[-2:] == ["    +119", "    … 80 more lines of this diff"]


@pytest.mark.parametrize(
    ("change", "row"),
    [
        ({"target": "disk", "saved": True, "created": True}, "  n.py +1 −0 (new)"),
        ({"target": "buffer", "saved": False}, "  n.py +1 −0 (in the editor, unsaved)"),
        ({"target": "disk", "saved": True, "deleted": True}, "  n.py +1 −0 (deleted)"),
        (
            {"target": "disk", "saved": True, "moved_from": "/work space/o.py"},
            "  n.py +1 −0 (was o.py)",
        ),
    ],
)
def test_where_a_change_went(change: dict, row: str):
    assert show(FileChanged("turn", "1", "/work space/n.py", "", 1, 0, **change)) == row + "\n"


def test_edits_of_one_file_are_added_up():
    change = FileChanged("turn", "1", "/work space/a", "", 2, 1, "disk", saved=True)
    end = ended(StopReason.DONE, RunState.COMPLETED, Usage())
    assert show(change, change, end).splitlines()[-2:] == [
        "Done · 2 rounds · tokens not reported · 1.2 s",
        "  a +4 −2 in 2 edits",
    ]


def test_a_review_in_an_editor_is_seen():
    accepted = HunksResolved("turn", "/work space/a", ("h",), "accepted")
    rejected = HunksResolved("turn", "/work space/a", ("h", "i"), "rejected", "no\x1b globals")
    assert show(accepted, rejected) == (
        "  1 change in a accepted\n  2 changes in a rejected: no\\x1b globals\n"
    )


def test_a_failed_turn_says_why():
    end = ended(StopReason.ERROR, RunState.FAILED, Usage(), "The server is gone. Try again.")
    assert show(end).splitlines()[1:] == [
        "Failed · 2 rounds · tokens not reported · 1.2 s",
        "  The server is gone. Try again.",
    ]


def test_notices_and_refusals_are_rows():
    shown = show(
        Notice("warning", "The log is nearly full."),
        ApprovalResolved("turn", "a", ApprovalChoice.REJECT, "use make"),
        RoundStarted("turn", 21, wrap_up=True),
    )
    assert shown == (
        "! The log is nearly full.\n"
        "  refused: use make\n"
        "The limit of rounds is reached; the model sums up.\n"
    )


def test_escape_sequences_of_the_model_and_of_commands_are_shown_not_obeyed():
    shown = show(
        AssistantMessageAdded("turn", AssistantMessage("\x1b[2Jhello")),
        call("1", "Run \x1b]0;x\x07"),
        ToolOutputDelta("turn", "1", "\x1b[31mred\x1b[0m\n"),
        ToolCallEnded("turn", "1", "", summary="\x1b[A"),
    )
    assert "\x1b" not in shown
    assert "\\x1b[31mred" in shown


def test_what_a_rewind_did_is_a_row_for_each_file():
    rewound = Rewound("r", "turn", False, ("/work space/日本.py",), ("/work space/b.py",))
    shown = show(rewound)
    assert "  日本.py taken back\n" in shown
    assert "  b.py left alone\n" in shown

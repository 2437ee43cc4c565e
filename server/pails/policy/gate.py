"""The one gate that every call passes: origin, approval, arguments and paths, sandbox.

Each place judges by itself. A deny of any place is final, and no click and no grant outweighs
it; an ask of any place makes the call ask. The question itself is put by the executor.
"""

from collections.abc import Sequence
from pathlib import Path

from pails.core.events import Effect, Mode
from pails.core.ports import Action, Decision
from pails.policy.approval import Grants, effect_of, judge_approval, rule_for
from pails.policy.origin import judge_origin
from pails.policy.paths import judge_paths, locate
from pails.policy.sandbox import judge_sandbox


class Gate:
    """The gate of one session."""

    def __init__(self, readable: Sequence[Path] = (), grants: Grants | None = None) -> None:
        """`readable`: folders outside the workspace that may be read, such as kept results."""
        self.grants = grants or Grants()
        self._readable = tuple(readable)
        self._refused_turn = ""
        self._refused: frozenset[str] = frozenset()

    def judge(self, action: Action, mode: Mode, workspace: Path, turn_id: str = "") -> Decision:
        """Whether this may be done now. Looks where links lead; call it right before the deed."""
        places = locate(action, workspace)
        refused = self._refused if turn_id == self._refused_turn else frozenset[str]()
        rule = rule_for(action, places)
        sandbox = judge_sandbox(action)
        approval = judge_approval(action, mode, rule, self.grants, refused)
        paths = judge_paths(places, self._readable)
        decision = combine((judge_origin(action), approval, paths, sandbox)) or approval
        if decision.verdict == "deny" or effect_of(action) is not Effect.EXECUTE:
            return decision
        return Decision(decision.verdict, f"{decision.rule}; {sandbox.rule}", decision.grant)

    def grant(self, decision: Decision) -> None:
        """A person allowed for the session what this decision asked for."""
        self.grants.add(decision.grant)

    def refuse(self, action: Action, workspace: Path, turn_id: str) -> None:
        """A person refused this: the same command is refused unasked for the rest of the turn.

        A refused write is not remembered: mended by what the person said, it may come again.
        """
        if turn_id != self._refused_turn:
            self._refused_turn, self._refused = turn_id, frozenset()
        if action.argv:
            self._refused |= {rule_for(action, locate(action, workspace))}


def combine(decisions: Sequence[Decision]) -> Decision | None:
    """The first deny; else all that ask, as one; None when every place lets it pass.

    What can be allowed for the session is nothing as soon as one place asks each time.
    """
    for decision in decisions:
        if decision.verdict == "deny":
            return decision
    asking = [decision for decision in decisions if decision.verdict == "ask"]
    if not asking:
        return None
    grants = [decision.grant for decision in asking]
    return Decision("ask", "; ".join(d.rule for d in asking), grants[0] if all(grants) else "")

"""The one gate that every call passes: origin, approval, arguments and paths, sandbox.

Each of these four defences judges by itself. A deny of any is final, and no click and no grant
outweighs it; an ask of any makes the call ask. The question itself is put by the executor.
"""

from collections.abc import Sequence
from pathlib import Path

from pails.core.events import Effect, Mode
from pails.core.ports import Action, Decision
from pails.policy.approval import Grants, effect_of, judge_approval, rule_for
from pails.policy.origin import judge_origin
from pails.policy.paths import judge_paths, resolve
from pails.policy.sandbox import judge_sandbox


class Gate:
    """The gate of one session."""

    def __init__(self, readable: Sequence[Path] = (), grants: Grants | None = None) -> None:
        """`readable`: folders outside the workspace that may be read, such as the session's own."""
        self.grants = grants or Grants()
        self._readable = tuple(readable)
        self._refused_turn = ""
        self._refused: frozenset[str] = frozenset()

    def judge(self, action: Action, mode: Mode, workspace: Path, turn_id: str = "") -> Decision:
        """Whether this may be done as things are now; blocking, for it looks where links lead.

        Links and the mode may change: who waited for a person must judge again before the deed.
        """
        paths = resolve(action, workspace)
        refused = self._refused if turn_id == self._refused_turn else frozenset[str]()
        rule = rule_for(action, paths)
        origin, sandbox = judge_origin(action), judge_sandbox(action)
        approval = judge_approval(action, mode, rule, self.grants, refused)
        defences = (origin, approval, judge_paths(paths, self._readable), sandbox)
        decision = combine(defences) or approval
        if decision.verdict == "deny" or effect_of(action) is not Effect.EXECUTE:
            return decision
        return Decision(decision.verdict, f"{decision.reason}; {sandbox.reason}", decision.rule)

    def grant(self, decision: Decision) -> None:
        """A person allowed for the session what this decision asked for."""
        self.grants.add(decision.rule)

    def refuse(self, action: Action, workspace: Path, turn_id: str) -> None:
        """A person refused this: the same command is refused unasked for the rest of the turn.

        A refused write is not remembered: mended by what the person said, it may come again.
        """
        if turn_id != self._refused_turn:
            self._refused_turn, self._refused = turn_id, frozenset()
        if action.argv:
            self._refused |= {rule_for(action, resolve(action, workspace))}


def combine(decisions: Sequence[Decision]) -> Decision | None:
    """The first deny; else all that ask, as one; None when every defence lets it pass.

    What can be allowed for the session is nothing as soon as one defence asks each time.
    """
    for decision in decisions:
        if decision.verdict == "deny":
            return decision
    asking = [decision for decision in decisions if decision.verdict == "ask"]
    if not asking:
        return None
    rules = [decision.rule for decision in asking]
    return Decision("ask", "; ".join(d.reason for d in asking), rules[0] if all(rules) else "")

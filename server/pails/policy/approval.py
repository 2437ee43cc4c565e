"""The second defence: what the mode lets pass unasked, and what a person has allowed before.

A grant is the exact rule that was shown: one argument list in one folder, or one tool on one
file. It matches nothing but the same again, so no chained, wrapped or longer command can pass
under it. In plan mode no grant counts.
"""

import shlex
from collections.abc import Iterable
from pathlib import Path

from pails.core.events import Effect, Mode
from pails.core.ports import Action, Decision
from pails.policy.paths import ResolvedPaths
from pails.policy.visible import visible_line

_PLAN_REFUSAL = (
    "approval: plan mode is read-only: no file is written and no command runs. Put this step "
    "into your plan; the person decides on it and then changes the mode."
)
_REPEATED = (
    "approval: the person has refused this very command in this turn. Change your approach, or "
    "ask them what they want."
)


class Grants:
    """What a person has allowed for the rest of a session: exact rules, listed and revocable."""

    def __init__(self, rules: Iterable[str] = ()) -> None:
        self._rules = dict.fromkeys(rules)

    def add(self, rule: str) -> None:
        if rule:
            self._rules[rule] = None

    def matches(self, rule: str) -> bool:
        return bool(rule) and rule in self._rules

    def list(self) -> tuple[str, ...]:
        """The rules in the order in which they were allowed."""
        return tuple(self._rules)

    def revoke(self, rule: str) -> bool:
        """False when there was no such rule."""
        return rule in self._rules and self._rules.pop(rule) is None


def effect_of(action: Action) -> Effect:
    """What the action does by what it names, should its tool claim less."""
    if action.argv:
        return Effect.EXECUTE
    if action.writes and action.effect is not Effect.EXECUTE:
        return Effect.WRITE
    return action.effect


def rule_for(action: Action, paths: ResolvedPaths) -> str:
    """The rule under which just this action would pass again; empty when none could."""
    if action.argv:
        folder = paths.reads[0].relative if paths.reads else Path()
        where = f" (in {shlex.quote(str(folder))})" if folder != Path() else ""
        return visible_line(f"{action.tool}: {shlex.join(action.argv)}{where}")
    if action.writes:
        names = shlex.join(str(path.relative) for path in paths.writes)
        return visible_line(f"{action.tool}: {names}")
    return ""


def judge_approval(
    action: Action, mode: Mode, rule: str, grants: Grants, refused: frozenset[str]
) -> Decision:
    """`refused` are the rules of the commands that a person has refused in this turn."""
    effect = effect_of(action)
    if effect in (Effect.READ, Effect.INTERACT):
        return Decision("allow", f"approval: mode {mode} lets reads pass")
    if mode is Mode.PLAN:
        return Decision("deny", _PLAN_REFUSAL)
    if action.argv and rule in refused:
        return Decision("deny", _REPEATED)
    if effect is Effect.WRITE and mode is Mode.AUTO and not action.final:
        return Decision("allow", "approval: mode auto lets edits in the workspace pass")
    if grants.matches(rule):
        return Decision("allow", f"approval: allowed for this session: {rule}")
    what = "every write and command"
    if mode is Mode.AUTO:
        what = "what cannot be taken back by a review" if action.final else "every command"
    return Decision("ask", f"approval: mode {mode} asks before {what}", rule)

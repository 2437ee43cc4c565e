"""`pails doctor`: what is there, what is missing, where each setting comes from.

Exit codes: 0 when Pails can work, 1 when something that it needs fails, 2 usage.
"""

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from pails.cli.checks import Check, run_checks
from pails.cli.screen import Screen, printable
from pails.host.environment import current_environment

_STYLES = {"ok": "green", "info": "dim", "warn": "yellow", "fail": "red"}
_GRAMMAR = "grammar "


def main(argv: list[str]) -> int:
    """Run the command line behind `pails doctor`; returns the exit code."""
    options = _parser().parse_args(argv)
    environ = current_environment()
    checks = asyncio.run(run_checks(Path(options.workspace).absolute(), environ))
    works = all(check.status != "fail" for check in checks)
    if options.json:
        report = {"ok": works, "checks": [asdict(check) for check in checks]}
        print(json.dumps(report, ensure_ascii=False, indent=2))
    else:
        show(Screen(sys.stdout, sys.stdout, environ), checks, works=works)
    return 0 if works else 1


def show(screen: Screen, checks: Sequence[Check], *, works: bool) -> None:
    """One line a finding, with what to do below; grammars that work share a line."""
    for check in _with_grammars_together(checks):
        status = screen.paint(f"{check.status:<4}", _STYLES[check.status])
        screen.row(f"{status}  {check.name}: {printable(check.detail)}")
        if check.advice:
            screen.row(f"      → {printable(check.advice)}")
    if works:
        screen.row("Pails can work here.")
    else:
        screen.row("Pails cannot work yet: see the lines that begin with fail.")


def _with_grammars_together(checks: Sequence[Check]) -> list[Check]:
    good = [c for c in checks if c.name.startswith(_GRAMMAR) and c.status == "ok"]
    if not good:
        return list(checks)
    names = ", ".join(check.name.removeprefix(_GRAMMAR) for check in good)
    together = Check("syntax check", "ok", f"{len(good)} languages: {names}")
    at = checks.index(good[0])
    rest = [check for check in checks[at:] if check not in good]
    return [*checks[:at], together, *rest]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="pails doctor",
        description="Look at what Pails needs and where each setting comes from.",
    )
    parser.add_argument("--workspace", default=".", metavar="DIR", help="whose settings to read")
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    return parser

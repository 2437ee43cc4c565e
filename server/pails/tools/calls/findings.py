"""What the syntax check of a written file found, as lines for the model."""

from pails.core.numbers import counted
from pails.core.ports import SyntaxReport
from pails.diagnostics.languages import IMPRECISE


def findings(report: SyntaxReport, path: str) -> str:
    """The lines that ride on the tool's result; empty where there is no grammar to speak of.

    `path` is the file as the model named it.
    """
    if not report.language:
        return ""
    if report.note and not report.problems:
        return f"{report.note[0].upper()}{report.note[1:]}."
    lines = _new_lines(report, path) if report.problems else [_all_well(report)]
    if report.existing == 1:
        lines.append("1 older problem was there before and is not counted.")
    elif report.existing:
        lines.append(f"{report.existing} older problems were there before and are not counted.")
    return "\n".join(lines)


def _all_well(report: SyntaxReport) -> str:
    if report.existing:
        return f"Syntax check ({report.language}): no new problems"
    return f"Syntax OK ({report.language})."


def _new_lines(report: SyntaxReport, path: str) -> list[str]:
    count = counted(len(report.problems), "new problem")
    lines = [f"Syntax check ({report.language}): {count}"]
    for problem in report.problems:
        lines.append(f"  {path}:{problem.start.line}:{problem.start.column} {problem.message}")
        lines.append(f"    {problem.source_line.strip()}")
    remarks = (report.note, IMPRECISE.get(report.language, ""))
    return lines + [f"  ({remark})" for remark in remarks if remark]

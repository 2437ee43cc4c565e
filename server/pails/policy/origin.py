"""The first defence: what a turn may touch outside comes from the person's own words alone."""

from pails.core.ports import Action, Decision


def judge_origin(_action: Action) -> Decision:
    """Passes everything: there is no tool yet that fetches, downloads or navigates."""
    return Decision("allow", "origin: no tool reaches outside")

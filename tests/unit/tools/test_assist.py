"""The tools that touch nothing: what the model is told."""

from pathlib import Path

from pails.tools.assist import UpdatePlan
from tests.support.calls import call


async def test_a_plan_is_kept_and_its_next_step_named(tmp_path: Path):
    steps = [
        {"text": "look", "status": "done"},
        {"text": "edit", "status": "active"},
        {"text": "test"},
    ]
    result = await call(UpdatePlan(), tmp_path, steps=steps)
    assert result.text == (
        "Plan kept: 1 of 3 steps done.\nNow do this step with the other tools: edit"
    )
    result = await call(UpdatePlan(), tmp_path, steps=steps[:1])
    assert result.text == "Plan kept: 1 of 1 steps done."

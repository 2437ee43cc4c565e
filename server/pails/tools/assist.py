"""Tools that touch nothing outside: ask the person, keep the plan."""

from typing import Literal

from pydantic import Field

from pails.core.events import Effect, PlanStep, PlanUpdated
from pails.core.ports import Action, ToolResult
from pails.core.text import first_line
from pails.tools.registry import CallContext, Parameters, Proposal, Tool


class AskUserParameters(Parameters):
    question: str = Field(min_length=1)
    options: list[str] = Field([], description="answers to choose from", max_length=6)


class AskUser(Tool[AskUserParameters]):
    name = "ask_user"
    effect = Effect.INTERACT
    parameters = AskUserParameters

    def action(self, args: AskUserParameters, context: CallContext) -> Action:
        return Action(self.name, self.effect, "Ask a question")

    async def propose(self, args: AskUserParameters, context: CallContext) -> Proposal:
        async def run() -> ToolResult:
            answer = await context.person.ask(args.question, args.options)
            if answer is None:
                text = (
                    "Nobody can answer this here. Decide by the most cautious reading, or end "
                    "your turn with the question."
                )
                return ToolResult(text, is_error=True, summary="no answer")
            return ToolResult(f"The person answered: {answer}", summary=first_line(answer, 120))

        return Proposal(run, text=args.question)


class PlanStepParameters(Parameters):
    text: str = Field(min_length=1)
    status: Literal["pending", "active", "done"] = "pending"


class UpdatePlanParameters(Parameters):
    steps: list[PlanStepParameters] = Field(description="the whole plan, in order", max_length=50)


class UpdatePlan(Tool[UpdatePlanParameters]):
    name = "update_plan"
    effect = Effect.INTERACT
    parameters = UpdatePlanParameters

    def action(self, args: UpdatePlanParameters, context: CallContext) -> Action:
        return Action(self.name, self.effect, "Update the plan")

    async def propose(self, args: UpdatePlanParameters, context: CallContext) -> Proposal:
        async def run() -> ToolResult:
            steps = tuple(PlanStep(step.text, step.status) for step in args.steps)
            await context.emit(PlanUpdated(context.turn_id, steps))
            left = [step.text for step in steps if step.status != "done"]
            text = f"Plan kept: {len(steps) - len(left)} of {len(steps)} steps done."
            if left:  # small models take the plan for the deed
                text += f"\nNow do this step with the other tools: {left[0]}"
            return ToolResult(text)

        return Proposal(run)

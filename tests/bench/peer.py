"""Pails as a peer in a comparison of coding agents.

An adapter to a runner that gives every agent the same scripted model, with a home of its own, and
reads what the agent costs. That runner is not part of this repository, and without it the table
cannot be made again; with it, give it this file by `--extra`.
"""

import sys
from typing import Any

from run_peers import LspPeer  # type: ignore[import-not-found]


class Pails(LspPeer):  # type: ignore[misc]
    """The language server, asked over `pai/…` methods; whoever is asked says yes."""

    initialization_options = {"pai": {"events": True, "approvals": True}}  # noqa: RUF012

    def program(self) -> list[str]:
        return [sys.executable]

    def server_argv(self, ctx: Any) -> list[str]:
        return [*self.program(), "-m", "pails"]

    def environment(self, ctx: Any) -> dict[str, str]:
        return {
            "PAILS_BASE_URL": ctx.base,
            "PAILS_MODEL": "scripted",
            "PAILS_MAX_ROUNDS": "100",
            "PAILS_STATE_DIR": str(ctx.home / "state"),
            "PAILS_CONFIG_DIR": str(ctx.home / "config"),
        }

    def open(self, rpc: Any, ctx: Any) -> str:
        return rpc.request("pai/session/new", {"workspace": str(ctx.work)})["sessionId"]

    def turn(self, rpc: Any, ctx: Any, session: str) -> None:
        params = {"sessionId": session, "text": ctx.task.prompt}
        rpc.request("pai/session/prompt", params)
        while True:
            event = rpc.wait_note("pai/event", ctx.timeout)["event"]
            if event["kind"] == "turnEnded":
                if event["error"]:
                    raise RuntimeError(event["error"])
                return

    def answer(self, method: str, params: dict[str, Any]) -> dict[str, Any] | None:
        if method == "pai/approval/request":
            return {"choice": "allowOnce"}
        return super().answer(method, params)


PEERS = [Pails("pails")]

"""A model server for a rehearsal: real HTTP and streaming, but the replies were written before.

It plays one part, mending the project in `sample/`, and looks at what the tools returned only as
far as that part needs. Standard library only.
"""

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "rehearsal"
TEST_COMMAND = ["python3", "-m", "unittest", "-q"]
SECONDS_A_WORD = 0.02

_WRONG = "return 0 if self.subtotal() > FREE_SHIPPING_FROM else SHIPPING"
_SLIP = "return 0 if (self.subtotal() >= FREE_SHIPPING_FROM else SHIPPING"
_RIGHT = "return 0 if self.subtotal() >= FREE_SHIPPING_FROM else SHIPPING"
_STEPS = ("Read the code and its test", "Mend the bug", "Run the tests")

Json = dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """What the model says and which tools it calls: pairs of a name and its arguments."""

    text: str
    calls: list[tuple[str, Json]] = field(default_factory=list)


# -- the part ------------------------------------------------------------------------------------


def next_reply(messages: list[Json]) -> Reply:
    """The next reply of the part, chosen by how many replies this turn has seen."""
    last_user = max(n for n, message in enumerate(messages) if message["role"] == "user")
    turn = messages[last_user + 1 :]
    spoken = sum(message["role"] == "assistant" for message in turn)
    results = [str(message["content"]) for message in turn if message["role"] == "tool"]
    scenes: list[Callable[[list[str]], Reply]] = [_read, _slip, _mend, _test, _tick, _sum_up]
    return scenes[min(spoken, len(scenes) - 1)](results)


def _read(results: list[str]) -> Reply:
    del results
    reads = [("read_file", {"path": path}) for path in ("cart.py", "test_cart.py")]
    return Reply("I read the code and its test first.", [_plan(active=0), *reads])


def _slip(results: list[str]) -> Reply:
    if not any(_WRONG in result for result in results):
        return Reply("This rehearsal only knows the sample project, and this is another one.")
    text = (
        "`test_shipping_is_free_from_fifty` buys for exactly 50.00 and expects free shipping. "
        "`shipping` compares with `>`, so the limit itself still pays. It should be `>=`."
    )
    return Reply(text, [_edit(_WRONG, _SLIP)])


def _mend(results: list[str]) -> Reply:
    del results
    text = "The check of what I wrote is right: I opened a parenthesis and never closed it."
    return Reply(text, [_edit(_SLIP, _RIGHT)])


def _test(results: list[str]) -> Reply:
    del results
    run = ("run_command", {"command": TEST_COMMAND})
    return Reply("Now the tests.", [_plan(active=2), run])


def _tick(results: list[str]) -> Reply:
    return Reply("", [_plan(active=3)]) if _passed(results) else _sum_up(results)


def _sum_up(results: list[str]) -> Reply:
    fix = "`shipping` in `cart.py` now compares with `>=`, so orders of exactly 50.00 go free."
    if _passed(results):
        return Reply(f"{fix} All four tests pass.")
    if "exit code" in results[-1]:
        return Reply(f"{fix} The tests did not pass, though; see their output above.")
    if "Nothing was run." in results[-1]:
        return Reply(f"{fix} The tests could not be run, though; see above why.")
    return Reply(f"{fix} The tests were not run, because that was not allowed.")


def _passed(results: list[str]) -> bool:
    return any(re.search(r"^OK$", result, re.MULTILINE) for result in results)


def _edit(old: str, new: str) -> tuple[str, Json]:
    return "edit_file", {"path": "cart.py", "old": old, "new": new}


def _plan(active: int) -> tuple[str, Json]:
    order = {-1: "done", 0: "active", 1: "pending"}
    steps = [
        {"text": text, "status": order[(number > active) - (number < active)]}
        for number, text in enumerate(_STEPS)
    ]
    return "update_plan", {"steps": steps}


# -- the server ----------------------------------------------------------------------------------


@contextmanager
def rehearsal_server() -> Iterator[str]:
    """Serve on a free port of loopback for as long as the block lasts; gives the base URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    """`GET /v1/models` and `POST /v1/chat/completions` (streaming only)."""

    def do_GET(self) -> None:
        if self.path != "/v1/models":
            return self.send_error(404)
        body = json.dumps({"object": "list", "data": [{"id": MODEL, "object": "model"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        if self.path != "/v1/chat/completions":
            return self.send_error(404)
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for delta, finish in _deltas(next_reply(request["messages"]), len(request["messages"])):
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            self._send_event(json.dumps({"object": "chat.completion.chunk", "choices": [choice]}))
            time.sleep(SECONDS_A_WORD)
        usage = _usage(request, next_reply(request["messages"]))
        self._send_event(json.dumps({"choices": [], "usage": usage}))
        self._send_event("[DONE]")

    def _send_event(self, data: str) -> None:
        self.wfile.write(f"data: {data}\n\n".encode())
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the terminal belongs to the person who watches."""


def _usage(request: Json, reply: Reply) -> Json:
    """Tokens as a rule of thumb has them: four characters each."""
    prompt, completion = len(json.dumps(request)) // 4, len(f"{reply.text}{reply.calls}") // 4
    return {"prompt_tokens": prompt, "completion_tokens": completion}


def _deltas(reply: Reply, seed: int) -> Iterator[tuple[Json, str | None]]:
    """The reply word by word, then its calls; `seed` keeps the call ids apart."""
    yield {"role": "assistant", "content": ""}, None
    for word in re.findall(r"\S+\s*", reply.text):
        yield {"content": word}, None
    for index, (name, arguments) in enumerate(reply.calls):
        function = {"name": name, "arguments": json.dumps(arguments)}
        call = {"index": index, "id": f"call_{seed}_{index}", "type": "function"}
        yield {"tool_calls": [{**call, "function": function}]}, None
    yield {}, "tool_calls" if reply.calls else "stop"

"""The review through the real server: by `pai/changes/…`, and by plain LSP alone."""

import asyncio
import contextlib
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from pygls.exceptions import JsonRpcException

from pails.lsp import bare
from tests.support.lsp_client import CAPABILITIES, PAI, Json, LspClient, start_client
from tests.support.scripted_model import Calls, Say, ScriptedModel

BEFORE = "# 名\n\ndef add(a, b):\n    return a - b\n\n\ndef sub(a, b):\n    return a + b\n"
AFTER = BEFORE.replace("a - b", "a * b").replace("return a + b", "return a - b  # 😀")
ADD, SUB = 3, 7
"""The lines that the turn changes, from 0."""

REFRESHING: Json = {
    **CAPABILITIES,
    "workspace": {**CAPABILITIES["workspace"], "codeLens": {"refreshSupport": True}},
}
CONTENTS: Json = {
    **CAPABILITIES,
    "workspace": {**CAPABILITIES["workspace"], "textDocumentContent": {}},
}


def edits(path: str = "calc.py") -> Calls:
    changes = [("    return a - b", "    return a * b"), ("return a + b", "return a - b  # 😀")]
    return Calls(*(("edit_file", {"path": path, "old": old, "new": new}) for old, new in changes))


class Scene:
    """A client, and a session in which a turn has changed two lines of calc.py."""

    def __init__(self, client: LspClient, session: str, turn_id: str) -> None:
        self.client = client
        self.session = session
        self.turn_id = turn_id
        self.path = client.workspace / "calc.py"

    async def changes(self, method: str, **params: Any) -> Json:
        params = {"sessionId": self.session, **params}
        return await self.client.request(f"pai/changes/{method}", params)

    async def hunks(self) -> list[Json]:
        listed = await self.changes("list", turnId=self.turn_id)
        [[file]] = [turn["files"] for turn in listed["turns"]]
        assert file["path"] == str(self.path)
        return file["hunks"]

    async def lenses(self, uri: str = "") -> list[tuple[int, str]]:
        found = await self._lenses(uri)
        return [(lens["range"]["start"]["line"], lens["command"]["title"]) for lens in found]

    async def run_lens(self, line: int, title: str, uri: str = "") -> Json:
        for lens in await self._lenses(uri):
            command = lens["command"]
            if (lens["range"]["start"]["line"], command["title"]) == (line, title):
                params = {"command": command["command"], "arguments": command["arguments"]}
                return await self.client.request("workspace/executeCommand", params)
        raise AssertionError(f"there is no lens {title} in line {line}")

    async def _lenses(self, uri: str) -> list[Json]:
        document = {"uri": uri or self.path.as_uri()}
        return await self.client.request("textDocument/codeLens", {"textDocument": document})

    def messages(self) -> list[str]:
        sent = self.client.notifications
        return [params["message"] for method, params in sent if method == "window/showMessage"]


@contextlib.asynccontextmanager
async def reviewed(
    tmp_path: Path, *, options: Json | None = None, capabilities: Json = CAPABILITIES
) -> AsyncIterator[Scene]:
    """The turn has ended. Without `options` the client knows plain LSP only."""
    async with ScriptedModel([edits(), Say("Done.")]) as model:
        environment = {
            "PAILS_BASE_URL": model.base_url,
            "PAILS_MODEL": model.model,
            "PAILS_API_KEY": "none",
        }
        async with start_client(
            tmp_path, options=options, capabilities=capabilities, environment=environment
        ) as client:
            path = client.workspace / "calc.py"
            path.write_text(BEFORE)
            session = await client.new_session()
            prompt = {"sessionId": session, "text": "Swap them."}
            receipt = await client.request("pai/session/prompt", prompt)
            scene = Scene(client, session, receipt["turnId"])
            if options is None:
                await client.wait_until(lambda: bool(scene.messages()))
            else:
                await client.wait_for_turn(session, receipt["turnId"])
            assert path.read_text() == AFTER
            yield scene


# -- by method ---------------------------------------------------------------------------------


async def test_what_a_turn_changed_is_listed_and_decided_by_hunk(tmp_path: Path) -> None:
    async with reviewed(tmp_path, options=PAI) as scene:
        add, sub = await scene.hunks()
        assert (add["old"], add["new"]) == ("    return a - b\n", "    return a * b\n")
        assert (add["line"], sub["line"]) == (ADD, SUB)
        assert add["state"] == sub["state"] == "pending"

        decision = {"turnId": scene.turn_id, "decision": "reject", "feedback": "no products"}
        done = await scene.changes("resolve", **decision, hunkIds=[add["id"]])
        assert done == {"resolved": [add["id"]], "unresolved": []}
        assert scene.path.read_text() == AFTER.replace("a * b", "a - b")
        event = await scene.client.wait_for_event("hunksResolved")
        assert (event["decision"], event["feedback"]) == ("rejected", "no products")

        path = str(scene.path)
        await scene.changes("resolve", turnId=scene.turn_id, decision="accept", path=path)
        assert [hunk["state"] for hunk in await scene.hunks()] == ["rejected", "accepted"]


async def test_a_hunk_can_be_replaced_by_the_persons_own_lines(tmp_path: Path) -> None:
    async with reviewed(tmp_path, options=PAI) as scene:
        _, sub = await scene.hunks()
        own = {"decision": "replace", "hunkIds": [sub["id"]], "text": "    return a - b\n"}
        await scene.changes("resolve", turnId=scene.turn_id, **own)
        assert scene.path.read_text() == AFTER.replace("  # 😀", "")


async def test_the_text_before_and_who_wrote_which_line(tmp_path: Path) -> None:
    async with reviewed(tmp_path, options=PAI) as scene:
        path = str(scene.path)
        text = await scene.changes("text", turnId=scene.turn_id, path=path)
        assert text == {"text": BEFORE}
        scene.path.write_text("# mine\n" + AFTER)
        expected = [
            {
                "first": line + 2,
                "last": line + 2,
                "sessionId": scene.session,
                "turnId": scene.turn_id,
                "approved": "unreviewed",
            }
            for line in (ADD, SUB)
        ]
        assert (await scene.changes("origin", path=path))["runs"] == expected
        of_all = await scene.client.request("pai/changes/origin", {"path": path})
        assert of_all["runs"] == expected
        exported = await scene.changes("exportOrigin")
        assert [run["first"] for run in exported["origin"]["files"][path]] == [ADD + 2, SUB + 2]


@pytest.mark.parametrize(
    ("method", "params", "says"),
    [
        ("text", {"turnId": "t", "path": "calc.py"}, "not an absolute path"),
        ("origin", {"path": "calc.py"}, "not an absolute path"),
        ("list", {"sessionId": "gone"}, "No session"),
        ("resolve", {"turnId": "gone", "decision": "accept"}, "gone"),
        ("resolve", {"turnId": "t", "decision": "accepted"}, "decision"),
    ],
)
async def test_what_cannot_be_answered_says_why(
    tmp_path: Path, method: str, params: Json, says: str
) -> None:
    async with start_client(tmp_path) as client:
        session = await client.new_session()
        with pytest.raises(JsonRpcException) as caught:
            await client.request(f"pai/changes/{method}", {"sessionId": session, **params})
        assert says in caught.value.message


async def test_an_approval_takes_some_of_the_hunks(tmp_path: Path) -> None:
    patch = {
        "path": "calc.py",
        "edits": [
            {"old": "    return a - b", "new": "    return a * b"},
            {"old": "return a + b", "new": "return a - b  # 😀"},
        ],
    }
    async with ScriptedModel([Calls(("edit_file", patch)), Say("Done.")]) as model:
        environment = {"PAILS_BASE_URL": model.base_url, "PAILS_MODEL": model.model}
        async with start_client(tmp_path, environment=environment) as client:
            (client.workspace / "calc.py").write_text(BEFORE)
            client.approve = lambda asked: {
                "choice": "allowOnce",
                "hunkIds": [asked["hunks"][1]["id"]],
            }
            session = await client.new_session(mode="ask")
            await client.prompt_and_wait(session, "Swap them.")
            text = (client.workspace / "calc.py").read_text()
            assert text == AFTER.replace("a * b", "a - b")


async def test_a_plain_client_decides_part_by_part(tmp_path: Path) -> None:
    patch = {
        "path": "calc.py",
        "edits": [
            {"old": "    return a - b", "new": "    return a * b"},
            {"old": "return a + b", "new": "return a - b  # 😀"},
        ],
    }
    async with ScriptedModel([Calls(("edit_file", patch)), Say("Done.")]) as model:
        environment = {"PAILS_BASE_URL": model.base_url, "PAILS_MODEL": model.model}
        async with start_client(tmp_path, options=None, environment=environment) as client:
            (client.workspace / "calc.py").write_text(BEFORE)
            said = iter([bare.BY_PART, bare.TAKE, bare.LEAVE])
            client.choose = lambda _: next(said)
            session = await client.new_session(mode="ask")
            prompt = {"sessionId": session, "text": "Swap them."}
            await client.request("pai/session/prompt", prompt)
            await client.wait_for("window/showMessage")
            assert (client.workspace / "calc.py").read_text() == BEFORE.replace("a - b", "a * b")


# -- by plain LSP ------------------------------------------------------------------------------


async def test_before_there_is_a_session_there_are_no_lenses(tmp_path: Path) -> None:
    async with start_client(tmp_path, options=None) as client:
        path = client.workspace / "calc.py"
        path.write_text(BEFORE)
        client.open_document(path)
        document = {"textDocument": {"uri": path.as_uri()}}
        assert await client.request("textDocument/codeLens", document) == []


async def test_lenses_follow_what_the_person_types(tmp_path: Path) -> None:
    async with reviewed(tmp_path) as scene:
        document = scene.client.open_document(scene.path)
        assert [line for line, title in await scene.lenses() if title == "Reject"] == [ADD, SUB]
        scene.client.change_document(document, 0, 0, "# typed 😀\n# more\n")
        lenses = await scene.lenses()
        assert [line for line, title in lenses if title == "Reject"] == [ADD + 2, SUB + 2]
        await scene.run_lens(SUB + 2, "Reject")
        assert document.text == "# typed 😀\n# more\n" + AFTER.replace("- b  # 😀", "+ b")
        assert scene.path.read_text() == AFTER, "an unsaved document stays unsaved"
        scene.client.change_document(document, 0, len(document.text), BEFORE)
        assert await scene.lenses() == [], "the person has taken all back by hand"


async def test_lenses_are_refreshed_when_changes_come_and_go(tmp_path: Path) -> None:
    def refreshes() -> int:
        return [method for method, _ in scene.client.requests].count("workspace/codeLens/refresh")

    async with reviewed(tmp_path, capabilities=REFRESHING) as scene:
        await scene.client.wait_until(lambda: refreshes() > 0)
        await asyncio.sleep(0.2)
        before = refreshes()
        assert before <= 4, "gathered, though every write and the end of the turn ask for one"
        scene.client.open_document(scene.path)
        await scene.run_lens(0, "Accept all")
        await scene.client.wait_until(lambda: refreshes() > before)
        assert await scene.lenses() == []


async def test_a_file_behind_a_link_is_reviewed_as_well(tmp_path: Path) -> None:
    async with reviewed(tmp_path) as scene:
        link = scene.client.workspace / "link"
        link.symlink_to(scene.client.workspace, target_is_directory=True)
        document = scene.client.open_document(link / "calc.py")
        assert (0, "Pails: 2 changes") in await scene.lenses(document.uri)
        await scene.run_lens(0, "Reject all", document.uri)
        assert document.text == BEFORE


async def test_a_whole_turn_is_rejected_by_command(tmp_path: Path) -> None:
    async with reviewed(tmp_path) as scene:
        params: Json = {"command": "pails.rejectTurn", "arguments": [None, None, "not now"]}
        done = await scene.client.request("workspace/executeCommand", params)
        assert len(done["resolved"]) == 2
        assert scene.path.read_text() == BEFORE
        assert {hunk["feedback"] for hunk in await scene.hunks()} == {"not now"}
        again = await scene.client.request("workspace/executeCommand", params)
        assert again == {"resolved": [], "unresolved": []}
        assert "No changes of Pails wait" in scene.messages()[-1]


async def test_what_changed_since_stays_and_the_person_is_told(tmp_path: Path) -> None:
    async with reviewed(tmp_path) as scene:
        document = scene.client.open_document(scene.path)
        add, _ = await scene.hunks()
        place = document.text.index("a * b")
        scene.client.change_document(document, place, place + 5, "b * a")
        arguments = [scene.session, scene.turn_id, add["id"]]
        params = {"command": "pails.rejectHunk", "arguments": arguments}
        done = await scene.client.request("workspace/executeCommand", params)
        assert [left["hunkId"] for left in done["unresolved"]] == [add["id"]]
        assert "calc.py: " in scene.messages()[-1]
        assert "b * a" in document.text


async def test_the_text_before_is_a_document_of_its_own(tmp_path: Path) -> None:
    async with reviewed(tmp_path, capabilities=CONTENTS) as scene:
        shown: list[str] = []
        scene.client.show = lambda params: shown.append(params["uri"]) or {"success": True}
        provider = scene.client.initialized["capabilities"]["workspace"]["textDocumentContent"]
        scene.client.open_document(scene.path)
        for title, contents in (("Show before", BEFORE), ("Pails: 2 changes", None)):
            await scene.run_lens(0, title)
            uri = shown.pop()
            assert uri.partition(":")[0] in provider["schemes"]
            answer = await scene.client.request("workspace/textDocumentContent", {"uri": uri})
            assert answer["text"] == contents or "+    return a - b  # 😀\n" in answer["text"]
        assert len(scene.messages()) == 1, "the end of the turn"


async def test_where_no_document_can_be_shown_the_person_is_told_of_a_private_file(
    tmp_path: Path,
) -> None:
    async with reviewed(tmp_path) as scene:
        scene.client.show = lambda _: {"success": False}
        scene.client.open_document(scene.path)
        await scene.run_lens(0, "Show before")
        [asked] = [
            params for method, params in scene.client.requests if method == "window/showDocument"
        ]
        path = Path(unquote(asked["uri"].removeprefix("file://")))
        assert scene.messages()[-1].endswith(str(path))
        assert path.read_text() == BEFORE
        assert path.suffix == ".py"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_code_actions_offer_the_same(tmp_path: Path) -> None:
    async with reviewed(tmp_path) as scene:
        scene.client.open_document(scene.path)
        at = {"line": SUB, "character": 4}
        params = {
            "textDocument": {"uri": scene.path.as_uri()},
            "range": {"start": at, "end": at},
            "context": {"diagnostics": []},
        }
        offered = await scene.client.request("textDocument/codeAction", params)
        commands = {action["title"]: action["command"] for action in offered}
        assert "Pails: explain" in commands
        assert "Pails: accept all changes in this file" in commands
        reject = commands["Pails: reject this change"]
        await scene.client.request(
            "workspace/executeCommand",
            {"command": reject["command"], "arguments": reject["arguments"]},
        )
        assert scene.client.documents[scene.path.as_uri()].text == AFTER.replace("- b  # 😀", "+ b")

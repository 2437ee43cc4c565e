"""Texts without a file: by URI to clients that know them, else as a file, else in a message."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from pails.core.errors import NotFoundError
from pails.lsp import client as client_module
from pails.lsp.client import Client
from pails.lsp.virtual import BEFORE, CHANGES, Content, Viewer, parse
from tests.unit.lsp.conftest import FakeWire

SHOW = "window/showDocument"
CONTENT = Content(BEFORE, Path("/w/a b/名 😀.py"), "20260101-s", "turn-1")


def capabilities(*, documents: bool, contents: bool) -> types.ClientCapabilities:
    return types.ClientCapabilities(
        workspace=types.WorkspaceClientCapabilities(
            text_document_content=types.TextDocumentContentClientCapabilities()
            if contents
            else None
        ),
        window=types.WindowClientCapabilities(
            show_document=types.ShowDocumentClientCapabilities(support=documents)
        ),
    )


class Kept:
    """Where texts are kept."""

    def __init__(self) -> None:
        self.texts: list[tuple[str, str]] = []

    async def __call__(self, name: str, text: str) -> Path:
        self.texts.append((name, text))
        return Path("/state/answers") / name


@pytest.mark.parametrize("scheme", [BEFORE, CHANGES])
@given(
    name=st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1).filter(
        str.strip
    )
)
def test_a_uri_names_what_it_was_made_of(scheme: str, name: str) -> None:
    if name in (".", ".."):
        return
    content = Content(scheme, Path("/w") / name, "session", "turn-9")
    assert parse(content.uri) == content


def test_an_editor_may_spell_it_anew() -> None:
    spelled = CONTENT.uri.replace("?20260101-s/", "?20260101-s%2F").replace(BEFORE, BEFORE.upper())
    assert parse(spelled) == CONTENT


@pytest.mark.parametrize("uri", ["file:///w/x.py", "pails-other:///x", "no uri", "http://[x", ""])
def test_other_uris_are_none_of_ours(uri: str) -> None:
    with pytest.raises(NotFoundError):
        parse(uri)


async def test_a_client_that_asks_for_contents_gets_a_uri(
    make_client: Callable[..., Client], wire: FakeWire
) -> None:
    wire.answers[SHOW] = lambda _: types.ShowDocumentResult(success=True)
    kept = Kept()
    client = make_client(capabilities(documents=True, contents=True))
    await Viewer(client, kept).show(CONTENT, "text")
    assert [params.uri for params in wire.of(SHOW)] == [CONTENT.uri]
    assert kept.texts == []


async def test_others_get_a_file_with_the_right_name(
    make_client: Callable[..., Client], wire: FakeWire
) -> None:
    wire.answers[SHOW] = lambda _: types.ShowDocumentResult(success=True)
    kept = Kept()
    client = make_client(capabilities(documents=True, contents=False))
    await Viewer(client, kept).show(CONTENT, "text 名")
    [params] = wire.of(SHOW)
    assert params.uri.startswith("file:///state/answers/") and params.uri.endswith(".py")
    assert kept.texts == [("名 😀.py", "text 名")]
    assert wire.of("window/showMessage") == []


@pytest.mark.parametrize(
    "answer",
    [types.ShowDocumentResult(success=False), JsonRpcException("cannot show"), None],
)
@pytest.mark.parametrize("contents", [True, False])
async def test_where_nothing_opens_the_person_is_told_where_it_is(
    make_client: Callable[..., Client], wire: FakeWire, answer: Any, contents: bool
) -> None:
    wire.answers[SHOW] = lambda _: answer
    client = make_client(capabilities(documents=True, contents=contents))
    await Viewer(client, Kept()).show(CONTENT, "text")
    [message] = wire.of("window/showMessage")
    assert "/state/answers/名 😀.py" in message.message


async def test_a_client_that_cannot_show_documents_is_not_asked_to(
    make_client: Callable[..., Client], wire: FakeWire
) -> None:
    client = make_client(capabilities(documents=False, contents=True))
    await Viewer(client, Kept()).show(CONTENT, "text")
    assert wire.of(SHOW) == []
    assert len(wire.of("window/showMessage")) == 1


async def test_a_client_that_never_answers_is_not_waited_for(
    make_client: Callable[..., Client], wire: FakeWire, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "SHOW_SECONDS", 0.05)
    client = make_client(capabilities(documents=True, contents=False))
    async with asyncio.timeout(5):
        await Viewer(client, Kept()).show(CONTENT, "text")
    assert wire.withdrawn == [SHOW]
    assert len(wire.of("window/showMessage")) == 1

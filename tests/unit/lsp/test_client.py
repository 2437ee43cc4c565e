"""What a client says of itself."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from pails.lsp.client import Client

MakeClient = Callable[..., Client]


@pytest.mark.parametrize(
    ("params", "folders"),
    [
        (
            {
                "workspace_folders": [types.WorkspaceFolder("file:///a", "a")],
                "root_uri": "file:///b",
            },
            ["/a"],
        ),
        ({"root_uri": "file:///b%20c", "root_path": "/d"}, ["/b c"]),
        ({"root_path": "/d"}, ["/d"]),
        ({"workspace_folders": [types.WorkspaceFolder("vscode-vfs://x/y", "y")]}, []),
        ({}, []),
    ],
)
def test_workspace_folders(make_client: MakeClient, params: Any, folders: list[str]) -> None:
    assert make_client(**params).folders == tuple(map(Path, folders))


def test_folders_come_and_go(make_client: MakeClient) -> None:
    client = make_client(workspace_folders=[types.WorkspaceFolder("file:///a", "a")])
    client.change_folders(
        types.WorkspaceFoldersChangeEvent(
            added=[types.WorkspaceFolder("file:///b", "b")],
            removed=[types.WorkspaceFolder("file:///a", "a")],
        )
    )
    assert client.folders == (Path("/b"),)


@pytest.mark.parametrize("options", [None, [], "x", {}, {"pai": None}, {"pai": [1]}])
def test_without_a_pai_object_a_client_is_bare(make_client: MakeClient, options: Any) -> None:
    assert make_client(options=options).options is None


def test_what_a_client_can(make_client: MakeClient) -> None:
    client = make_client()
    assert client.can_show_progress and client.can_show_documents
    assert client.can_apply_edits and client.knows_versioned_edits
    nothing = make_client(types.ClientCapabilities())
    assert not (nothing.can_show_progress or nothing.can_show_documents)
    assert not (nothing.can_apply_edits or nothing.knows_versioned_edits)

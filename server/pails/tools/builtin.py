"""The built-in tools as one set."""

from pathlib import Path
from typing import Any

from pails.config import Config
from pails.tools.assist import AskUser, UpdatePlan
from pails.tools.command import RunCommand
from pails.tools.edit_file import EditFile
from pails.tools.files.documents import Documents
from pails.tools.glob import GlobFiles
from pails.tools.grep import Grep
from pails.tools.list_dir import ListDir
from pails.tools.move import DeletePath, MovePath
from pails.tools.notebook import EditNotebook
from pails.tools.patch import ApplyPatch
from pails.tools.read_file import ReadFile
from pails.tools.registry import Tool
from pails.tools.rollback import ListSnapshots, Rollback
from pails.tools.write_file import WriteFile


def builtin_tools(documents: Documents, config: Config, spill: Path, owner: str) -> list[Tool[Any]]:
    """All of them. Those that read and write share one set of documents and locks.

    Long outputs of commands go to files in `spill`. `owner` is a long unique id that marks all
    processes that commands start, so that `kill_tree(None, owner)` ends them.
    """
    passthrough, seconds = config.environment_passthrough, config.command_timeout_seconds
    return [
        ReadFile(documents),
        ListDir(),
        GlobFiles(documents.editor),
        Grep(documents.editor),
        WriteFile(documents),
        ApplyPatch(documents),
        MovePath(documents),
        DeletePath(documents),
        EditFile(documents),
        EditNotebook(documents),
        RunCommand(spill, passthrough, owner, seconds, documents.editor),
        AskUser(),
        UpdatePlan(),
        ListSnapshots(),
        Rollback(),
    ]

"""The file tools as a set."""

from typing import Any

from pails.tools.documents import Documents
from pails.tools.list_dir import ListDir
from pails.tools.read_file import ReadFile
from pails.tools.registry import Tool
from pails.tools.write import EditFile, WriteFile


def file_tools(documents: Documents) -> list[Tool[Any]]:
    """The tools that read, list, write and edit; they share one set of documents and locks."""
    return [ReadFile(documents), ListDir(), WriteFile(documents), EditFile(documents)]

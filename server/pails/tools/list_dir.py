"""The tool `list_dir`: the names in a folder, with sizes."""

import asyncio

from pails.core.events import Effect
from pails.core.numbers import counted, shown_size
from pails.core.ports import Action, ToolResult
from pails.core.text import shown_name, shown_path
from pails.host import files
from pails.tools.paths import PathOrWorkspace, missing_message, path_for_person, resolve_path
from pails.tools.registry import CallContext, Parameters, Proposal, Tool

MAX_ENTRIES = 500


class ListDirParameters(Parameters):
    path: PathOrWorkspace = "."


class ListDir(Tool[ListDirParameters]):
    name = "list_dir"
    effect = Effect.READ
    parameters = ListDirParameters

    def action(self, args: ListDirParameters, context: CallContext) -> Action:
        path = resolve_path(context, args.path)
        title = f"List {path_for_person(context, path)}"
        return Action(self.name, self.effect, title, reads=(path,))

    async def propose(self, args: ListDirParameters, context: CallContext) -> Proposal:
        return Proposal(lambda: self._run(args, context))

    async def _run(self, args: ListDirParameters, context: CallContext) -> ToolResult:
        path = resolve_path(context, args.path)
        shown = shown_path(path, context.workspace)
        try:
            entries = await asyncio.to_thread(files.list_folder, path)
        except FileNotFoundError:
            return ToolResult(await missing_message(context, path), is_error=True)
        except NotADirectoryError:
            text = f"{shown} is a file, not a directory. Use read_file."
            return ToolResult(text, is_error=True)
        except OSError as error:
            text = f"{shown} cannot be listed: {files.reason(error)}."
            return ToolResult(text, is_error=True)
        lines = [_line(entry) for entry in entries[:MAX_ENTRIES]]
        if len(entries) > MAX_ENTRIES:
            rest = len(entries) - MAX_ENTRIES
            lines.append(f"[{rest:,} of {len(entries):,} entries not shown; use glob]")
        summary = counted(len(entries), "entry", "entries")
        return ToolResult("\n".join(lines) or "[empty directory]", summary=summary)


def _line(entry: files.Entry) -> str:
    name = shown_name(entry.name)
    match entry.kind:
        case "directory":
            return f"{name}/"
        case "file":
            return f"{name}\t{shown_size(entry.size)}"
        case "link":
            return f"{name} -> {shown_name(entry.target)}"
        case "other":
            return f"{name}\t(neither file nor directory)"

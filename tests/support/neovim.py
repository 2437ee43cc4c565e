"""A real Neovim, driven from a test: one thread owns it, the test's loop stays free."""

import asyncio
import os
import re
import shutil
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pynvim

REPOSITORY = Path(__file__).parents[2]
NVIM = Path(sys.executable).with_name("nvim")

# Records what a person would see, and answers `vim.ui.select` as the test says.
WATCH = """
_G.seen = { progress = {}, asked = {}, messages = {} }
_G.choose = function(labels) return nil end
vim.ui.select = function(items, opts, on_choice)
  local labels = vim.tbl_map(opts.format_item or tostring, items)
  table.insert(_G.seen.asked, { prompt = opts.prompt, labels = labels })
  local index = _G.choose(labels)
  on_choice(index and items[index] or nil, index)
end
vim.api.nvim_create_autocmd('LspProgress', { callback = function(event)
  table.insert(_G.seen.progress, event.data.params)
end })
local show = vim.lsp.handlers['window/showMessage']
vim.lsp.handlers['window/showMessage'] = function(err, params, ctx)
  table.insert(_G.seen.messages, params.message)
end
"""


def documented_configuration() -> str:
    """The configuration of docs/neovim.md, as a reader would copy it."""
    page = (REPOSITORY / "docs" / "neovim.md").read_text(encoding="utf-8")
    block = re.search(r"```lua\n(vim\.lsp\.config.*?)```", page, re.DOTALL)
    assert block, "docs/neovim.md has no configuration"
    return block[1].replace("cmd = { 'pails' }", f"cmd = {{ '{sys.executable}', '-m', 'pails' }}")


class Neovim:
    """One editor. All calls go to the thread that owns it."""

    def __init__(self, thread: ThreadPoolExecutor, nvim: pynvim.Nvim) -> None:
        self._thread = thread
        self._nvim = nvim

    async def lua(self, code: str, *arguments: Any) -> Any:
        """The value of a chunk of Lua; `...` are the arguments."""
        loop = asyncio.get_running_loop()
        call: Callable[[], Any] = lambda: self._nvim.exec_lua(code, *arguments)  # noqa: E731
        return await loop.run_in_executor(self._thread, call)

    async def until(self, condition: str, *arguments: Any, seconds: float = 20) -> Any:
        """Wait until a Lua expression is true, and return it."""
        value = None
        for _ in range(int(seconds / 0.02)):
            value = await self.lua(f"return {condition}", *arguments)
            if value:
                return value
            await asyncio.sleep(0.02)
        seen = await self.lua("return vim.inspect(_G.seen)")
        raise AssertionError(f"never true: {condition} (last {value!r}); seen: {seen}")

    async def open(self, path: Path) -> None:
        """Edit a file and wait until the server is attached to its buffer."""
        await self.lua("vim.cmd.edit(...)", str(path))
        await self.until("#vim.lsp.get_clients({ bufnr = 0 }) > 0 and "
                         "vim.lsp.get_clients({ bufnr = 0 })[1].initialized")  # fmt: skip

    async def act(self, title: str, first: int, last: int) -> None:
        """Choose a code action on the lines from `first` to `last`."""
        await self.lua(
            """
            local title, first, last = ...
            local width = #vim.api.nvim_buf_get_lines(0, last - 1, last, true)[1]
            vim.lsp.buf.code_action({
              apply = true,
              filter = function(action) return action.title == title end,
              range = { start = { first, 0 }, ['end'] = { last, width } },
            })
            """,
            title,
            first,
            last,
        )

    async def execute(self, command: str) -> None:
        """Run a command of the server without arguments."""
        await self.lua(
            """
            local client = vim.lsp.get_clients({ bufnr = 0 })[1]
            client:request('workspace/executeCommand', { command = ... }, function() end)
            """,
            command,
        )

    async def text(self) -> str:
        """The current buffer."""
        lines = await self.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)")
        return "\n".join(lines) + "\n"

    async def seen(self) -> dict[str, list[Any]]:
        return await self.lua("return _G.seen")

    async def progress(self) -> list[str]:
        """The kinds of the progress reports so far."""
        return [report["value"]["kind"] for report in (await self.seen())["progress"]]


@asynccontextmanager
async def neovim(home: Path, environ: Mapping[str, str]) -> AsyncIterator[Neovim]:
    """Neovim with the documented configuration and a home of its own."""
    assert NVIM.exists() or shutil.which("nvim"), "install the dev dependencies first"
    settings = {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local/share"),
        "XDG_STATE_HOME": str(home / ".local/state"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "PATH": f"{NVIM.parent}{os.pathsep}{os.environ['PATH']}",
        **environ,
    }
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(1, "neovim") as thread:
        nvim = await loop.run_in_executor(thread, _attach, settings)
        editor = Neovim(thread, nvim)
        try:
            await editor.lua(WATCH)
            await editor.lua(documented_configuration())
            yield editor
        finally:
            await editor.lua("vim.lsp.stop_client(vim.lsp.get_clients())")
            await editor.until("#vim.lsp.get_clients() == 0", seconds=10)
            await loop.run_in_executor(thread, _quit, nvim)


def _attach(settings: Mapping[str, str]) -> pynvim.Nvim:
    assignments = [f"{name}={value}" for name, value in settings.items()]
    argv = ["env", "-i", *assignments, str(NVIM), "--embed", "--headless", "--clean", "-n"]
    return pynvim.attach("child", argv=argv)


def _quit(nvim: pynvim.Nvim) -> None:
    with suppress(EOFError, OSError):
        nvim.command("qall!")
    nvim.close()

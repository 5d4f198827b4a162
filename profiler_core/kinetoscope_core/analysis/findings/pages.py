"""The pages that explain codes, one for each: docs/findings in the repository, beside the package once installed."""

from difflib import get_close_matches
from pathlib import Path
from typing import Final

from kinetoscope_core.errors import UsageError

_INSTALLED: Final = Path(__file__).resolve().parents[2] / "pages"
_IN_THE_REPOSITORY: Final = Path(__file__).resolve().parents[4] / "docs" / "findings"

PAGES: Final = _INSTALLED if _INSTALLED.is_dir() else _IN_THE_REPOSITORY


def page_of(code: str) -> Path:
    """The file of a code's page."""
    return PAGES / f"{code}.md"


def codes_with_a_page() -> list[str]:
    """All codes that can be explained, in the order of the alphabet."""
    return sorted(page.stem for page in PAGES.glob("*.md") if page.stem != "README")


def text_of(code: str) -> str:
    """The page of a code, as Markdown. Raises `UsageError` where there is none."""
    known = codes_with_a_page()
    if code not in known:
        near = get_close_matches(code, known, 1)
        meant = f"Did you mean {near[0]}?" if near else f"There are: {', '.join(known)}."
        raise UsageError(f"There is no finding {code!r}. {meant}")
    return page_of(code).read_text(encoding="utf-8")

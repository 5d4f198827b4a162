"""The pages that explain diagnostics, one for each code."""

from functools import lru_cache
from pathlib import Path
from typing import Final

PAGES: Final = Path(__file__).resolve().parent / "pages"


@lru_cache
def page_of(code: str) -> str:
    """The URI of a code's page."""
    return (PAGES / f"{code}.md").as_uri()

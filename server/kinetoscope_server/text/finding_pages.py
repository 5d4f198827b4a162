"""The pages that explain diagnostics, as links: one for each code."""

from functools import lru_cache

from kinetoscope_core.analysis.findings import page_of as file_of


@lru_cache
def page_of(code: str) -> str:
    """The URI of a code's page."""
    return file_of(code).as_uri()

"""What a recording says to do, at the line where it can be done: rules over the measured passages of each region.

One rule a module; registry.py has them all, docs/findings a page for each.
"""

from kinetoscope_core.findings.finding import Findings, findings
from kinetoscope_core.findings.gathering import is_of_torch
from kinetoscope_core.findings.pages import PAGES, page_of
from kinetoscope_core.findings.registry import BOUNDS, BY_CODE, RULES
from kinetoscope_core.findings.suppressing import ignored_at, ignored_codes

__all__ = [
    "BOUNDS",
    "BY_CODE",
    "PAGES",
    "RULES",
    "Findings",
    "findings",
    "ignored_at",
    "ignored_codes",
    "is_of_torch",
    "page_of",
]

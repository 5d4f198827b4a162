"""What a recording says to do, at the line where it can be done: rules over the measured calls of each region.

One rule a module; registry.py has them all, docs/findings a page for each.
"""

from kinetoscope_core.analysis.findings.finding import Findings, findings
from kinetoscope_core.analysis.findings.pages import PAGES, page_of
from kinetoscope_core.analysis.findings.registry import BOUNDS, BY_CODE, RULES

__all__ = [
    "BOUNDS",
    "BY_CODE",
    "PAGES",
    "RULES",
    "Findings",
    "findings",
    "page_of",
]

"""What comments of an open text expect, against what is shown at its regions: as diagnostics, and as edits of a limit.

The text counts as it now is: a comment that was written after the run is checked at once.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from kinetoscope_core.results.checks import Check, checks, summary, verdict
from kinetoscope_core.source.comments import rows_at
from kinetoscope_core.source.expectations import Expectation, Mistake
from kinetoscope_core.source.regions import Range
from kinetoscope_server.results.by_file import Placed
from kinetoscope_server.settings.settings import Severity
from kinetoscope_server.text.documents import Document

_MARGIN: Final = 10
"""Percent of what was measured that a new limit leaves to noise."""


def checked(document: Document, placed: Sequence[Placed]) -> list[Check]:
    """All expectations of the text, at what is shown. Stale times are of other code, so nothing is said of them."""
    fresh = (
        (each.region, each.measured.region) for each in placed if not each.is_stale and not each.measured.is_forward
    )
    return checks(document.source, document.path, fresh, with_missing=False)


def expectation_problems(document: Document, placed: Sequence[Placed]) -> Iterator[tuple[Range, str, Severity | None]]:
    """Place, message and severity (where not the usual one) of what is wrong with expectations: each term once for all
    names.
    """
    for term, outcomes in checked(document, placed):
        if isinstance(term, Mistake):
            yield term.place, term.message, None
        elif not outcomes:
            if placed and not _stands_at_a_region(document, placed, term.place.start.row):
                message = "No region is entered here. Put the comment on the region's line, or alone right above it."
                yield term.place, f"Not checked: {message}", "information"
        elif verdict(outcomes) is None:
            yield term.place, f"Not checked: {summary(outcomes)}.", "information"
        elif verdict(outcomes) is False:
            yield term.place, f"{summary(outcomes)}. Expected: {term.text}.", None


def _stands_at_a_region(document: Document, placed: Sequence[Placed], row: int) -> bool:
    regions = (*document.regions, *document.helped, *(each.region for each in placed))
    return any(row in rows_at(region, document.source) for region in regions)


def wider(check: Check) -> str | None:
    """The term of a broken expectation with a limit that what was measured keeps; None where a person has to say."""
    term, outcomes = check
    values = [each.value for each in outcomes if isinstance(each.value, int)]
    if isinstance(term, Mistake) or not values or verdict(outcomes) is not False:
        return None
    if term.quantity == "launches":
        limits = {"<=": max(values), ">=": min(values), "<": max(values) + 1, ">": min(values) - 1}
        limit = limits.get(term.comparison, -1)
        return f"launches {term.comparison} {limit}" if limit >= 0 else None
    return f"{term.quantity} {term.comparison} {_limit_text(term, values)}"


def _limit_text(term: Expectation, values: Sequence[int]) -> str:
    """Two digits, rounded away from what was measured: `240us`, `1.2ms`."""
    if term.comparison in ("<", "<="):
        exact = max(values) * (100 + _MARGIN) // 100 + 1
        size = 10 ** max(len(str(exact)) - 2, 0)
        ns = -(-exact // size) * size
    else:
        exact = min(values) * (100 - _MARGIN) // 100
        size = 10 ** max(len(str(exact)) - 2, 0)
        ns = exact // size * size
    unit, factor = next((each for each in _UNITS if ns >= each[1]), _UNITS[-1])
    return f"{ns / factor:g}{unit}"


_UNITS: Final = (("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1))

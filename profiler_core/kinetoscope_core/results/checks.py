"""Whether what was measured is as the comments in the source expect it (source/expectations.py).

A number is compared as it is shown: the median of the measured calls, exact to the nanosecond. What was not measured
neither holds nor is broken: `None`, with the reason.
"""

import operator
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from kinetoscope_core.results.measures import RegionMeasures, Spread, Unmeasured
from kinetoscope_core.source.comments import rows_at
from kinetoscope_core.source.expectations import Expectation, Mistake, Quantity, expectations_in
from kinetoscope_core.source.regions import Region, SourceRegions
from kinetoscope_core.text import count_text, printable, range_text, time_text

EXPECTATION: Final = "expectation"
"""The code under which people find its page."""

_COMPARE: Final = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "!=": operator.ne,
}
_SHOWN: Final[Mapping[Quantity, str]] = {
    "cuda": "CUDA",
    "cuda self": "CUDA self",
    "cpu": "CPU",
    "cpu self": "CPU self",
    "backward": "backward CUDA",
}


@dataclass(frozen=True, slots=True)
class Checked:
    """One expectation, `text` in the source, at one region.

    `holds` is `None` where that cannot be told, and `message` then has the reason, else what was found. `region` is the
    name at run time, as in the source where the region was not measured, and `None` where there is none. `file` and
    `line` (from 1) are those of the comment. `value` and `limit` are nanoseconds, launches, or a bound.
    """

    text: str
    region: str | None
    file: str
    line: int
    holds: bool | None
    message: str
    quantity: str | None = None
    comparison: str | None = None
    limit: int | str | None = None
    value: int | str | None = None

    @property
    def title(self) -> str:
        """What is expected and of what, for a list: `cuda < 250us in forward`."""
        return f"{self.text} in {printable(self.region)}" if self.region else f"{self.text} at line {self.line}"

    @property
    def distance(self) -> float:
        """From the limit, as a factor from 1 on in either direction."""
        if isinstance(self.value, int) and isinstance(self.limit, int):
            least, most = sorted((self.value, self.limit))
            return most / max(least, 1)
        return 1.0


class Check(NamedTuple):
    """One term of a comment, and what became of it at each region that it counts for."""

    term: Expectation | Mistake
    outcomes: Sequence[Checked]


def verdict(outcomes: Sequence[Checked]) -> bool | None:
    """Of one term: False where it is broken anywhere, else None where it is not known anywhere."""
    found = {each.holds for each in outcomes}
    return False if False in found else None if None in found else True


def summary(outcomes: Sequence[Checked]) -> str:
    """What was found of one term, once for all names: of many the number, and the one that says most."""
    holds = verdict(outcomes)
    decisive = [each for each in outcomes if each.holds is holds]
    if len(outcomes) == 1:
        return outcomes[0].message
    which, one = "the first", decisive[0]
    if holds is not None:
        which = "the closest" if holds else "the furthest off"
        one = (min if holds else max)(decisive, key=lambda each: each.distance)
    return f"{len(decisive)} of {len(outcomes)} regions at this line; {which}: {one.message}"


Row = RegionMeasures | Unmeasured


def checks(
    source: SourceRegions, file: str, measured: Iterable[tuple[Region, Row]], *, with_missing: bool
) -> list[Check]:
    """All expectations of a source text, checked against what was measured at its regions.

    `with_missing` says that what was not measured is told of; else a term without measures has no outcomes.
    """
    terms = list(expectations_in(source))
    if not terms:
        return []
    at_row: defaultdict[int, list[tuple[Region, Row]]] = defaultdict(list)
    standing: defaultdict[int, list[Region]] = defaultdict(list)
    found = list(measured)
    for region, row in found:
        for number in set(rows_at(region, source)):
            at_row[number].append((region, row))
    seen = {region.item for region, _ in found}
    for region in source.regions if with_missing else ():
        if region.item not in seen:
            for number in set(rows_at(region, source)):
                standing[number].append(region)
    made: list[Check] = []
    for term in terms:
        number = term.place.start.row
        here = _Here(term, file, number + 1)
        if isinstance(term, Mistake):
            outcomes = [here.not_told(None, term.message)]
        else:
            outcomes = [here.at(term, row) for _, row in at_row[number]]
            outcomes += [here.missing(region) for region in standing[number]]
        if with_missing and not outcomes:
            outcomes = [here.not_told(None, "no region was measured at this line")]
        made.append(Check(term, outcomes))
    return made


@dataclass(frozen=True, slots=True)
class _Here:
    """A term at its line."""

    term: Expectation | Mistake
    file: str
    line: int

    def missing(self, region: Region) -> Checked:
        return self.not_told(region.name, f"no call of {printable(region.name)} was measured at this line")

    def not_told(self, region: str | None, because: str) -> Checked:
        return self._checked(region, None, because)

    def at(self, term: Expectation, row: Row) -> Checked:
        name = printable(row.name)
        if isinstance(row, Unmeasured):
            return self.not_told(row.name, f"no call of {name} has a time")
        if row.cuda_total_ns is None and not term.quantity.startswith("cpu"):
            return self.not_told(row.name, f"no GPU work was measured, so {term.quantity} of {name} is not known")
        if term.quantity == "bound":
            if row.bound is None:
                return self.not_told(row.name, f"it is not known what limits {name}")
            return self._compared(term, row, row.bound, f"{name}: the bound is {row.bound}")
        found = _spread(row, term.quantity)
        if found is None:
            return self.not_told(row.name, f"{term.quantity} of {name} was not measured")
        value = found.median
        text = count_text(value, "launch") if term.quantity == "launches" else _time_text(term, value)
        message = f"{name}: {text} per call ({_calls_text(row, term.quantity, found)})"
        return self._compared(term, row, value, message)

    def _compared(self, term: Expectation, row: RegionMeasures, value: int | str, message: str) -> Checked:
        return self._checked(row.name, _COMPARE[term.comparison](value, term.limit), message, value)

    def _checked(self, region: str | None, holds: bool | None, message: str, value: int | str | None = None) -> Checked:
        term = self.term
        asked = (term.quantity, term.comparison, term.limit) if isinstance(term, Expectation) else (None, None, None)
        return Checked(term.text, region, self.file, self.line, holds, message, *asked, value)


def _spread(row: RegionMeasures, quantity: Quantity) -> Spread | None:
    spreads = {
        "cuda": row.cuda_total_ns,
        "cuda self": row.cuda_self_ns,
        "cpu": row.cpu_total_ns,
        "cpu self": row.cpu_self_ns,
        "backward": row.backward_cuda_ns,
        "launches": row.launches,
    }
    return spreads[quantity]


def _time_text(term: Expectation, ns: int) -> str:
    """As it is shown everywhere, but with all digits where it would read as the limit does."""
    text = time_text(ns)
    if isinstance(term.limit, int) and ns != term.limit and text == time_text(term.limit):
        text = f"{ns:,} ns"
    return f"{_SHOWN[term.quantity]} {text}"


def _calls_text(row: RegionMeasures, quantity: Quantity, found: Spread) -> str:
    """How sure the number is: of how many calls it is, and where they lie."""
    text = count_text(row.measured, "call") + (", cold" if row.is_cold else "")
    middle = {"cuda": row.cuda_middle_ns, "cpu": row.cpu_middle_ns}.get(quantity)
    least, most = middle or (found.min, found.max)
    if least == most:
        return text
    lie = f"{least}–{most}" if quantity == "launches" else range_text((least, most))
    return f"middle half of {text}: {lie}" if middle else f"{text}: {lie}"

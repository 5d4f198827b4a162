"""What is told at a region of a text: its findings and its times, each once for all the names that stand there."""

from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from kinetoscope_core.analysis.findings import BOUNDS
from kinetoscope_core.output.measures_text import both_times, bound_text, calls_mark
from kinetoscope_core.results.measures import Finding, RegionMeasures, Spot
from kinetoscope_core.source.suppressions import ignored_at
from kinetoscope_core.text import printable, range_text
from kinetoscope_server.results.by_file import Placed
from kinetoscope_server.settings.settings import Settings, Severity
from kinetoscope_server.text.documents import Document

MOST_AT_A_REGION: Final = 4
"""Findings shown as diagnostics; the hover has all."""

TIMES: Final = "times"
"""The code of the times of a region that nothing is known to limit; else it is that of the bound."""


@dataclass(frozen=True, slots=True)
class Told:
    """One thing that is told at a region. `spot` and `finding` are those of the name that it costs most at; the times
    have no finding.
    """

    code: str
    severity: Severity
    message: str
    placed: Placed
    finding: Finding | None = None

    @property
    def is_to_do(self) -> bool:
        """Whether it is worth a squiggle."""
        return self.severity != "hint"

    @property
    def spot(self) -> Spot | None:
        return self.finding.spot if self.finding else None


def by_item(placed: Sequence[Placed]) -> Iterator[list[Placed]]:
    """What was measured, by what enters it in the text: an f-string has many names."""
    found: defaultdict[object, list[Placed]] = defaultdict(list)
    for each in placed:
        found[each.region.item].append(each)
    yield from found.values()


def told_at(document: Document, here: Sequence[Placed], settings: Settings) -> list[Told]:
    """What is told of the names at one region: the costliest few findings that no comment or setting switches off, and
    then the times.

    Nothing of a name whose code has changed since: it was about other code. What is told of a module is told where it
    was made, not at its forward.
    """
    told = (each for each in here if not each.is_stale and not each.measured.is_forward)
    fresh = [each for each in told if isinstance(each.measured.region, RegionMeasures)]
    if not fresh or settings.findings == "off":
        return []
    ignored = ignored_at(fresh[0].region, document.source)
    found = [each for each in _findings(fresh, settings) if each.code not in ignored]
    times = _times(fresh, settings, ignored)
    return found[:MOST_AT_A_REGION] + ([times] if times else [])


def _findings(here: Sequence[Placed], settings: Settings) -> Iterator[Told]:
    by_code: defaultdict[str, list[tuple[Placed, Finding]]] = defaultdict(list)
    for each in here:
        for finding in each.measured.findings:
            if finding.code not in BOUNDS:
                by_code[finding.code].append((each, finding))
    for code, found in sorted(by_code.items(), key=lambda item: -sum(finding.cost_ns for _, finding in item[1])):
        placed, costliest = max(found, key=lambda each: each[1].cost_ns)
        severity = settings.severity_of_finding(code, costliest.severity)
        if severity == "off":
            continue
        message = costliest.message
        if len(found) > 1:
            message = f"{len(found)} of {len(here)} regions at this line; the most expensive: {message}"
        yield Told(code, severity, message, placed, costliest)


def _times(here: Sequence[Placed], settings: Settings, ignored: Container[str]) -> Told | None:
    """The times of all names, under the code of what limits the costliest; each code can be switched off."""
    known: list[tuple[str, Placed, RegionMeasures]] = []
    for each in here:
        region = each.measured.region
        if isinstance(region, RegionMeasures):
            code = bound_text(region.bound) if region.bound else TIMES
            if code not in ignored and settings.severity_of_finding(code) != "off":
                known.append((code, each, region))
    if not known:
        return None
    code, placed, costliest = max(known, key=lambda each: each[2].cpu_total_ns.sum)
    regions = [region for _, _, region in known]
    if len(known) == 1:
        message = _of_one(code, costliest)
    else:
        name = "" if placed.region.kind == "statement" else f"{printable(placed.region.name)}: "
        message = name + _of_several(Counter(code for code, *_ in known), regions)
    return Told(code, settings.severity_of_finding(code), message, placed)


def _of_one(code: str, region: RegionMeasures) -> str:
    name, times = printable(region.name), both_times(region)
    if code == TIMES:
        return f"{name}. {_per_call([region])}: {times}."
    bound = next((each.message for each in region.findings if each.code == code), f"{name} is {code}.")
    return f"{bound} {_per_call([region])}: {times}."


def _per_call(regions: Sequence[RegionMeasures]) -> str:
    mark = calls_mark(regions)
    names = regions[0].names if len(regions) == 1 else 1
    text = f"Per call of {names} names" if names > 1 else "Per call"
    return f"{text} ({mark})" if mark else text


def _of_several(codes: Counter[str], regions: Sequence[RegionMeasures]) -> str:
    bounds = [f"{count} {code}" for code, count in codes.most_common() if code != TIMES]
    cpu = range_text(each.cpu_total_ns.median for each in regions)
    cpu_self = range_text(each.cpu_self_ns.median for each in regions)
    times = [f"CPU {cpu} (self {cpu_self})"]
    cuda = [(each.cuda_total_ns, each.cuda_self_ns) for each in regions]
    known = [(total.median, own.median) for total, own in cuda if total is not None and own is not None]
    if known:
        totals, selves = zip(*known, strict=True)
        times.insert(0, f"CUDA {range_text(totals)} (self {range_text(selves)})")
    return f"{', '.join([f'{len(regions)} regions', *bounds])}. {_per_call(regions)}: {', '.join(times)}."

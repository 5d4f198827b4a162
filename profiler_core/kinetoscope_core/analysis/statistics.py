"""From single passages to one set of numbers for each region. Knows occurrences and keys, nothing of traces or files.

Several windows (runs, profiler cycles) may be summed up together; nesting is looked at inside each of them.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, TypeAlias

from kinetoscope_core.analysis.outermost import nearest_of_same_key, outermost
from kinetoscope_core.results.measures import Occurrence, OccurrenceInTrace, OccurrenceTimes, RegionMeasures, Spread

MOST_OCCURRENCES: Final = 200
"""Whose times are kept one by one for each region."""


@dataclass(frozen=True, slots=True)
class RegionKey:
    """What makes occurrences one region: the name, and where it stands if that is known (`line` from 1)."""

    name: str
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """The occurrences of one trace, with the region each belongs to and whether it was a warm-up passage.

    `parent` and `thread_parent` of the occurrences index this window's list. Without `is_warmup`, none was.
    `base_time_ns` is what makes a time of the trace one since the epoch. `is_series_warmup` is `is_warmup` for the
    series that an occurrence may be part of, where it differs.
    """

    occurrences: Sequence[Occurrence]
    keys: Sequence[RegionKey]
    is_warmup: Sequence[bool] = ()
    base_time_ns: int = 0
    is_series_warmup: Sequence[bool] = ()

    @classmethod
    def by_name(cls, occurrences: Sequence[Occurrence]) -> "Window":
        """A window of a trace from elsewhere, where only the names tell regions apart."""
        return cls(occurrences, [RegionKey(occurrence.name) for occurrence in occurrences])


START_UP: Final = RegionKey("kinetoscope: start-up launch")
"""What the runner names the launch that takes the profiler's start-up wait (`runner.profiling.START_UP_REGION`)."""

Passage: TypeAlias = tuple[int, int]
"""An occurrence, as (window, index)."""


@dataclass(frozen=True, slots=True)
class Passages:
    """The occurrences of one region: all of them, and those that are measured by the outermost one that holds them.

    `on_thread` counts only nesting on the occurrence's own thread, `on_device` also that of autograd threads. Calls
    with activities whose length cannot be are in `on_device` only where there are no others.
    """

    seen: Sequence[Passage]
    on_thread: Mapping[Passage, Sequence[Passage]]
    on_device: Mapping[Passage, Sequence[Passage]]
    is_cold: bool


class Nests:
    """Passages of a region by the outermost one of the region that holds them."""

    def __init__(self, windows: Sequence[Window]) -> None:
        self._windows = windows
        self._on_thread = [
            nearest_of_same_key([each.thread_parent for each in window.occurrences], window.keys) for window in windows
        ]
        self._on_device = [
            nearest_of_same_key([each.parent for each in window.occurrences], window.keys) for window in windows
        ]

    def on_thread(self, pool: Sequence[Passage]) -> dict[Passage, list[Passage]]:
        """Held are those whose times are part of another's. asyncio tasks cross, and each takes its own time."""
        return self._grouped(pool, self._on_thread, _end_ns)

    def on_device(self, pool: Sequence[Passage]) -> dict[Passage, list[Passage]]:
        """Held are those that were entered while another was open: their device work is part of that one's."""
        return self._grouped(pool, self._on_device, lambda inner: min(inner.start_ns + 1, _end_ns(inner)))

    def _grouped(
        self, pool: Sequence[Passage], nearest: Sequence[Sequence[int]], needed: Callable[[Occurrence], int]
    ) -> dict[Passage, list[Passage]]:
        """Only passages of the pool can hold others, up to the moment that these need."""
        groups: dict[Passage, list[Passage]] = {}
        for number, passages in groupby(pool, lambda passage: passage[0]):
            occurrences = self._windows[number].occurrences
            found = outermost(
                [index for _, index in passages],
                nearest[number],
                lambda index, them=occurrences: _end_ns(them[index]),
                lambda index, them=occurrences: needed(them[index]),
            )
            for index, outer in found.items():
                groups.setdefault((number, outer), []).append((number, index))
        return groups


class Calls:
    """The calls of the regions of some windows, collected once: all that is said of regions is made from these.

    `seen` are all calls of each region, in the order in which the regions were first entered; `measured` the regions
    that have a call with times, and which of theirs are measured; `median` their median calls.
    """

    def __init__(self, *windows: Window) -> None:
        self.windows = windows
        self.nests = Nests(windows)
        self.seen: dict[RegionKey, list[Passage]] = {}
        for number, window in enumerate(windows):
            for index, key in enumerate(window.keys):
                if key != START_UP:
                    self.seen.setdefault(key, []).append((number, index))
        found = ((key, _passages(seen, windows, self.nests)) for key, seen in self.seen.items())
        self.measured: dict[RegionKey, Passages] = {key: passages for key, passages in found if passages is not None}
        self.median = {key: median_passage(passages, windows) for key, passages in self.measured.items()}


def summarise(calls: Calls) -> list[RegionMeasures]:
    """The measures of every region, in the order in which the regions were first entered.

    Measured are the finished passages that were no warm-up and captured no CUDA graph. A region that has only warm-up
    passages is measured all the same and marked cold. One without a finished passage with times has no measures:
    unmeasured.py has it. What limits a region, `bounds.py` says.
    """
    return [_measures(key, calls) for key in calls.measured]


def _passages(seen: Sequence[Passage], windows: Sequence[Window], nests: Nests) -> Passages | None:
    timed = [(number, index) for number, index in seen if has_time(windows[number].occurrences[index])]
    if not timed:
        return None
    warm = [passage for passage in timed if not _is_warmup(windows[passage[0]], passage[1])]
    pool = warm or timed
    pool = [(number, index) for number, index in pool if not windows[number].occurrences[index].captures] or pool
    whole = [(number, index) for number, index in pool if windows[number].occurrences[index].has_cuda_times]
    return Passages(
        seen=seen,
        on_thread=nests.on_thread(pool),
        on_device=nests.on_device(whole or pool),
        is_cold=not warm,
    )


def has_time(occurrence: Occurrence) -> bool:
    """Whether what an occurrence took is a time: it had ended, and its start and end can be."""
    return occurrence.is_finished and occurrence.has_times


def median_of(values: Sequence[int]) -> int:
    """The median; that of an even number of values is the mean of the middle two, rounded to the integer below."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) // 2


def median_passage(passages: Passages, windows: Sequence[Window]) -> Passage:
    """The measured passage whose CPU total is in the middle; of an even number the earlier of the two."""

    def cpu_ns(passage: Passage) -> int:
        number, index = passage
        return windows[number].occurrences[index].cpu_total_ns

    ordered = sorted(passages.on_thread, key=cpu_ns)
    return ordered[(len(ordered) - 1) // 2]


def regions_cpu_ns(windows: Sequence[Window]) -> int:
    """The CPU time of all passages that lie in no other passage, warm-up included."""
    total_ns = 0
    for window in windows:
        latest: list[int] = []  # up to when an occurrence or one around it was open
        for key, occurrence in zip(window.keys, window.occurrences, strict=True):
            around = latest[occurrence.parent] if occurrence.parent >= 0 else -1
            is_outermost = occurrence.parent < 0 or _end_ns(occurrence) > around
            if is_outermost and key != START_UP:
                total_ns += occurrence.cpu_total_ns
            latest.append(max(around, _end_ns(occurrence)))
    return total_ns


def _measures(key: RegionKey, calls: Calls) -> RegionMeasures:
    windows, nests, passages, median = calls.windows, calls.nests, calls.measured[key], calls.median[key]
    occurrences = {passage: windows[passage[0]].occurrences[passage[1]] for passage in passages.seen}
    on_thread, on_device = passages.on_thread, passages.on_device
    timed = [passage for passage in passages.seen if has_time(occurrences[passage])]
    unfinished = [each.cpu_total_ns for each in occurrences.values() if not each.is_finished]
    recorded = _spread(
        _totals(nests.on_device(passages.seen), occurrences, lambda occurrence: occurrence.cuda_total_ns)
    )
    return RegionMeasures(
        name=key.name,
        file=key.file,
        line=key.line,
        occurrences=len(passages.seen),
        measured=len(on_thread),
        is_cold=passages.is_cold,
        unfinished=len(unfinished),
        untimed=sum(1 for each in occurrences.values() if each.is_finished and not each.has_times),
        at_least_ns=max(unfinished, default=None),
        cpu_total_ns=_known_spread([occurrences[passage].cpu_total_ns for passage in on_thread]),
        cpu_self_ns=_known_spread(
            [sum(occurrences[each].cpu_self_ns for each in nested) for nested in on_thread.values()]
        ),
        cuda_total_ns=_spread(_totals(on_device, occurrences, lambda occurrence: occurrence.cuda_total_ns)),
        cuda_self_ns=_spread(_self_sums(on_device, occurrences)),
        cuda_busy_ns=_spread(_totals(on_device, occurrences, lambda occurrence: occurrence.cuda_busy_ns)),
        backward_cuda_ns=_spread(_totals(on_device, occurrences, lambda occurrence: occurrence.backward_cuda_ns)),
        launches=_spread(_totals(on_device, occurrences, lambda occurrence: occurrence.launches)),
        overhead_ns=sum(occurrences[passage].overhead_ns for passage in on_thread),
        bound=None,
        median_occurrence=in_trace(median, windows),
        first=in_trace(timed[0], windows),
        occurrence_times=tuple(_times(passage, windows) for passage in _chosen(timed, median)),
        cpu_recorded_ns=sum(occurrences[each].cpu_total_ns for each in nests.on_thread(passages.seen)),
        cuda_recorded_ns=None if recorded is None else recorded.sum,
    )


def _chosen(seen: Sequence[Passage], median: Passage) -> Sequence[Passage]:
    """At most `MOST_OCCURRENCES` of the passages, evenly chosen, the first, the last and the median among them."""
    if len(seen) <= MOST_OCCURRENCES:
        return seen
    places = [number * (len(seen) - 1) // (MOST_OCCURRENCES - 1) for number in range(MOST_OCCURRENCES)]
    wanted = bisect_left(seen, median)
    inner = range(1, len(places) - 1)
    if wanted not in (places[0], places[-1]):
        places[min(inner, key=lambda place: abs(places[place] - wanted))] = wanted
    return [seen[place] for place in places]


def _times(passage: Passage, windows: Sequence[Window]) -> OccurrenceTimes:
    number, index = passage
    window = windows[number]
    occurrence = window.occurrences[index]
    return OccurrenceTimes(
        trace=number,
        start_ns=window.base_time_ns + occurrence.start_ns,
        is_warmup=_is_warmup(window, index),
        cpu_total_ns=occurrence.cpu_total_ns,
        cpu_self_ns=occurrence.cpu_self_ns,
        cuda_total_ns=occurrence.cuda_total_ns,
        cuda_busy_ns=occurrence.cuda_busy_ns,
    )


def in_trace(passage: Passage, windows: Sequence[Window]) -> OccurrenceInTrace:
    """A passage to point at."""
    number, index = passage
    window = windows[number]
    occurrence = window.occurrences[index]
    start_ns = window.base_time_ns + occurrence.start_ns
    return OccurrenceInTrace(number, start_ns, occurrence.cpu_total_ns, occurrence.cuda_total_ns)


def _is_warmup(window: Window, index: int) -> bool:
    return bool(window.is_warmup) and window.is_warmup[index]


def _end_ns(occurrence: Occurrence) -> int:
    return occurrence.start_ns + occurrence.cpu_total_ns


def _totals(
    outermost: Iterable[Passage],
    occurrences: dict[Passage, Occurrence],
    value_of: Callable[[Occurrence], int | None],
) -> Iterator[int]:
    """The values of the passages in whose window they were measured."""
    for passage in outermost:
        value = value_of(occurrences[passage])
        if value is not None:
            yield value


def _self_sums(groups: Mapping[Passage, Sequence[Passage]], occurrences: dict[Passage, Occurrence]) -> Iterator[int]:
    """Self of an outermost passage and of those nested in it: its share of the total is then not above it."""
    for nested in groups.values():
        values = [occurrences[passage].cuda_self_ns for passage in nested]
        known = [value for value in values if value is not None]
        if known:
            yield sum(known)


def _spread(values: Iterable[int]) -> Spread | None:
    known = list(values)
    return _known_spread(known) if known else None


def _known_spread(values: Sequence[int]) -> Spread:
    return Spread(sum=sum(values), median=median_of(values), min=min(values), max=max(values))

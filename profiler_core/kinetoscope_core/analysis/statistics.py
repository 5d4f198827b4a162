"""From single calls to one set of numbers for each region. Knows calls and keys, nothing of traces or files.

Several recordings (runs, profiler cycles) may be summed up together; nesting is looked at inside each of them.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final, NamedTuple, TypeAlias, TypeVar

from kinetoscope_core.analysis.outermost import nearest_of_same_key, outermost
from kinetoscope_core.results.measures import Breakdown, Call, CallInTrace, CallTimes, RegionMeasures, Spread

T = TypeVar("T")

MOST_CALLS: Final = 200
"""Whose times are kept one by one for each region."""


@dataclass(frozen=True, slots=True)
class RegionKey:
    """What makes calls one region: the name, and where it stands if that is known (`line` from 1)."""

    name: str
    file: str | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class RecordedCalls:
    """The calls of one recording, with the region each belongs to and whether it was a warm-up call.

    `parent` and `thread_parent` of the calls index this list. Without `is_warmup`, none was.
    `base_time_ns` is what makes a time of the trace one since the epoch. `is_series_warmup` is `is_warmup` for the
    series that a call may be part of, where it differs. `raised` has, by a call's index, the type of the
    exception that ended it.
    """

    calls: Sequence[Call]
    keys: Sequence[RegionKey]
    is_warmup: Sequence[bool] = ()
    base_time_ns: int = 0
    is_series_warmup: Sequence[bool] = ()
    raised: Mapping[int, str] = field(default_factory=dict[int, str])

    @classmethod
    def by_name(cls, calls: Sequence[Call]) -> "RecordedCalls":
        """Those of a trace from elsewhere, where only the names tell regions apart."""
        return cls(calls, [RegionKey(call.name) for call in calls])


START_UP: Final = RegionKey("kinetoscope: start-up launch")
"""What the runner names the launch that takes the profiler's start-up wait (`runner/profiler/recording.py`)."""

CallId: TypeAlias = tuple[int, int]
"""A call, as (recording, index)."""


@dataclass(frozen=True, slots=True)
class RegionCalls:
    """The calls of one region: all of them, and those that are measured by the outermost one that holds them.

    `on_thread` counts only nesting on the call's own thread, `on_device` also that of autograd threads. Calls
    with activities whose length cannot be are in `on_device` only where there are no others. `raised` has those seen
    that an exception ended, with its type.
    """

    seen: Sequence[CallId]
    on_thread: Mapping[CallId, Sequence[CallId]]
    on_device: Mapping[CallId, Sequence[CallId]]
    is_cold: bool
    raised: Mapping[CallId, str]

    @property
    def is_raised(self) -> bool:
        """Whether calls that an exception ended are measured, for want of others."""
        return any(call_id in self.raised for call_id in self.on_thread)


class Nests:
    """Calls of a region by the outermost one of the region that holds them."""

    def __init__(self, recorded: Sequence[RecordedCalls]) -> None:
        self._recorded = recorded
        self._on_thread = [
            nearest_of_same_key([each.thread_parent for each in part.calls], part.keys) for part in recorded
        ]
        self._on_device = [nearest_of_same_key([each.parent for each in part.calls], part.keys) for part in recorded]

    def on_thread(self, pool: Sequence[CallId]) -> dict[CallId, list[CallId]]:
        """Held are those whose times are part of another's. asyncio tasks cross, and each takes its own time."""
        return self._grouped(pool, self._on_thread, _end_ns)

    def on_device(self, pool: Sequence[CallId]) -> dict[CallId, list[CallId]]:
        """Held are those that were entered while another was open: their device work is part of that one's."""
        return self._grouped(pool, self._on_device, lambda inner: min(inner.start_ns + 1, _end_ns(inner)))

    def _grouped(
        self, pool: Sequence[CallId], nearest: Sequence[Sequence[int]], needed: Callable[[Call], int]
    ) -> dict[CallId, list[CallId]]:
        """Only calls of the pool can hold others, up to the moment that these need."""
        groups: dict[CallId, list[CallId]] = {}
        for number, call_ids in groupby(pool, lambda call_id: call_id[0]):
            calls = self._recorded[number].calls
            found = outermost(
                [index for _, index in call_ids],
                nearest[number],
                lambda index, them=calls: _end_ns(them[index]),
                lambda index, them=calls: needed(them[index]),
            )
            for index, outer in found.items():
                groups.setdefault((number, outer), []).append((number, index))
        return groups


class Calls:
    """The calls of the regions of some recordings, collected once: all that is said of regions is made from these.

    `seen` are all calls of each region, in the order in which the regions were first entered; `measured` the regions
    that have a call with times, and which of theirs are measured; `median` their median calls.
    """

    def __init__(self, *recorded: RecordedCalls) -> None:
        self.recorded = recorded
        self.nests = Nests(recorded)
        self.seen: dict[RegionKey, list[CallId]] = {}
        for number, part in enumerate(recorded):
            for index, key in enumerate(part.keys):
                if key != START_UP:
                    self.seen.setdefault(key, []).append((number, index))
        of_regions = {key: _region_calls(seen, recorded, self.nests) for key, seen in self.seen.items()}
        self.measured = {key: of_region for key, of_region in of_regions.items() if of_region is not None}
        self.median = {key: median_call(of_region, recorded) for key, of_region in self.measured.items()}


def summarise(calls: Calls, parts: Mapping[RegionKey, Breakdown]) -> list[RegionMeasures]:
    """The measures of every region and its `parts`, in the order in which the regions were first entered.

    Measured are the finished calls that no exception ended, were no warm-up and captured no CUDA graph. A region that
    has only calls that raised, or only warm-up calls, is measured all the same and marked. One without a finished call
    with times has no measures: unmeasured.py has it. What limits a region, `bounds.py` says.
    """
    return [_measures(key, calls, parts[key]) for key in calls.measured]


def _region_calls(seen: Sequence[CallId], recorded: Sequence[RecordedCalls], nests: Nests) -> RegionCalls | None:
    timed = [(number, index) for number, index in seen if has_time(recorded[number].calls[index])]
    if not timed:
        return None
    raised = {
        (number, index): recorded[number].raised[index] for number, index in timed if index in recorded[number].raised
    }
    returned = [call_id for call_id in timed if call_id not in raised] or timed
    warm = [call_id for call_id in returned if not _is_warmup(recorded[call_id[0]], call_id[1])]
    pool = warm or returned
    pool = [(number, index) for number, index in pool if not recorded[number].calls[index].captures] or pool
    whole = [(number, index) for number, index in pool if recorded[number].calls[index].has_cuda_times]
    return RegionCalls(
        seen=seen,
        on_thread=nests.on_thread(pool),
        on_device=nests.on_device(whole or pool),
        is_cold=not warm,
        raised=raised,
    )


def has_time(call: Call) -> bool:
    """Whether what a call took is a time: it had ended, and its start and end can be."""
    return call.is_finished and call.has_times


def median_of(values: Sequence[int]) -> int:
    """The lower median: the one in the middle, of an even number the smaller of the two. So it is a call's own."""
    return sorted(values)[(len(values) - 1) // 2]


def by_cpu_total(of_region: RegionCalls, recorded: Sequence[RecordedCalls]) -> list[CallId]:
    """The measured calls, the shortest first."""

    def cpu_ns(call_id: CallId) -> int:
        return recorded[call_id[0]].calls[call_id[1]].cpu_total_ns

    return sorted(of_region.on_thread, key=cpu_ns)


def median_call(of_region: RegionCalls, recorded: Sequence[RecordedCalls]) -> CallId:
    """A measured call whose CPU total is the median of theirs."""
    ordered = by_cpu_total(of_region, recorded)
    return ordered[(len(ordered) - 1) // 2]


def middle_half(ordered: Sequence[T]) -> tuple[T, T]:
    """The ends of what is left of sorted values without a quarter at either end, rounded down: of up to three values
    the first and the last.
    """
    cut = len(ordered) // 4
    return ordered[cut], ordered[-1 - cut]


def _middle_half(values: Iterable[int]) -> tuple[int, int] | None:
    ordered = sorted(values)
    return middle_half(ordered) if ordered else None


def regions_cpu_ns(recorded: Sequence[RecordedCalls]) -> int:
    """The CPU time of all calls that lie in no other call, warm-up included."""
    total_ns = 0
    for part in recorded:
        latest: list[int] = []  # up to when a call or one around it was open
        for key, call in zip(part.keys, part.calls, strict=True):
            around = latest[call.parent] if call.parent >= 0 else -1
            is_outermost = call.parent < 0 or _end_ns(call) > around
            if is_outermost and key != START_UP:
                total_ns += call.cpu_total_ns
            latest.append(max(around, _end_ns(call)))
    return total_ns


class Times(NamedTuple):
    """The times of one region over its measured calls."""

    cpu_total_ns: Spread
    cpu_self_ns: Spread
    cuda_total_ns: Spread | None
    cuda_self_ns: Spread | None


def times_of(of_region: RegionCalls, recorded: Sequence[RecordedCalls]) -> Times:
    """What the measured calls took."""
    by_id = {call_id: recorded[call_id[0]].calls[call_id[1]] for call_id in of_region.seen}
    return Times(
        cpu_total_ns=spread_of([by_id[call_id].cpu_total_ns for call_id in of_region.on_thread]),
        cpu_self_ns=spread_of(
            [sum(by_id[each].cpu_self_ns for each in nested) for nested in of_region.on_thread.values()]
        ),
        cuda_total_ns=_spread(_totals(of_region.on_device, by_id, lambda call: call.cuda_total_ns)),
        cuda_self_ns=_spread(_self_sums(of_region.on_device, by_id)),
    )


def _measures(key: RegionKey, calls: Calls, parts: Breakdown) -> RegionMeasures:
    recorded, nests, of_region, median = calls.recorded, calls.nests, calls.measured[key], calls.median[key]
    by_id = {call_id: recorded[call_id[0]].calls[call_id[1]] for call_id in of_region.seen}
    on_thread, on_device = of_region.on_thread, of_region.on_device
    timed = [call_id for call_id in of_region.seen if has_time(by_id[call_id])]
    unfinished = [each.cpu_total_ns for each in by_id.values() if not each.is_finished]
    all_cuda = _spread(_totals(nests.on_device(of_region.seen), by_id, lambda call: call.cuda_total_ns))
    return RegionMeasures(
        name=key.name,
        file=key.file,
        line=key.line,
        calls=len(of_region.seen),
        measured=len(on_thread),
        is_cold=of_region.is_cold,
        is_raised=of_region.is_raised,
        raised=len(of_region.raised),
        exception=next(reversed([*of_region.raised.values()]), None),
        unfinished=len(unfinished),
        untimed=sum(1 for each in by_id.values() if each.is_finished and not each.has_times),
        at_least_ns=max(unfinished, default=None),
        **times_of(of_region, recorded)._asdict(),
        cuda_busy_ns=_spread(_totals(on_device, by_id, lambda call: call.cuda_busy_ns)),
        backward_cuda_ns=_spread(_totals(on_device, by_id, lambda call: call.backward_cuda_ns)),
        launches=_spread(_totals(on_device, by_id, lambda call: call.launches)),
        overhead_ns=sum(by_id[call_id].overhead_ns for call_id in on_thread),
        bound=None,
        median_call=in_trace(median, recorded),
        first=in_trace(timed[0], recorded),
        breakdown=parts,
        call_times=tuple(_times(call_id, recorded) for call_id in _chosen(timed, median)),
        cpu_recorded_ns=sum(by_id[each].cpu_total_ns for each in nests.on_thread(of_region.seen)),
        cuda_recorded_ns=None if all_cuda is None else all_cuda.sum,
        cpu_middle_ns=_middle_half(by_id[call_id].cpu_total_ns for call_id in on_thread),
        cuda_middle_ns=_middle_half(_totals(on_device, by_id, lambda call: call.cuda_total_ns)),
    )


def _chosen(seen: Sequence[CallId], median: CallId) -> Sequence[CallId]:
    """At most `MOST_CALLS` of the calls, evenly chosen, the first, the last and the median among them."""
    if len(seen) <= MOST_CALLS:
        return seen
    places = [number * (len(seen) - 1) // (MOST_CALLS - 1) for number in range(MOST_CALLS)]
    wanted = bisect_left(seen, median)
    inner = range(1, len(places) - 1)
    if wanted not in (places[0], places[-1]):
        places[min(inner, key=lambda place: abs(places[place] - wanted))] = wanted
    return [seen[place] for place in places]


def _times(call_id: CallId, recorded: Sequence[RecordedCalls]) -> CallTimes:
    number, index = call_id
    part = recorded[number]
    call = part.calls[index]
    return CallTimes(
        trace=number,
        start_ns=part.base_time_ns + call.start_ns,
        is_warmup=_is_warmup(part, index),
        cpu_total_ns=call.cpu_total_ns,
        cpu_self_ns=call.cpu_self_ns,
        cuda_total_ns=call.cuda_total_ns,
        cuda_busy_ns=call.cuda_busy_ns,
        raised=part.raised.get(index),
    )


def in_trace(call_id: CallId, recorded: Sequence[RecordedCalls]) -> CallInTrace:
    """A call to point at."""
    number, index = call_id
    call = recorded[number].calls[index]
    start_ns = recorded[number].base_time_ns + call.start_ns
    return CallInTrace(number, start_ns, call.cpu_total_ns, call.cuda_total_ns)


def _is_warmup(part: RecordedCalls, index: int) -> bool:
    return bool(part.is_warmup) and part.is_warmup[index]


def _end_ns(call: Call) -> int:
    return call.start_ns + call.cpu_total_ns


def _totals(
    outermost: Iterable[CallId],
    calls: dict[CallId, Call],
    value_of: Callable[[Call], int | None],
) -> Iterator[int]:
    """The values of the calls in whose recording they were measured."""
    for call_id in outermost:
        value = value_of(calls[call_id])
        if value is not None:
            yield value


def _self_sums(groups: Mapping[CallId, Sequence[CallId]], calls: dict[CallId, Call]) -> Iterator[int]:
    """Self of an outermost call and of those nested in it: its share of the total is then not above it."""
    for nested in groups.values():
        values = [calls[call_id].cuda_self_ns for call_id in nested]
        known = [value for value in values if value is not None]
        if known:
            yield sum(known)


def _spread(values: Iterable[int]) -> Spread | None:
    known = list(values)
    return spread_of(known) if known else None


def spread_of(values: Sequence[int]) -> Spread:
    return Spread(sum=sum(values), median=median_of(values), min=min(values), max=max(values))

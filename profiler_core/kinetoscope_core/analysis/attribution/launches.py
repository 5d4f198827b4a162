"""Which call launched which activity: they share a correlation id, which counts within one process and its devices."""

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from string import digits

from kinetoscope_core.trace import Trace


@dataclass(frozen=True, slots=True)
class Launches:
    """`call` is the place of each activity's launch among the host slices, -1 where the trace has none.

    `ranks` is how many processes the file holds if they use the same ids, else 1; `unassigned` counts the activities
    of rows of which nothing says whose they are. `without_id` are the activities that carry no id.
    """

    api_call: "array[int]"
    without_id: Sequence[int]
    ranks: int = 1
    unassigned: int = 0


def launches_of(trace: Trace) -> Launches:
    """The launch of each activity: of calls with one id the earliest."""
    host, device = trace.host, trace.device
    # Kineto and roctracer write 0 where there is no id.
    api_calls = [index for index in host.api_calls() if host.correlation[index] > 0]
    api_call_with = dict(zip([host.correlation[index] for index in api_calls], api_calls, strict=True))
    shared: set[int] = set()
    if len(api_call_with) < len(api_calls):
        shared = _made_earliest(trace, api_calls, api_call_with)
    without_id = [index for index, each in enumerate(device.correlation) if each <= 0]
    if shared and _is_on_several_rows(trace, shared):
        return _of_several_ranks(trace, api_calls, api_call_with, shared, without_id)
    api_call = array("i", [api_call_with.get(correlation, -1) for correlation in device.correlation])
    return Launches(api_call, without_id)


def _made_earliest(trace: Trace, api_calls: Iterable[int], api_call_with: dict[int, int]) -> set[int]:
    """Puts the earliest call at each id; gives the ids that calls of several processes have."""
    host = trace.host
    shared: set[int] = set()
    for index in api_calls:
        correlation = host.correlation[index]
        known = api_call_with[correlation]
        if known == index:
            continue
        if trace.threads[host.thread[known]].pid != trace.threads[host.thread[index]].pid:
            shared.add(correlation)
        if (host.start_ns[index], index) < (host.start_ns[known], known):
            api_call_with[correlation] = index
    return shared


def _is_on_several_rows(trace: Trace, shared: Iterable[int]) -> bool:
    """Whether one of the ids is on activities of several processes' rows, too."""
    row_of = dict.fromkeys(shared, "")
    for correlation, thread in zip(trace.device.correlation, trace.device.thread, strict=True):
        if correlation in row_of:
            row = trace.threads[thread].pid
            if row_of[correlation] not in ("", row):
                return True
            row_of[correlation] = row
    return False


def _of_several_ranks(
    trace: Trace,
    api_calls: Sequence[int],
    api_call_with: Mapping[int, int],
    shared: set[int],
    without_id: Sequence[int],
) -> Launches:
    host, device, threads = trace.host, trace.device, trace.threads
    callers = list(dict.fromkeys(threads[host.thread[index]].pid for index in api_calls))
    rows = list(dict.fromkeys(threads[thread].pid for thread in device.thread))
    process_of = _processes_of(callers, rows)
    own: dict[tuple[str, int], int] = {}
    for index in sorted(api_calls, key=host.start_ns.__getitem__):
        own.setdefault((threads[host.thread[index]].pid, host.correlation[index]), index)
    found = array("i")
    unassigned = 0
    for correlation, thread in zip(device.correlation, device.thread, strict=True):
        process = process_of.get(threads[thread].pid)
        if process is not None:
            found.append(own.get((process, correlation), -1))
        elif correlation in shared:
            unassigned += 1
            found.append(-1)
        else:
            found.append(api_call_with.get(correlation, -1))
    return Launches(found, without_id, len(callers), unassigned)


def _processes_of(callers: Sequence[str], rows: Sequence[str]) -> Mapping[str, str]:
    """The process of each device row: what merges traces puts a mark before or behind the numbers of a rank
    (`[PP01] 100` and `[PP01] 0`), and writes one rank after the other.
    """
    marks: tuple[Callable[[str], str], ...] = (lambda text: text.rstrip(digits), lambda text: text.lstrip(digits))
    for mark in marks:
        by_mark = {mark(caller): caller for caller in callers}
        if len(by_mark) == len(callers) and all(mark(row) in by_mark for row in rows):
            return {row: by_mark[mark(row)] for row in rows}
    return dict(zip(rows, callers, strict=True)) if len(rows) == len(callers) else {}

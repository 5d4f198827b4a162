"""What was recorded and is no measured region: regions of which no call has a time, and our own launch."""

from collections.abc import Sequence

from kinetoscope_core.analysis.statistics import START_UP, CallId, Calls, RecordedCalls, RegionKey, in_trace
from kinetoscope_core.results.measures import StartUp, Unmeasured


def unmeasured(calls: Calls) -> list[Unmeasured]:
    """The regions that have no call with times: all were still open at the end, or have none that can be."""
    return [_unmeasured(key, seen, calls.recorded) for key, seen in calls.seen.items() if key not in calls.measured]


def start_up(recorded: Sequence[RecordedCalls]) -> StartUp | None:
    """What our own launch took; `None` if there was none."""
    found = [call for part in recorded for key, call in zip(part.keys, part.calls, strict=True) if key == START_UP]
    if not found:
        return None
    cuda = [each.cuda_total_ns for each in found if each.cuda_total_ns is not None]
    launches = [each.launches for each in found if each.launches is not None]
    return StartUp(
        cpu_ns=sum(each.cpu_total_ns for each in found),
        cuda_ns=sum(cuda) if cuda else None,
        launches=sum(launches) if launches else None,
    )


def _unmeasured(key: RegionKey, seen: Sequence[CallId], recorded: Sequence[RecordedCalls]) -> Unmeasured:
    calls = [recorded[number].calls[index] for number, index in seen]
    still_open = [each for each in calls if not each.is_finished]
    longest = max(still_open, key=lambda call: call.cpu_total_ns, default=None)
    own = [each.cuda_self_ns for each in calls if each.cuda_self_ns is not None]
    return Unmeasured(
        name=key.name,
        file=key.file,
        line=key.line,
        calls=len(seen),
        unfinished=len(still_open),
        at_least_ns=None if longest is None else longest.cpu_total_ns,
        cuda_at_least_ns=None if longest is None else longest.cuda_total_ns,
        cuda_recorded_ns=sum(own) if own else None,
        first=in_trace(seen[0], recorded),
    )

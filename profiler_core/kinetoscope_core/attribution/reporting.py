"""What the reader of a trace's numbers must know: what is missing from them, or in them though it should not be."""

from collections.abc import Sequence

from kinetoscope_core.attribution.owning import DeviceNumbers
from kinetoscope_core.measures import Occurrence, Problem
from kinetoscope_core.trace import Trace

_LAUNCHES = ("cudaLaunch", "cuLaunch", "hipLaunch", "hipExtLaunch", "hipModuleLaunch", "hipExtModuleLaunch")
_GRAPH_LAUNCHES = ("cudaGraphLaunch", "cuGraphLaunch", "hipGraphLaunch")


def problems_of(trace: Trace, numbers: DeviceNumbers, occurrences: Sequence[Occurrence]) -> list[Problem]:
    """The problems of one trace's numbers, the gravest first."""
    launches, without_record = _launches(trace, numbers)
    problems: list[Problem] = []
    if launches and not len(trace.device):
        problems.append(
            Problem(
                "no-device-activity",
                f"{_count(launches, 'launch', 'launches')} of CUDA work, and no record from the GPU: CUDA times are "
                "unknown. "
                + (
                    "The file was cut off before them."
                    if trace.is_cut
                    else "Another CUPTI client (nsys, DCGM, a second profiler) or missing rights keep them away."
                ),
                {"launches": launches},
            )
        )
    elif without_record:
        problems.append(
            Problem(
                "launches-without-record",
                f"{_count(without_record, 'launch has', 'launches have')} no record from the GPU: CUDA times are at "
                "least these. Kernels that end after the window, or lost records.",
                {"count": without_record, "launches": launches},
            )
        )
    lost = sum(1 for start, duration in _times(trace) if start == 0 and duration == 0)
    if lost:
        message = f"CUPTI lost the times of {_count(lost, 'device activity', 'device activities')}: counted as 0 ns."
        problems.append(Problem("lost-times", message, {"count": lost}))
    if numbers.no_launch:
        problems.append(
            Problem(
                "launched-before-window",
                f"{_count(numbers.no_launch, 'device activity was', 'device activities were')} launched before the "
                f"window{' or in the part that was cut off' if trace.is_cut else ''}: in no region.",
                {"count": numbers.no_launch, "device_ns": numbers.no_launch_ns},
            )
        )
    if numbers.ambiguous:
        problems.append(
            Problem(
                "backward-without-region",
                f"{_count(numbers.ambiguous, 'activity', 'activities')} of backward could belong to regions of several "
                "threads, and nothing says to which: they stay outside any region.",
                {"count": numbers.ambiguous},
            )
        )
    unfinished = sum(1 for occurrence in occurrences if not occurrence.is_finished)
    if unfinished:
        message = f"{_count(unfinished, 'region was', 'regions were')} still open when the window closed."
        problems.append(Problem("unfinished-region", message, {"count": unfinished}))
    inside = [each for each in occurrences if each.overhead_ns]
    if inside:
        longest = max(each.overhead_ns for each in inside)
        problems.append(
            Problem(
                "profiler-overhead",
                f"{_count(len(inside), 'occurrence holds', 'occurrences hold')} overhead of the profiler itself, up to "
                f"{longest / 1e6:.1f} ms: part of the CPU times.",
                {"count": len(inside), "longest_ns": longest},
            )
        )
    return problems


def launching_names(trace: Trace) -> set[int]:
    """The names, as places in `trace.names`, of the calls that launch kernels or graphs."""
    starters = (*_LAUNCHES, *_GRAPH_LAUNCHES)
    return {number for number, name in enumerate(trace.names) if name.startswith(starters) and "HostFunc" not in name}


def _launches(trace: Trace, numbers: DeviceNumbers) -> tuple[int, int]:
    """How many calls launch kernels or graphs, and how many of them have no activity."""
    host = trace.host
    launching = launching_names(trace)
    correlations = [host.correlation[index] for index in host.calls() if host.name[index] in launching]
    return len(correlations), sum(1 for each in correlations if each not in numbers.correlations)


def _times(trace: Trace) -> "zip[tuple[int, int]]":
    return zip(trace.device.start_ns, trace.device.duration_ns, strict=True)


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"

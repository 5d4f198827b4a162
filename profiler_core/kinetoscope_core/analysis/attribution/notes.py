"""What the reader of a trace's numbers must know: what is missing from them, or in them though it should not be."""

from collections.abc import Iterator, Sequence
from typing import Final

from kinetoscope_core.analysis.attribution.ownership import DeviceNumbers
from kinetoscope_core.analysis.attribution.unrecorded import Unrecorded
from kinetoscope_core.errors import Problem
from kinetoscope_core.results.measures import Call
from kinetoscope_core.text import count_text, printable, time_text
from kinetoscope_core.trace import Trace

_COPIES = ("cudaMemcpy", "cudaMemset", "cuMemcpy", "cuMemset", "hipMemcpy", "hipMemset")


_NO_RECORD_OF_OURS: Final = (
    "CUPTI recorded nothing. This happens under WSL 2 with a driver without CUPTI, beside another CUPTI client (nsys,"
    " DCGM, a second profiler), and without the right to profile."
)
_NO_RECORD: Final = (
    "If the profiler was not asked for the GPU, add ProfilerActivity.CUDA to its activities. Otherwise"
    f" {_NO_RECORD_OF_OURS}"
)
"""Why a trace has launches and no activities, the commonest cause first."""


def problems_of(
    trace: Trace, numbers: DeviceNumbers, calls: Sequence[Call], unrecorded: Unrecorded, *, is_ours: bool
) -> list[Problem]:
    """The problems of one trace's numbers, the gravest first. `is_ours`: our profiler made it, which asks for the GPU
    where there is one.
    """
    problems = [*_of_ranks(numbers)]
    without_record = len(unrecorded.api_calls)
    started = {} if len(trace.device) else _started(trace, unrecorded)
    if started:
        what = " and ".join(count_text(count, noun) for noun, count in started.items())
        because = _NO_RECORD_OF_OURS if is_ours else _NO_RECORD
        because = "The file was cut off before the GPU's records." if trace.is_cut else because
        message = f"{what} of CUDA work have no record from the GPU, so the CUDA times are unknown. {because}"
        evidence: dict[str, int | str] = {"launches": sum(started.values())}
        problems.append(Problem("no-device-activity", message, evidence))
    elif without_record:
        problems.append(
            Problem(
                "launches-without-record",
                f"{_count(without_record, 'launch has', 'launches have')} no record from the GPU, so the CUDA times "
                "are at least these. The kernels ended after the recording stopped, or records were lost.",
                {"count": without_record, "launches": unrecorded.launches},
            )
        )
    problems += _of_doubts(trace, numbers)
    if without_id := len(numbers.launches_found.without_id):
        ns = sum(trace.device.duration_ns[each] for each in numbers.launches_found.without_id)
        carry, them = ("carries", "it") if without_id == 1 else ("carry", "them")
        message = (
            f"{count_text(without_id, 'GPU activity')} {carry} no correlation id. Which region launched"
            f" {them} is not known, so {'it is' if without_id == 1 else 'they are'} outside any region."
        )
        problems.append(Problem("no-correlation-id", message, {"count": without_id, "device_ns": ns}))
    if before := numbers.no_launch - without_id - numbers.launches_found.unassigned:
        problems.append(
            Problem(
                "launched-before-recording",
                f"{_count(before, 'GPU activity was', 'GPU activities were')} launched before the recording started"
                f"{' or in the part that was cut off' if trace.is_cut else ''}, and "
                f"{'belongs' if before == 1 else 'belong'} to no region.",
                {"count": before, "device_ns": numbers.no_launch_ns},
            )
        )
    if numbers.ambiguous:
        problems.append(
            Problem(
                "backward-without-region",
                f"{_count(numbers.ambiguous, 'GPU activity', 'GPU activities')} of the backward pass could "
                "belong to regions of several threads. The trace does not say to which, so they are in no region.",
                {"count": numbers.ambiguous},
            )
        )
    unfinished = sum(1 for call in calls if not call.is_finished)
    if unfinished:
        message = f"{_count(unfinished, 'region was', 'regions were')} still open when the recording stopped."
        problems.append(Problem("unfinished-region", message, {"count": unfinished}))
    untimed = sum(1 for call in calls if not call.has_times)
    if untimed:
        have, are = ("call of a region has", "is") if untimed == 1 else ("calls of regions have", "are")
        message = f"{untimed} {have} no valid times (0, or below zero) and {are} left out of the statistics."
        problems.append(Problem("untimed-region", message, {"count": untimed}))
    inside = [each for each in calls if each.overhead_ns]
    if inside:
        longest = max(each.overhead_ns for each in inside)
        problems.append(
            Problem(
                "profiler-overhead",
                f"{_count(len(inside), 'call includes', 'calls include')} overhead of the profiler itself, up to "
                f"{longest / 1e6:.1f} ms. It is part of the CPU times.",
                {"count": len(inside), "longest_ns": longest},
            )
        )
    return problems


def _started(trace: Trace, unrecorded: Unrecorded) -> dict[str, int]:
    """How many launches, copies and sets were asked for, by what people call them."""
    host = trace.host
    copies = {number for number, name in enumerate(trace.names) if name.startswith(_COPIES)}
    launches = unrecorded.launches
    copied = sum(1 for index in host.api_calls() if host.name[index] in copies)
    return {noun: count for noun, count in (("launch", launches), ("copy", copied)) if count}


def _of_ranks(numbers: DeviceNumbers) -> Iterator[Problem]:
    found = numbers.launches_found
    if found.ranks == 1:
        return
    message = (
        f"The file holds several ranks: {found.ranks} processes use the same correlation ids. Each id is looked up in"
        " its own process. Gaps and the times of the whole device mix the ranks: read the file of one rank for them."
    )
    if found.unassigned:
        which = count_text(found.unassigned, "GPU activity")
        message += f" The rank of {which} is not known, so they are outside any region."
    yield Problem("several-ranks", message, {"processes": found.ranks, "unassigned": found.unassigned})


def _of_doubts(trace: Trace, numbers: DeviceNumbers) -> Iterator[Problem]:
    doubts, names = numbers.doubts, trace.names
    if lost := len(doubts.lost - trace.device.cut):
        message = f"CUPTI lost the times of {count_text(lost, 'GPU activity')}, which count as 0 ns."
        yield Problem("lost-times", message, {"count": lost})
    if doubts.other_clock:
        message = (
            f"{_count(len(doubts.other_clock), 'GPU activity has', 'GPU activities have')} times of another clock"
            " (long before the launch, or hours after it). Their durations count, but gaps, timelines and busy times"
            " leave them out."
        )
        yield Problem("other-clock", message, {"count": len(doubts.other_clock)})
    if doubts.overlong:
        longest = max(doubts.overlong, key=trace.device.duration_ns.__getitem__)
        ns = trace.device.duration_ns[longest]
        message = (
            f"{_count(len(doubts.overlong), 'GPU activity overlaps', 'GPU activities overlap')} the next ones on"
            f" the same stream, which is impossible. So the recorded time is wrong"
            f" ({printable(names[trace.device.name[longest]])}, {time_text(ns)}). It counts in the device total;"
            " statistics leave its call out where there are others."
        )
        yield Problem("overlong-activity", message, {"count": len(doubts.overlong), "longest_ns": ns})


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"

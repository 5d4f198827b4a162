"""What limits the regions of five runs on an H200 (those of tests/gpu/scripts for captures, copies, a busy GPU, a stall
and a whole training): the verdicts, and the numbers that they rest on.

`Raw` works the numbers out from the JSON of the trace: it shares no code with the product, and takes a launch as in a
region where it lies between its ends on its thread, which is enough for these scripts.
"""

import gzip
import json
from decimal import Decimal
from functools import cache
from statistics import median_low

import pytest
from made_traces import TRACES, found_in, table

WARMUP = 3
ACTIVITIES = ("kernel", "gpu_memcpy", "gpu_memset")


@cache
def measured(name):
    """What the product says of a run, and of each of its regions."""
    result = table.result_of(TRACES / "runs" / name)
    return result, {region.name: region for region in result.regions}


def ns(us):
    return int(us * 1000)


def length(spans):
    """Of the union of spans."""
    total = until = 0
    for start, end in sorted(spans):
        total += max(end - max(start, until), 0)
        until = max(until, end)
    return total


class Raw:
    """The events of a trace, in ns."""

    def __init__(self, name):
        text = gzip.decompress((TRACES / "runs" / name / "trace-1.json.gz").read_bytes())
        self.events = [each for each in json.loads(text, parse_float=Decimal)["traceEvents"] if each["ph"] == "X"]

    def of(self, *kinds):
        """Start, end and event of all events of some kinds, by start."""
        found = [each for each in self.events if each.get("cat") in kinds]
        spans = [(ns(each["ts"]), ns(each["ts"]) + ns(each["dur"]), each) for each in found]
        return sorted(spans, key=lambda span: span[0])

    def calls(self, region, *, of_all=False):
        """The calls of a region after those for warm-up."""
        spans = [(start, end) for start, end, each in self.of("user_annotation") if each["name"] == region]
        return spans if of_all else spans[WARMUP:]

    def median_call(self, region):
        """The call whose wall time is in the middle."""
        calls = self.calls(region)
        middle = median_low(end - start for start, end in calls)
        return next(call for call in calls if call[1] - call[0] == middle)

    def host(self, call):
        """The CUDA calls that start within a call of a region; all these scripts have one thread."""
        return [each for start, _, each in self.of("cuda_runtime", "cuda_driver") if call[0] <= start < call[1]]

    def device(self, call, *kinds):
        """The activities that a call launched, as (start, end)."""
        launched = {each["args"]["correlation"] for each in self.host(call)} - {0}
        of_all = self.of(*(kinds or ACTIVITIES))
        return [(start, end) for start, end, each in of_all if each["args"]["correlation"] in launched]

    def waited(self, call):
        return sum(ns(each["dur"]) for each in self.host(call) if "Synchronize" in each["name"])

    def idle(self, call):
        """How much of a call nothing ran on the GPU, whosever it is."""
        clipped = [(max(start, call[0]), min(end, call[1])) for start, end, _ in self.of(*ACTIVITIES)]
        return call[1] - call[0] - length(span for span in clipped if span[0] < span[1])


@pytest.mark.parametrize("region", ["pinned up", "on the device"])
def test_a_region_whose_gpu_time_is_copies_is_copy_bound(region):
    raw, product = Raw("copies"), measured("copies")[1][region]
    call = raw.median_call(region)
    busy_ns, copying_ns = length(raw.device(call)), length(raw.device(call, "gpu_memcpy"))
    assert (copying_ns, raw.waited(call)) == (busy_ns, 0)
    assert busy_ns > call[1] - call[0]
    (bound,) = product.findings
    assert (product.bound, bound.code) == ("copy", "copy-bound")
    assert (bound.evidence["median_cpu_ns"], bound.evidence["median_gpu_busy_ns"]) == (call[1] - call[0], busy_ns)


def test_a_copy_for_which_the_cpu_waits_is_mixed():
    # The CPU copies into the driver's buffer itself while the GPU copies out of it: neither is ahead.
    raw, product = Raw("copies"), measured("copies")[1]["pageable up"]
    call = raw.median_call("pageable up")
    busy_ns, active_ns = length(raw.device(call)), call[1] - call[0] - raw.waited(call)
    assert 0.5 <= busy_ns / active_ns <= 1
    assert product.bound == "mixed"
    assert [each.code for each in product.findings] == ["pageable-copy", "mixed"]


def test_few_kernels_beside_a_gpu_that_is_busy_with_others_are_no_overhead():
    raw, product = Raw("busy"), measured("busy")[1]["small while busy"]
    call = raw.median_call("small while busy")
    cpu_ns, busy_ns = call[1] - call[0], length(raw.device(call))
    assert 2 * busy_ns < cpu_ns - raw.waited(call)  # few kernels of its own
    assert raw.idle(call) == 0  # the other stream's products run all the time
    assert (product.cpu_total_ns.median, product.launches.median) == (cpu_ns, 60)
    assert product.bound is None
    assert product.findings == ()


def test_the_same_few_kernels_alone_are_overhead():
    raw, product = Raw("busy"), measured("busy")[1]["small alone"]
    call = raw.median_call("small alone")
    cpu_ns, busy_ns = call[1] - call[0], length(raw.device(call))
    assert 2 * busy_ns < cpu_ns
    assert 2 * raw.idle(call) > cpu_ns
    assert product.cpu_total_ns.median == cpu_ns
    assert product.bound == "overhead"
    tiny = found_in(measured("busy")[0])["small alone", "tiny-kernels"]
    kernels = [each for each in raw.calls("small alone") for each in raw.device(each, "kernel")]
    assert tiny.evidence["kernels_per_call"] == len(kernels) // 5
    assert tiny.evidence["mean_kernel_ns"] == sum(end - start for start, end in kernels) // len(kernels)
    # Idle between the first and the last launch of each call.
    launches = [
        [ns(each["ts"]) for each in raw.host(call) if "Launch" in each["name"]] for call in raw.calls("small alone")
    ]
    assert tiny.evidence["idle_between_launches_ns"] == sum(raw.idle((each[0], each[-1])) for each in launches)


def test_a_stall_is_an_idle_gap_of_its_operator_and_no_tiny_kernels():
    raw = Raw("stall")
    call = raw.median_call("stalled")
    ends, gaps = call[0], []
    for start, end, _ in raw.of(*ACTIVITIES):
        if call[0] <= start < call[1] and start > ends:
            gaps.append((ends, start))
        ends = max(ends, end)
    gap = max(gaps, key=lambda each: each[1] - each[0])
    in_randn = [(start, end) for start, end, each in raw.of("cpu_op") if each["name"] == "aten::randn"]
    (stalled,) = [(start, end) for start, end in in_randn if call[0] <= start < call[1]]
    assert gap[0] < stalled[0] < stalled[1] < gap[1]
    findings = {each.code: each for each in measured("stall")[1]["stalled"].findings}
    assert set(findings) == {"idle-gap"}
    evidence = findings["idle-gap"].evidence
    assert (evidence["gap_ns"], evidence["call_ns"]) == (gap[1] - gap[0], call[1] - call[0])
    assert (evidence["cpu_was_in"], evidence["calls_with_one"]) == ("aten::randn", 5)


def test_capturing_a_graph_is_no_lost_record_and_no_bound_and_replaying_it_is_compute_bound():
    raw = Raw("capture")
    result, regions = measured("capture")
    recorded = {each["args"]["correlation"] for _, _, each in raw.of(*ACTIVITIES)}
    captured = [
        each
        for call in raw.calls("capture", of_all=True)
        for each in raw.host(call)
        if "LaunchKernel" in each["name"] and each["args"]["correlation"] not in recorded
    ]
    assert result.problems == result.findings == ()
    assert (regions["capture"].bound, regions["capture"].findings) == (None, ())
    call = raw.median_call("replay only")
    assert len(captured) == 4 * len(raw.device(call)) > 0  # what was captured ran when it was replayed, and only then
    busy_ns = length(raw.device(call, "kernel"))
    assert busy_ns > call[1] - call[0]
    (bound,) = regions["replay only"].findings
    assert (regions["replay only"].bound, bound.code) == ("compute", "compute-bound")
    assert (bound.evidence["median_cpu_ns"], bound.evidence["median_gpu_busy_ns"]) == (call[1] - call[0], busy_ns)


def test_steps_that_capture_do_not_count_beside_those_that_replay():
    raw, product = Raw("capture"), measured("capture")[1]["step"]
    capturing = raw.calls("capture", of_all=True)
    steps = raw.calls("step")
    replaying = [(start, end) for start, end in steps if not any(start <= each < end for each, _ in capturing)]
    assert (product.calls, product.measured) == (12, len(replaying))
    assert product.cpu_total_ns.sum == sum(end - start for start, end in replaying)
    assert product.cuda_total_ns.sum == sum(
        end - start for call in replaying for start, end in raw.device(call, "kernel")
    )
    assert product.bound == "compute"


def test_a_region_around_a_whole_training_took_at_least_what_was_recorded_and_its_steps_are_measured():
    raw = Raw("whole")
    result, regions = measured("whole")
    ((start, end),) = raw.calls("training", of_all=True)
    (training,) = result.unmeasured
    assert (training.name, training.unfinished, training.at_least_ns) == ("training", 1, end - start)
    assert training.cuda_at_least_ns == sum(last - first for first, last in raw.device((start, end)))
    (problem,) = [each for each in result.problems if each.code == "not-ended"]
    assert "at least" in problem.message
    steps = raw.calls("step")
    assert (regions["step"].measured, "training" in regions) == (len(steps), False)
    assert regions["step"].cpu_total_ns.sum == sum(last - first for first, last in steps)
    assert regions["step"].cuda_total_ns.sum == sum(last - first for each in steps for first, last in raw.device(each))

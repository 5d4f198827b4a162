"""The median call in detail is what the file holds of it; and the times of the calls one by one."""

import gzip
import json
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import pytest

from kinetoscope_core.analysis import timeline
from kinetoscope_core.analysis.attribution import attribute
from kinetoscope_core.analysis.breakdown import breakdowns
from kinetoscope_core.analysis.recording import Recording
from kinetoscope_core.analysis.statistics import MOST_CALLS, Calls, RecordedCalls, RegionKey, summarise
from kinetoscope_core.analysis.timeline import MOST_SPANS, timelines
from kinetoscope_core.jobs.measure import measure_traces
from kinetoscope_core.results.measures import CallTimes
from kinetoscope_core.trace import read_trace

TRACES = Path(__file__).parents[1] / "traces"
RECORDED = sorted([*TRACES.glob("h200/*.gz"), *TRACES.glob("runs/*/*.gz")])
MADE = sorted(path for path in TRACES.glob("made/*.json") if not path.name.startswith(("broken", "expected")))
EVERY = pytest.mark.parametrize("path", [*RECORDED, *MADE], ids=lambda path: f"{path.parent.name}/{path.name}")


def recording_of(path):
    trace, _ = read_trace(path)
    attribution = attribute(trace)
    return Recording(trace, attribution, RecordedCalls.by_name(attribution.calls))


def summarised(recording):
    calls = Calls(recording.recorded)
    return summarise(calls, breakdowns([recording], calls))


def timelines_of(recording):
    return timelines([recording], Calls(recording.recorded))


def made(folder, *events):
    """A trace of (category, name, thread or stream, start, length in µs, correlation)."""
    path = folder / "trace.json"
    rows = [
        {
            "ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": start, "dur": length,
            "args": {"correlation": correlation, "stream": tid, "device": 0} if correlation else {},
        }
        for cat, name, tid, start, length, correlation in events
    ]  # fmt: skip
    path.write_text(json.dumps({"traceEvents": rows}))
    return recording_of(path)


@EVERY
def test_a_timeline_is_the_median_call_and_holds_together(path):
    recording = recording_of(path)
    regions = {region.name: region for region in summarised(recording)}
    for key, line in timelines_of(recording).items():
        region = regions[key.name]
        median = region.median_call
        assert (line.trace, line.start_ns, line.cpu_total_ns) == (0, median.start_ns, median.cpu_total_ns)
        own = line.host[0]
        assert (own.kind, own.name, own.thread, own.depth, own.start_ns, own.duration_ns) == (
            "region", key.name, 0, 0, 0, median.cpu_total_ns,
        )  # fmt: skip
        assert line.end_ns >= median.cpu_total_ns
        for spans, left_out in ((line.host, line.host_left_out), (line.device, line.device_left_out)):
            assert left_out >= 0
            assert len(spans) <= MOST_SPANS
            assert [each.start_ns for each in spans] == sorted(each.start_ns for each in spans)
        until = {}
        for span in line.host:
            row = (span.thread, span.depth)
            assert span.start_ns >= until.get(row, 0), "spans of one row overlap"
            until[row] = span.start_ns + span.duration_ns
        for span in line.device:
            assert span.start_ns + span.duration_ns <= line.end_ns
            assert span.launch is None or line.host[span.launch].kind in ("launch", "sync")
        if median.cuda_total_ns is None:
            assert (line.device, line.device_left_out) == ((), 0)
        elif not line.device_left_out:
            assert sum(span.duration_ns for span in line.device) == median.cuda_total_ns


def events_of(path):
    """The slices of a trace as (category, name, pid, tid, start, end, correlation), read without our reader."""
    values = json.loads(gzip.decompress(path.read_bytes()), parse_float=Decimal)
    return [
        (e["cat"], e["name"], e["pid"], e["tid"], int(e["ts"] * 1000), int((e["ts"] + e["dur"]) * 1000),
         e.get("args", {}).get("correlation"))
        for e in values["traceEvents"]
        if e.get("ph") == "X" and e.get("cat") != "Trace"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("trace", "region", "threads"),
    [
        ("matmul_add_64", "matmul_add", 1),
        ("matmul_add_4096_warm", "matmul_add", 1),
        ("odd_cudagraph", "replay", 1),
        ("odd_threads", "main_thread", 1),
        ("odd_async_tail", "launch_only", 1),
        ("train_mlp", "forward", 1),
        ("train_mlp", "backward", 2),
        ("train_mlp", "data", 1),
        ("train_mlp", "log", 1),
    ],
)
def test_a_timeline_holds_what_the_file_has_of_that_call(trace, region, threads):
    path = TRACES / "h200" / f"{trace}.json.gz"
    events = events_of(path)
    entered = [e for e in events if e[:2] == ("user_annotation", region)]
    calls = sorted(entered, key=lambda e: (e[5] - e[4], e[4]))
    _, _, pid, tid, start, end, _ = calls[(len(calls) - 1) // 2]

    def is_inside(event, own):
        return event[4] >= start and event[4] < end and ((event[2:4] == (pid, tid)) is own)

    api_calls = ("cuda_runtime", "cuda_driver")
    host = [e for e in events if e[0] in ("cpu_op", "user_annotation", *api_calls) and is_inside(e, own=True)]
    if threads == 2:  # those of the thread that launched during the call, autograd's
        launchers = {e[3] for e in events if e[0] in api_calls and is_inside(e, own=False) and "aunch" in e[1]}
        assert len(launchers) == 1
        host += [e for e in events if e[0] in ("cpu_op", *api_calls) and e[3] in launchers and is_inside(e, own=False)]
    correlations = {e[6] for e in host if e[0] in api_calls}
    device = [e for e in events if e[0] in ("kernel", "gpu_memcpy", "gpu_memset") and e[6] in correlations]
    launched = {e[6] for e in device}

    found = timelines_of(recording_of(path))[RegionKey(region)]
    assert (found.host_left_out, found.device_left_out) == (0, 0)
    assert sorted((e.name, e.start_ns, e.duration_ns) for e in found.host) == sorted(
        (e[1], e[4] - start, e[5] - e[4]) for e in host
    )
    assert sorted((e.name, e.stream, e.start_ns, e.duration_ns) for e in found.device) == sorted(
        (e[1], str(e[3]), e[4] - start, e[5] - e[4]) for e in device
    )
    assert found.end_ns == max([end, *(e[5] for e in device)]) - start
    assert len({span.thread for span in found.host}) == threads
    by_launch = {e[4] - start: e[6] for e in host if e[6] in launched}
    for span in found.device:
        (event,) = [e for e in device if (e[1], e[4], str(e[3])) == (span.name, span.start_ns + start, span.stream)]
        assert by_launch[found.host[span.launch].start_ns] == event[6]
    for span in found.host:
        (event,) = {
            e[:2] + e[6:]
            for e in host
            if (e[1], e[4] - start, e[5] - e[4]) == (span.name, span.start_ns, span.duration_ns)
        }
        waits = "Synchronize" in span.name
        kinds = {"cpu_op": "operator", "user_annotation": "region"}
        expected = "sync" if waits else "launch" if event[2] in launched else "api_call"
        assert span.kind == kinds.get(event[0], expected)


def test_depth_is_what_is_around_a_slice_on_its_thread(tmp_path):
    recording = made(
        tmp_path,
        ("cpu_op", "around", 1, 0, 500, 0),
        ("user_annotation", "r", 1, 10, 100, 0),
        ("cpu_op", "a", 1, 20, 40, 0),
        ("cuda_runtime", "cudaLaunchKernel", 1, 30, 5, 1),
        ("cpu_op", "crosses the end of a", 1, 50, 30, 0),
        ("cpu_op", "b", 1, 62, 3, 0),
        ("cpu_op", "outlives the region", 1, 105, 50, 0),
        ("cpu_op", "later", 1, 110, 50, 0),
        ("kernel", "k", 7, 200, 7, 1),
    )
    line = timelines_of(recording)[RegionKey("r")]
    assert [(span.name, span.depth, span.start_ns, span.duration_ns) for span in line.host] == [
        ("r", 0, 0, 100_000),
        ("a", 1, 10_000, 40_000),
        ("cudaLaunchKernel", 2, 20_000, 5_000),
        ("crosses the end of a", 2, 40_000, 30_000),
        ("b", 3, 52_000, 3_000),
        ("outlives the region", 1, 95_000, 50_000),
    ]
    (kernel,) = line.device
    assert (kernel.name, kernel.stream, kernel.start_ns, kernel.launch) == ("k", "7", 190_000, 2)
    assert line.end_ns == 197_000


def test_of_many_spans_the_longest_are_kept_with_what_is_around_them(tmp_path):
    events = [("user_annotation", "r", 1, 0, 10_000, 0)]
    for number in range(400):
        events += [
            ("cpu_op", f"op {number}", 1, 10 + 20 * number, 10, 0),
            ("cuda_runtime", "cudaLaunchKernel", 1, 11 + 20 * number, 9 if number >= 350 else 2, number + 1),
            ("kernel", "k", 7, 20_000 + 10 * number, 5 if number == 399 else 1 + number % 2, number + 1),
        ]
    line = timelines_of(made(tmp_path, *events))[RegionKey("r")]
    assert (len(line.host), line.host_left_out) == (MOST_SPANS, 1 + 400 + 400 - MOST_SPANS)
    assert (len(line.device), line.device_left_out) == (MOST_SPANS, 100)
    assert {span.kind for span in line.host} == {"region", "operator"}
    assert {span.launch for span in line.device} == {None}
    assert sum(span.duration_ns for span in line.device) == 5_000 + 199 * 2_000 + 100 * 1_000
    assert line.end_ns == (20_000 + 3990 + 5) * 1000


def test_activities_whose_times_were_lost_are_left_out_and_counted(tmp_path):
    recording = made(
        tmp_path,
        ("user_annotation", "r", 1, 1000, 100, 0),
        ("cuda_runtime", "cudaLaunchKernel", 1, 1010, 5, 1),
        ("cuda_runtime", "cudaLaunchKernel", 1, 1020, 5, 2),
        ("kernel", "k", 7, 0, 0, 1),
        ("kernel", "k", 7, 1050, 3, 2),
    )
    line = timelines_of(recording)[RegionKey("r")]
    assert [span.start_ns for span in line.device] == [50_000]
    assert (line.device_left_out, line.end_ns) == (1, 100_000)


def test_streams_of_several_devices_are_told_apart():
    lines = timelines_of(recording_of(TRACES / "made" / "two_devices.json"))
    assert {span.stream for line in lines.values() for span in line.device} == {"7 on GPU 0", "7 on GPU 1"}


def test_of_many_regions_those_that_took_the_most_cpu_time_have_a_timeline(tmp_path, monkeypatch):
    monkeypatch.setattr(timeline, "MOST_TIMELINES", 2)
    recording = made(tmp_path, *(("user_annotation", f"r{at}", 1, 100 * at, 10 + 7 * at % 40, 0) for at in range(6)))
    lengths = {f"r{at}": 10 + 7 * at % 40 for at in range(6)}
    longest = sorted(lengths, key=lengths.__getitem__)[-2:]
    assert {key.name for key in timelines_of(recording)} == set(longest)


@EVERY
def test_the_times_of_all_calls_are_those_of_the_statistics(path):
    for region in summarised(recording_of(path)):
        times = region.call_times
        assert len(times) == min(region.calls - region.unfinished, MOST_CALLS)
        assert [each.start_ns for each in times] == sorted(each.start_ns for each in times)
        first, median = region.first, region.median_call
        assert (times[0].start_ns, times[0].cpu_total_ns) == (first.start_ns, first.cpu_total_ns)
        assert median.start_ns in [each.start_ns for each in times]
        assert median.cpu_total_ns == region.cpu_total_ns.median
        if region.calls == region.measured <= MOST_CALLS and not region.unfinished:
            assert sum(each.cpu_total_ns for each in times) == region.cpu_total_ns.sum
            assert max(each.cpu_total_ns for each in times) == region.cpu_total_ns.max
            if region.cuda_total_ns is not None:
                assert sum(each.cuda_total_ns for each in times) == region.cuda_total_ns.sum
                busy = [each.cuda_busy_ns for each in times if each.cuda_busy_ns is not None]
                assert min(busy, default=None) == (region.cuda_busy_ns and region.cuda_busy_ns.min)


def test_of_many_calls_evenly_chosen_ones_are_kept_and_warm_up_is_marked(tmp_path):
    number = 1_000
    recording = made(tmp_path, *(("user_annotation", "r", 1, 100 * at, 1 + at % 50, 0) for at in range(number)))
    recorded = recording.recorded
    recorded = RecordedCalls(recorded.calls, recorded.keys, [at < 7 for at in range(number)], base_time_ns=5)
    (region,) = summarised(replace(recording, recorded=recorded))
    times = region.call_times
    assert len(times) == MOST_CALLS
    assert times[0] == CallTimes(0, 5, True, 1_000, 1_000, None, None)
    assert times[-1].start_ns == 5 + 100_000 * (number - 1)
    assert [each.is_warmup for each in times[:3]] == [True, True, False]
    assert region.median_call.start_ns in [each.start_ns for each in times]
    gaps = {(after.start_ns - before.start_ns) // 100_000 for before, after in pairwise(times)}
    assert max(gaps) <= 10, "5 apart, but for the place of the median"


def test_calls_of_several_traces_name_theirs():
    paths = [TRACES / "h200" / f"{name}.json.gz" for name in ("matmul_add_64", "matmul_add_4096_warm")]
    result = measure_traces(paths, [])
    region = next(each for each in result.regions if each.name == "matmul_add")
    assert [each.trace for each in region.call_times] == sorted(each.trace for each in region.call_times)
    assert {each.trace for each in region.call_times} == {0, 1}
    assert region.timeline.trace == region.median_call.trace
    assert region.timeline.start_ns == region.median_call.start_ns

"""Traces that went wrong once (tests/traces/cases, after public reports): what is said of each, by kind."""

import json
import re
from pathlib import Path

import pytest

from kinetoscope_core.analysis.statistics import START_UP
from kinetoscope_core.cli.main import main
from kinetoscope_core.errors import NothingMeasured
from kinetoscope_core.jobs.measure import measure_traces
from kinetoscope_core.results.result import from_dict, to_json

CASES = Path(__file__).parents[1] / "traces" / "cases"


def result_of(path):
    """The result as a reader of its JSON gets it; the JSON holds all of it."""
    result = measure_traces([path], [])
    read = from_dict(json.loads(to_json(result)))
    assert json.loads(to_json(read)) == json.loads(to_json(result))
    return read


def case(name):
    (path,) = CASES.glob(f"{name}*.json")
    return result_of(path)


def made(tmp_path, *events, **metadata):
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({**metadata, "traceEvents": list(events)}))
    return path


def event(cat, name, ts, dur, *, pid=1, tid=1, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}


def launched(ident, ts, dur, *, at=0, launch="cudaLaunchKernel", stream=7, pid=1, row=0):
    """A launch and its kernel, which starts 10 µs later or `at`."""
    return [
        event("cuda_runtime", launch, ts, 5, pid=pid, correlation=ident),
        event("kernel", "k", at or ts + 10, dur, pid=row, tid=stream, device=0, stream=stream, correlation=ident),
    ]


def rows(result):
    return {region.name: region for region in result.regions}


def said(result):
    return {problem.code: problem for problem in result.problems}


@pytest.mark.parametrize(("rank", "each_ns"), [(0, 30_000), (1, 40_000)])
def test_the_trace_of_one_rank_is_no_trace_of_several(rank, each_ns):
    result = case(f"r01_rank{rank}_alone")
    (forward,) = result.regions
    assert (forward.name, forward.measured, forward.cuda_total_ns.median) == ("forward", 3, each_ns)
    assert result.outside_regions_ns == 0
    assert said(result) == {}


def test_an_id_counts_within_its_process_where_ranks_were_merged_into_one_file():
    result = case("r01b")
    found = rows(result)
    assert (found["stage0"].cuda_total_ns.sum, found["stage1"].cuda_total_ns.sum) == (90_000, 120_000)
    assert result.outside_regions_ns == 0
    assert said(result)["several-ranks"].evidence == {"processes": 2, "unassigned": 0}


@pytest.mark.parametrize(
    ("marks", "own"),
    [(("100", "200"), True), (("rank0_1", "rank1_1"), True), (("1 [0]", "1 [1]"), True), (("100", "200"), False)],
)
def test_the_rows_of_a_rank_are_known_by_their_mark_or_by_their_order(tmp_path, marks, own):
    events = []
    for number, mark in enumerate(marks):
        row = f"{mark[:-3]}7{mark[-3:]}" if "[" in mark else f"{mark[:-1]}7"
        if mark.isdigit():
            row = f"{number}"
        ids = 10 if own else 10 + 100 * number
        events.append(event("user_annotation", f"r{number}", 1000 + number, 60, pid=mark))
        events += launched(ids, 1010 + number, 20 + 10 * number, pid=mark, row=row)
    result = result_of(made(tmp_path, *events))
    assert [region.cuda_total_ns.sum for region in result.regions] == [20_000, 30_000]
    # Where each id is of one process alone, nothing is wrong.
    assert ("several-ranks" in said(result)) is own


def test_what_belongs_to_no_rank_for_certain_is_outside_and_said(tmp_path):
    events = [event("user_annotation", f"r{pid}", 1000, 60, pid=pid) for pid in (100, 200)]
    for pid, row in ((100, 0), (200, 1)):
        events += launched(10, 1010, 20, pid=pid, row=row)
    events.append(event("kernel", "k", 1030, 5, pid=2, tid=7, device=2, stream=7, correlation=10))
    result = result_of(made(tmp_path, *events))
    assert result.outside_regions_ns == result.device_total_ns == 45_000
    assert said(result)["several-ranks"].evidence["unassigned"] == 3


def test_one_id_on_a_runtime_and_a_driver_call_or_on_two_devices_is_no_rank(tmp_path):
    events = [
        event("user_annotation", "r", 1000, 60),
        *launched(10, 1010, 20),
        event("cuda_driver", "cuLaunchKernel", 1011, 2, correlation=10),
        event("kernel", "peer", 1030, 5, pid=1, tid=7, device=1, stream=7, correlation=10),
    ]
    result = result_of(made(tmp_path, *events))
    assert result.regions[0].cuda_total_ns.sum == 25_000
    assert said(result) == {}


def test_a_kernel_that_lies_over_the_next_ones_of_its_stream_is_not_trusted():
    result = case("r02")
    (region,) = result.regions
    assert said(result)["overlong-activity"].evidence == {"count": 1, "longest_ns": 1_600_000_000}
    assert region.cuda_total_ns.max == region.cuda_busy_ns.max == 20_000
    assert (region.cuda_recorded_ns, result.device_total_ns) == (1_600_080_000, 1_600_080_000)
    assert "kernel-time-varies" not in {finding.code for finding in region.findings}


@pytest.mark.parametrize(
    ("correlation", "stream", "overlap"), [(1, 7, 900), (2, 8, 900), (2, 7, 90), (0, 7, 900)], ids=str
)
def test_what_may_overlap_is_trusted(tmp_path, correlation, stream, overlap):
    """Nodes of one graph, other streams, dependent launches."""
    events = [
        event("user_annotation", "r", 1000, 100),
        *launched(1, 1010, 1000, launch="cudaGraphLaunch"),
        *launched(2, 1020, 10, at=5000),
        event("kernel", "n", 2020 - overlap, 3, pid=0, tid=stream, device=0, stream=stream, correlation=correlation),
    ]
    assert "overlong-activity" not in said(result_of(made(tmp_path, *events)))


def test_a_trace_of_torch_npu_is_called_that():
    result = case("r03")
    assert "torch_npu" in said(result)["other-tool"].message
    assert [operator.name for operator in result.contents.operators] == ["forward"]


@pytest.mark.parametrize(
    ("events", "tool"),
    [
        ([event("cuda_api", "cudaLaunchKernel", 1, 2), event("cuda", "k", 2, 3), event("nvtx", "step", 0, 9)], "nsys"),
        (
            [{"name": "aten::mm", "ph": "X", "ts": 1, "dur": 2, "tid": 1, "pid": "CPU functions", "args": {}}],
            "torch.autograd.profiler",
        ),
    ],
    ids=["nsys", "legacy"],
)
def test_traces_of_other_tools_are_called_that_where_nothing_is_read(tmp_path, events, tool):
    path = made(tmp_path, *events)
    with pytest.raises(NothingMeasured, match=re.escape("Nsight" if tool == "nsys" else tool)):
        measure_traces([path], [])
    kineto = made(tmp_path, event("user_annotation", "r", 1, 2), event("python_function", "f", 1, 2))
    assert said(result_of(kineto)) == {}


def test_queues_without_a_stream_are_told_apart_by_their_rows():
    (region,) = case("r04").regions
    assert {span.stream for span in region.timeline.device} == {"64", "65"}


def test_names_that_differ_in_counters_are_rows_and_one_series():
    result = case("r05")
    assert len(result.regions) == 12
    (group,) = result.groups
    assert (group.name, group.names, group.measured) == ("step[DECODE bs=N it=N]", 12, 12)
    assert {region.series for region in result.regions} == {group.name}
    assert (group.cuda_total_ns.median, group.cpu_total_ns.min, group.cpu_total_ns.max) == (270_000, 400_000, 411_000)
    assert group.breakdown.kernel_names == 3


def test_steps_of_torch_are_one_row_of_the_table(capsys):
    result = case("t04")
    (group,) = result.groups
    assert (group.name, group.measured, group.cpu_total_ns.median) == ("ProfilerStep#N", 3, 100_000_000)
    assert main(["read", str(next(CASES.glob("t04*")))]) == 0
    table = capsys.readouterr().out
    assert "ProfilerStep#N (3 names)" in table
    assert "ProfilerStep#3" not in table


def test_what_is_nested_is_no_series_and_what_comes_again_is_one_beside_its_names(tmp_path):
    nested = [event("user_annotation", f"block {depth}", 10 + depth, 90 - 2 * depth) for depth in range(5)]
    again = [event("user_annotation", f"layer {at % 4}", 200 + 10 * at, 5) for at in range(12)]
    result = result_of(made(tmp_path, *nested, *again))
    (group,) = result.groups
    assert (group.name, group.names, group.measured, len(result.regions)) == ("layer N", 4, 12, 9)


def test_of_a_long_series_the_result_holds_the_pattern_alone(tmp_path):
    steps = [event("user_annotation", f"step_{number}", 10 * number, 5) for number in range(30_000)]
    result = measure_traces([made(tmp_path, *steps)], [])
    (region,) = result.regions
    assert (region.name, region.names, region.calls, region.measured) == ("step_N", 30_000, 30_000, 30_000)
    assert region.cpu_total_ns.sum == 150_000_000
    assert result.groups == ()
    assert len(to_json(result)) < 200_000


def test_zero_is_no_correlation_id():
    result = case("r06")
    assert said(result)["no-correlation-id"].evidence == {"count": 2, "device_ns": 100_000}
    assert "launched-before-recording" not in {finding.code for finding in result.findings}
    assert rows(result)["all_reduce"].bound is None
    assert result.outside_regions_ns == 100_000


def test_calls_without_times_are_counted_and_not_measured():
    result = case("r07")
    (region,) = result.regions
    assert (region.measured, region.calls, region.untimed) == (3, 6, 3)
    assert (region.cpu_total_ns.median, region.cuda_total_ns.median) == (60_000, 30_000)
    assert "3 calls of regions have no valid times" in said(result)["untimed-region"].message


@pytest.mark.parametrize("name", ["r08_", "r08b"])
def test_times_of_another_clock_count_in_totals_and_in_no_gap_timeline_or_busy_time(name):
    result = case(name)
    (region,) = result.regions
    count = said(result)["other-clock"].evidence["count"]
    assert count == (2 if name == "r08_" else 1)
    assert region.cuda_total_ns.sum == 1_500_000 * region.measured == result.device_total_ns
    assert region.cuda_busy_ns.sum == 1_500_000 * (region.measured - count)
    assert region.timeline.end_ns < 2_000_000
    assert [each.cuda_busy_ns for each in region.call_times].count(None) == count
    assert {finding.code for finding in region.findings}.isdisjoint({"idle-gap"})


@pytest.mark.parametrize("name", ["r09_", "r09b"])
def test_a_duration_that_overflowed_ends_with_the_recording(name):
    result = case(name)
    (train,) = result.unmeasured
    forward = rows(result)["forward"]
    assert forward.cpu_total_ns.sum == 50_000 * forward.measured
    end_ns = 170_000 if name == "r09_" else 69_877
    assert (train.name, train.unfinished, train.at_least_ns) == ("train", 1, end_ns)
    assert "overflowing-duration" in said(result)


@pytest.mark.parametrize("dur", [2**63, 9.3e15, 1e300, "9223372036854775807", -5, -(2**70)], ids=str)
@pytest.mark.parametrize("cat", ["user_annotation", "cpu_op", "cuda_runtime", "kernel", "overhead"])
def test_no_length_makes_a_time_that_cannot_be(tmp_path, cat, dur):
    events = [
        event("user_annotation", "r", 1000, 60),
        *launched(10, 1010, 20),
        event(cat, "odd", 1030, 0, correlation=10, device=0, stream=7) | {"dur": dur},
    ]
    result = result_of(made(tmp_path, *events))
    assert rows(result)["r"].cpu_total_ns.sum == 60_000
    assert result.device_total_ns == 20_000
    assert 0 <= rows(result)["r"].cpu_self_ns.sum <= 60_000
    is_negative = not isinstance(dur, str) and dur < 0
    assert ("negative-duration" if is_negative else "overflowing-duration") in said(result)


def test_a_trace_of_metadata_alone_is_nothing_to_measure(capsys):
    assert main(["read", str(next(CASES.glob("r10*")))]) == 3
    assert "has no region, no operator and no GPU activity" in capsys.readouterr().err


def test_an_operator_over_two_steps_is_taken_off_where_it_lies():
    found = rows(case("r11"))
    assert found["loss"].cpu_self_ns.sum == 15_000
    assert [found[f"ProfilerStep#{step}"].cpu_self_ns.sum for step in (7, 8)] == [880_000, 950_000]


def test_regions_that_cross_have_no_self_below_zero():
    result = case("r12")
    totals = [(each.cuda_total_ns.sum, each.cuda_self_ns.sum) for each in result.regions]
    assert totals == [(170_000, 0), (170_000, 160_000), (10_000, 10_000)]
    assert min(each.cpu_self_ns.min for each in result.regions) > 0


def test_a_trace_without_regions_says_what_it_holds_and_what_to_add(capsys):
    contents = case("t03").contents
    assert {kernel.name: kernel.total_ns for kernel in contents.kernels} == {
        "add": 300_000,
        "ampere_sgemm_128x64_nn": 300_000,
    }
    (operator,) = contents.operators
    assert (operator.name, operator.count) == ("aten::mm", 10)
    assert (operator.cpu_total_ns, operator.cuda_total_ns) == (500_000, 600_000)
    assert main(["read", str(next(CASES.glob("t03*")))]) == 0
    shown = capsys.readouterr().out
    assert "ampere_sgemm_128x64_nn" in shown
    assert 'record_function("name")' in shown


def test_a_profile_of_the_cpu_alone_is_told_first_what_was_not_asked_for(tmp_path):
    message = said(case("t11"))["no-device-activity"].message
    places = [message.index(cause) for cause in ("ProfilerActivity.CUDA", "WSL", "another CUPTI client")]
    assert places == sorted(places)
    copies = [event("cuda_runtime", "cudaMemcpyAsync", 10, 5, correlation=4), event("cpu_op", "aten::copy_", 9, 9)]
    result = result_of(made(tmp_path, *copies))
    assert said(result)["no-device-activity"].message.startswith("1 copy of CUDA work")
    assert [operator.name for operator in result.contents.operators] == ["aten::copy_"]


def test_numbers_of_thousands_of_digits_are_read_past(tmp_path):
    path = made(tmp_path, event("user_annotation", "r", 1, 2))
    path.write_text(path.read_text().replace("{", '{"baseTimeNanoseconds": ' + "9" * 5000 + ",", 1))
    assert rows(measure_traces([path], []))["r"].cpu_total_ns.sum == 2000


def test_sums_of_more_than_64_bits_are_written_as_they_are(tmp_path):
    year_us = 364 * 86_400 * 1_000_000
    events = [event for number in range(1, 702) for event in launched(number, number, year_us, stream=number)]
    result = measure_traces([made(tmp_path, event("user_annotation", "r", 0, 900), *events)], [])
    assert json.loads(to_json(result))["device_total_ns"] == 701 * year_us * 1000 > 2**64


def test_the_start_up_launch_has_the_name_that_the_runner_gives_it():
    runner = Path(main.__code__.co_filename).parents[1] / "runner" / "profiler" / "recording.py"
    assert f'START_UP_REGION = "{START_UP.name}"' in runner.read_text()


def test_steps_that_wait_for_the_dataloader_are_split_into_phases(capsys):
    result = case("t04")
    assert {each.name: each.cpu_per_step_ns.median for each in result.contents.phases} == {
        "data loading": 80_000_000,
        "forward": 3_000_000,
        "optimizer step": 3_000_000,
        "everything else": 14_000_000,
    }
    (forward,) = (each for each in result.contents.phases if each.name == "forward")
    assert (forward.calls, forward.cuda_ns, forward.launches) == (3, 45_000_000, 3)
    assert (result.contents.steps.count, result.contents.steps.known_by) == (3, "ProfilerStep")
    assert [finding.code for group in result.groups for finding in group.findings if finding.severity == "warning"][
        :1
    ] == ["waiting-for-data"]
    assert main(["read", str(next(CASES.glob("t04*")))]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"Phase of 3 steps of 100 ms +CPU per step +CUDA per step", shown)
    assert re.search(r"data loading +80\.0 ms +0 ns +240 ms", shown)
    assert "Measure this block" in shown
    assert "--modules" in shown

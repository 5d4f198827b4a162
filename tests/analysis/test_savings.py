"""What findings say can be saved: per call, at most what the region took, and no time twice."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_traces import SHARED, TRACES, Made, calls, found, table

from kinetoscope_core.analysis.findings.savings import Savings, Stretch, saves_per_call, savings_text, typical_ns
from kinetoscope_core.jobs.measure import measure_traces
from kinetoscope_core.text import time_text


def test_time_counts_for_the_first_that_claims_it():
    savings = Savings()
    assert savings.of([Stretch(0, False, 0, 10), Stretch(0, False, 5, 20)]) == 20
    assert savings.of([Stretch(0, False, 15, 30)]) == 10
    assert savings.of([Stretch(0, False, 0, 30)]) == 0
    assert savings.of([Stretch(0, True, 0, 30), Stretch(1, False, 0, 5)]) == 35  # the device's, another recording's


@given(st.integers(0, 10**12), st.integers(1, 10**12))
def test_no_more_is_promised_than_a_call_takes(mean_ns, takes_ns):
    per_call_ns = saves_per_call(mean_ns, takes_ns)
    assert per_call_ns <= takes_ns
    said = savings_text(per_call_ns, takes_ns, "call")
    assert not said or 0 < float(said.rpartition("(")[2].split(" %")[0].removeprefix("less than ")) <= 100


def _at_most_what_it_took(result):
    for region in (*result.regions, *result.groups):
        saved = [each for each in region.findings or () if each.saves_at_most_ns is not None]
        longest_ns = max(region.cpu_total_ns.sum, region.cuda_busy_ns.sum if region.cuda_busy_ns else 0)
        for each in saved:
            assert each.saves_at_most_ns <= longest_ns, (region.name, each)
            assert each.saves_per_call_ns == min(each.saves_at_most_ns // region.measured, typical_ns(region))
            assert f" Could save up to {time_text(each.saves_per_call_ns)} per call (" in each.message
        assert not any("ould save" in each.message for each in region.findings or () if each not in saved)
        # What the CPU and what the device could save are apart.
        assert sum(each.saves_at_most_ns for each in saved) <= 2 * longest_ns, region.name


@pytest.mark.parametrize("path", table.recordings(), ids=lambda path: path.name)
def test_no_finding_saves_more_than_its_region_took(path: Path):
    _at_most_what_it_took(table.result_of(path))


@pytest.mark.skipif(not SHARED.is_dir(), reason="the recordings of ../shared are not there")
@pytest.mark.parametrize("name", ["ranks/ddp_rank0", "ranks/fsdp_rank1", "public/hta_nccl_parser_config_nccl_data"])
def test_nor_in_traces_of_others(name: str):
    _at_most_what_it_took(measure_traces([SHARED / "traces" / f"{name}.json.gz"], []))


def test_an_idle_gap_says_what_the_cpu_ran_and_what_could_be_saved_per_call():
    finding = found("h200/train_mlp.json.gz")["data", "idle-gap"]
    assert finding.message == (
        "data: the GPU was idle for 4.67 ms of the median call (49 %) while the CPU ran aten::randn (4.48 ms), aten::to"
        " (155 µs), Python (37.3 µs). Could save up to 5.79 ms per call (61 %)."
    )


def test_a_stall_in_one_operator_is_an_idle_gap_and_no_tiny_kernels(tmp_path: Path):
    made = Made()
    made.launch(0, "first", 5.0)
    for call in range(5):
        start = 100_000.0 * call + 1000
        made.slice("user_annotation", "r", start, 43_800.0)
        made.slice("cpu_op", "aten::randn", start + 100, 42_000.0)
        for kernel in range(41):
            made.launch(start + 42_200 + 30 * kernel, "k", 3.0)
    made.launch(600_000, "last", 5.0)
    findings = made.found(tmp_path)
    assert ("r", "tiny-kernels") not in findings
    gap = findings["r", "idle-gap"]
    assert gap.evidence["cpu_was_in"] == "aten::randn"
    assert gap.saves_per_call_ns <= 43_800_000


def test_only_the_time_between_neighbouring_launches_is_that_of_tiny_kernels(tmp_path: Path):
    for made, start in calls():
        for kernel in range(20):
            made.launch(start + 10 + 20 * kernel, "k", 2.0)  # 18 µs idle from each to the next
        made.slice("user_annotation", "inside", start + 500, 400.0)
        made.launch(start + 600, "big", 100.0)
        made.launch(start + 950, "k", 2.0)
    finding = made.found(tmp_path)["r", "tiny-kernels"]
    # Of the first call's first step the 5 µs before the first activity are not known.
    assert finding.saves_at_most_ns == 5 * 19 * 18_000 - 5_000


def test_products_count_each_for_itself_and_one_alone_is_chance():
    (region,) = measure_traces([TRACES / "cases" / "t09_one_slow_product.json"], []).regions
    assert "tensor-cores-unused" not in [each.code for each in region.findings]


def test_the_costliest_region_says_how_much_of_the_same_lies_elsewhere(tmp_path: Path):
    made = Made()
    for call in range(3):
        for place, (name, device_us) in enumerate((("a", 400.0), ("b", 350.0), ("c", 300.0))):
            start = 9000.0 * call + 3000.0 * place
            made.slice("user_annotation", name, start, 1000.0)
            made.launch(start + 10, "ampere_sgemm_128x128_nn", device_us)
    findings = made.found(tmp_path)
    assert [region for region, code in findings if code == "tensor-cores-unused"] == ["a"]
    finding = findings["a", "tensor-cores-unused"]
    assert " Another 1.95 ms is in 2 other regions. Could save" in finding.message
    assert finding.evidence["elsewhere_ns"] == 3 * 650_000


def test_times_far_apart_are_told_as_times(tmp_path: Path):
    for call, (made, start) in enumerate(calls()):
        made.launch(start + 5, "k", 900.0 if call == 3 else 30.0)
    finding = made.found(tmp_path)["r", "kernel-time-varies"]
    assert "(the longest 30 times the shortest)" in finding.message


def test_custom_all_reduces_are_communication():
    (region,) = measure_traces([TRACES / "cases" / "t07_custom_all_reduce.json"], []).regions
    assert [each.code for each in region.findings] == ["exposed-communication", "communication-bound"]


def test_steps_of_torch_stand_for_regions_where_there_are_none():
    result = measure_traces([TRACES / "cases" / "t04_steps_wait_for_loader.json"], [])
    (steps,) = [each for each in result.groups if each.name.startswith("ProfilerStep#")]
    assert "waiting-for-data" in [each.code for each in steps.findings]


# --- CUDA graphs


def _capturing(made: Made, start: float, *, is_closed: bool = True) -> None:
    made.slice("cuda_runtime", "cudaStreamBeginCapture", start, 2.0)
    for launch in range(60):
        made.slice("cuda_runtime", "cudaLaunchKernel", start + 5 + launch, 1.0, correlation=5000 + launch)
    if is_closed:
        made.slice("cuda_runtime", "cudaStreamEndCapture_v10000", start + 100, 2.0)


@pytest.mark.parametrize("is_closed", [True, False])
def test_launches_into_a_graph_are_not_without_a_record(tmp_path: Path, is_closed: bool):
    made = Made()
    for call in range(3):
        made.slice("user_annotation", "replay", 2000.0 * call, 200.0)
        made.launch(2000.0 * call + 5, "k", 400.0, call="cudaGraphLaunch")
    made.slice("user_annotation", "capture", 7000.0, 300.0)
    _capturing(made, 7010.0, is_closed=is_closed)
    assert ("(run)", "launches-without-record") not in made.found(tmp_path)
    assert made.bounds(tmp_path) == {"replay": "compute", "capture": None}
    made.slice("cuda_runtime", "cudaLaunchKernel", 6500.0, 1.0, correlation=9000)
    assert made.found(tmp_path)["(run)", "launches-without-record"].evidence["count"] == 1


def test_the_call_that_captures_is_not_measured_with_those_that_replay(tmp_path: Path):
    made = Made()
    for call in range(4):
        made.slice("user_annotation", "step", 2000.0 * call, 900.0 if call == 0 else 200.0)
        if call == 0:
            _capturing(made, 10.0)
        made.launch(2000.0 * call + 150, "k", 400.0, call="cudaGraphLaunch")
    (step,) = made.measured(tmp_path).regions
    assert (step.calls, step.measured, step.is_cold, step.cpu_total_ns.max) == (4, 3, False, 200_000)

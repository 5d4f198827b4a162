"""Runs of ours on an H200, measured again from what the runner left: the numbers stay what they were."""

import gzip
import json
from pathlib import Path

import pytest

from kinetoscope_core.analysis.attribution import attribute
from kinetoscope_core.jobs.measure import measure_run
from kinetoscope_core.results.result import to_json
from kinetoscope_core.run.outcome import DeviceFacts, Outcome
from kinetoscope_core.runner.request import RunRequest
from kinetoscope_core.source.snapshot import Sources
from kinetoscope_core.trace import read_trace

SPREADS = ("cpu_total_ns", "cpu_self_ns", "cuda_total_ns", "cuda_self_ns", "cuda_busy_ns", "launches")
RUNS = Path(__file__).parents[1] / "traces" / "runs"


def measured_again(name, folder):
    """The result, from a copy of the run's folder as the runner leaves it."""
    expected = json.loads((RUNS / name / "result.json").read_text())
    (folder / "regionlog.json").write_bytes((RUNS / name / "regionlog.json").read_bytes())
    for trace in (RUNS / name).glob("*.gz"):
        (folder / trace.stem).write_bytes(gzip.decompress(trace.read_bytes()))
    run = expected["run"]
    device = DeviceFacts(torch=expected["torch"], cuda="13.0", devices=("NVIDIA H200",))
    outcome = Outcome(run["ending"], 0, 0.0, run["interpreter"], device=device, torch_was_imported=True)
    request = RunRequest(run["script"], focus_name="backward" if name.endswith("focus") else "")
    return expected, json.loads(to_json(measure_run(request, outcome, folder, run["started"], None, Sources())))


def without_newer_fields(value, recorded):
    """The value with the fields that there were when it was recorded; those that came later have tests of their own."""
    if isinstance(value, dict) and isinstance(recorded, dict):
        if "median" in recorded and value["median"] < recorded["median"]:
            # It was the mean of the two in the middle where their number is even; now it is the smaller of them.
            return without_newer_fields({**value, "median": recorded["median"]}, recorded)
        return {field: without_newer_fields(value[field], recorded[field]) for field in recorded}
    if isinstance(value, list) and isinstance(recorded, list):
        if len(value) > len(recorded) == 5 and "cpu_recorded_ns" not in value[0]:
            value = value[:5]  # only five kernels and operators were kept
        if len(value) != len(recorded):
            return value
        return [without_newer_fields(*pair) for pair in zip(value, recorded, strict=True)]
    return value


@pytest.mark.parametrize("name", sorted(path.name for path in RUNS.iterdir()))
def test_a_recorded_run_gives_the_same_numbers_again(name, tmp_path):
    expected, result = measured_again(name, tmp_path)
    # In the oldest runs the start-up launch, what torch marks while it compiles and what had not ended were regions.
    own = next((each for each in expected["regions"] if each["name"] == "kinetoscope: start-up launch"), None)
    if "start_up" in expected:
        for key in ("start_up", "unmeasured", "groups", "contents"):
            assert without_newer_fields(result[key], expected[key]) == expected[key]
    elif own is None:
        assert result["start_up"] is None
    else:
        assert result["start_up"]["cpu_ns"] == own["cpu_total_ns"]["sum"]
        assert result["start_up"]["cuda_ns"] == own["cuda_total_ns"]["sum"]
        expected["regions"].remove(own)
        expected["device_total_ns"] -= own["cuda_total_ns"]["sum"]
    compiling = [each for each in expected["regions"] if "compile_id=" in each["name"]]
    unfinished = [each for each in expected["regions"] if each["unfinished"] == each["calls"]]
    kept = [each for each in expected["regions"] if each not in compiling and each not in unfinished]
    rows = [each for each in result["regions"] if each["name"] != "torch.compile"]
    of_odd = [(row, was) for row, was in zip(rows, kept, strict=True) if was["measured"] % 2]
    assert all(row[name]["median"] == was[name]["median"] for row, was in of_odd for name in SPREADS if was[name])
    assert without_newer_fields(rows, kept) == kept
    assert [each["names"] for each in result["regions"] if each not in rows] == ([len(compiling)] if compiling else [])
    if "unmeasured" not in expected:
        assert [(each["name"], each["at_least_ns"], each["cuda_recorded_ns"]) for each in result["unmeasured"]] == [
            (each["name"], each["cpu_total_ns"]["max"], each["cuda_self_ns"]["sum"]) for each in unfinished
        ]
    for key in ("device_total_ns", "outside_regions_ns", "device", "torch"):
        assert result[key] == expected[key]


@pytest.mark.parametrize("trace", sorted(RUNS.glob("*/*.gz")), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_all_device_work_of_a_run_is_counted_once(trace):
    attribution = attribute(read_trace(trace)[0])
    own = sum(call.cuda_self_ns for call in attribution.calls)
    assert own + attribution.outside_ns == attribution.device_total_ns


def test_names_that_break_a_trace_came_out_right_on_two_threads(tmp_path):
    _, result = measured_again("awkward_names", tmp_path)
    names = ['quote "q"', "back\\slash", "Übung λ 训练 🔥", "tab\tname", "line\nfeed", "", "x" * 300]
    found = {region["name"]: region for region in result["regions"] if region["file"]}
    assert set(found) == {prefix + name for prefix in ("", "worker ") for name in names}
    assert {region["line"] for region in found.values()} == {15}
    assert {region["calls"] for region in found.values()} == {9}


def test_a_focused_backward_holds_no_wait_of_the_profiler_s(tmp_path):
    _, result = measured_again("train_mlp_focus", tmp_path)
    backward = next(region for region in result["regions"] if region["name"] == "backward")
    assert (backward["measured"], backward["overhead_ns"]) == (5, 0)
    assert backward["cuda_total_ns"]["median"] == 38945


def test_work_that_lost_its_region_while_the_profiler_was_stopped_is_said_to_have(tmp_path):
    _, result = measured_again("busy_threads", tmp_path)
    (problem,) = [each for each in result["problems"] if each["code"] == "outside-while-stopping"]
    assert problem["evidence"]["outside_ns"] == result["outside_regions_ns"] > 0

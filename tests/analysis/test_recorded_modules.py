"""Recorded runs with regions of modules, against a second walk through their traces."""

import gzip
import json

import module_walk
import pytest
from made_traces import TRACES

from kinetoscope_core.jobs.measure import measure_run
from kinetoscope_core.results.result import to_json
from kinetoscope_core.run.outcome import Outcome
from kinetoscope_core.runner.request import ModuleChoice, RunRequest
from kinetoscope_core.source.snapshot import Sources

RUNS = TRACES / "modules"


def measured(name, tmp_path, **changed):
    """The result of a recorded run, with changes of its log, and its trace."""
    folder = RUNS / name
    log = json.loads((folder / "regionlog.json").read_text())
    (tmp_path / "regionlog.json").write_text(json.dumps({**log, **changed}))
    trace = tmp_path / "trace-1.json"
    trace.write_bytes(gzip.decompress((folder / "trace-1.json.gz").read_bytes()))
    asked = RunRequest("models.py", modules=ModuleChoice())
    result = measure_run(asked, Outcome("ended", 0, 1.0, "python"), tmp_path, "2026-11-30", None, Sources())
    return json.loads(to_json(result)), trace


@pytest.fixture(params=["ddp", "lightning", "short"])
def recorded(request, tmp_path):
    """The name of a recorded run, its result, and its trace."""
    return request.param, *measured(request.param, tmp_path)


def test_modules_take_what_the_second_walk_says(recorded):
    name, result, trace = recorded
    found = module_walk.check(result, module_walk.walked(trace))
    assert found == {"ddp": 5, "lightning": 4, "short": 24}[name]


def test_a_parent_is_its_self_and_its_children_and_nothing_is_lost(recorded):
    """In sums over all recorded calls; what torch itself marks is a child, too."""
    _, result, _ = recorded
    for region in result["regions"]:
        total, own = region["cuda_total_ns"], region["cuda_self_ns"]
        children = [
            each["cuda_total_ns"]["sum"]
            for each in result["regions"]
            if each["parent"] and each["parent"]["name"] in (region["name"], region["series"])
        ]
        if region["origin"] == "module" and region["series"] is None:
            assert own["sum"] + sum(children) == total["sum"], region["name"]


def test_layers_are_one_row_with_the_slowest(recorded):
    name, result, _ = recorded
    groups = {each["name"]: (each["names"], each["slowest"]) for each in result["groups"]}
    slow = {
        (each["series"], each["name"]): each["cuda_total_ns"]["median"] for each in result["regions"] if each["series"]
    }
    for group, (names, slowest) in groups.items():
        members = {member: ns for (of, member), ns in slow.items() if of == group}
        assert len(members) == names
        assert members[slowest] == max(members.values())
    assert (len(groups) > 9) == (name == "short")


def test_findings_of_a_pattern_are_told_once(recorded):
    _, result, _ = recorded
    rows = [each for each in (*result["regions"], *result["groups"]) if each["series"] is None]
    told = [(row["name"], found["code"]) for row in rows for found in row["findings"]]
    assert len(told) == len(set(told)) < len(result["regions"]) * 2


def test_the_backward_pass_of_modules_is_not_said_to_be_outside(recorded):
    name, result, trace = recorded
    found = {each["code"]: each["evidence"] for each in result["findings"]}.get("outside-regions")
    assert (found is None) == (name != "lightning")
    if found is not None:
        walk = module_walk.walked(trace)
        assert found["backward_gpu_ns"] == walk.engine_ns - walk.linked_ns == 5_312
        # The other backward passes run in a closure of the optimizer's step, which torch marks.
        assert found["gpu_ns"] == result["outside_regions_ns"] - 24_768


def test_a_call_whose_backward_pass_was_not_recorded_is_left_out_of_it(recorded):
    """These recordings end with the last call of the model."""
    _, result, _ = recorded
    outermost = next(each for each in result["regions"] if each["origin"] == "module")
    assert outermost["backward_cuda_ns"]["min"] > 0


def test_what_other_threads_did_while_the_profiler_stopped_is_no_backward_pass_of_modules(tmp_path):
    result, trace = measured("short", tmp_path, was_quietened=True)
    (problem,) = [each for each in result["problems"] if each["code"] == "outside-while-stopping"]
    linked_ns = module_walk.walked(trace).linked_ns
    assert problem["evidence"]["outside_ns"] == result["outside_regions_ns"] - linked_ns > 0

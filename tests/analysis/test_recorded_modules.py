"""Recorded runs with regions of modules, against a second walk through their traces."""

import gzip
import json
import shutil

import module_walk
import pytest
from made_traces import TRACES

from kinetoscope_core.jobs.measure import measure_run
from kinetoscope_core.results.result import to_json
from kinetoscope_core.run.outcome import Outcome
from kinetoscope_core.runner.request import ModuleChoice, RunRequest
from kinetoscope_core.source.snapshot import Sources

RUNS = TRACES / "modules"


@pytest.fixture(params=["ddp", "lightning", "short"])
def recorded(request, tmp_path):
    """The result of a recorded run, and its trace."""
    folder = RUNS / request.param
    shutil.copy(folder / "regionlog.json", tmp_path)
    trace = tmp_path / "trace-1.json"
    trace.write_bytes(gzip.decompress((folder / "trace-1.json.gz").read_bytes()))
    asked = RunRequest("models.py", modules=ModuleChoice())
    result = measure_run(asked, Outcome("ended", 0, 1.0, "python"), tmp_path, "2026-11-30", None, Sources())
    return request.param, json.loads(to_json(result)), trace


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

"""A result as JSON and back."""

from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

import orjson
import pytest

from kinetoscope_core.errors import Frame, Problem, UsageError
from kinetoscope_core.jobs.measure import measure_traces
from kinetoscope_core.results.result import RunInfo, from_dict, to_json

TRACES = Path(__file__).parents[1] / "traces" / "h200"
RUN = RunInfo(
    script="a.py",
    is_module=False,
    arguments=("--size", "64"),
    interpreter="/usr/bin/python3",
    python="3.11.7",
    started="2026-11-29T12:00:00+00:00",
    seconds=2.5,
    ending="ended",
    was_ended_early=True,
    warmup=3,
    active=5,
    has_own_profiler=False,
    folder="/home/me",
    environment={"CUDA_VISIBLE_DEVICES": "1"},
    region="a.py:7",
)


@pytest.fixture(scope="module")
def result():
    return measure_traces([TRACES / "train_mlp.json.gz"], [])


def test_a_result_survives_json_whole(result):
    frames = (Frame("main.py", 3, "<module>"), Frame("a.py", 7, "step"))
    full = replace(result, run=RUN, problems=(Problem("run-failed", "…", {"events": 3}, "a.py", 7, frames),))
    assert from_dict(orjson.loads(to_json(full))) == full


def test_the_regions_of_the_sources_survive_json_as_they_stood(tmp_path):
    source = tmp_path / "train.py"
    source.write_text('from torch.profiler import record_function\nwith record_function("backward"): pass\n')
    measured = measure_traces([TRACES / "train_mlp.json.gz"], [source])
    assert [each.line for each in measured.sources[str(source)]] == [2]
    assert from_dict(orjson.loads(to_json(measured))) == measured


def test_times_in_json_are_integers(result):
    values = orjson.loads(to_json(result))
    assert values["device_total_ns"] == 3184345
    backward = next(region for region in values["regions"] if region["name"] == "backward")
    assert backward["cuda_total_ns"] == {"sum": 1100030, "median": 274845, "min": 274656, "max": 275393}


def test_the_median_call_can_be_found_in_the_trace(result):
    backward = next(region for region in result.regions if region.name == "backward")
    recorded = datetime.fromtimestamp(backward.median_call.start_ns / 1e9, tz=timezone.utc)
    assert (recorded.year, recorded.month) == (2026, 11)
    assert backward.median_call.trace == 0


def test_a_result_of_another_schema_is_refused(result):
    with pytest.raises(UsageError, match="measure again"):
        from_dict({**orjson.loads(to_json(result)), "schema": 1})


@pytest.mark.parametrize("change", [{"own": 3}, {"pattern": "first"}, {"kind": "other"}, {"line": None}])
def test_a_damaged_result_is_refused(result, tmp_path, change):
    source = tmp_path / "train.py"
    source.write_text('from torch.profiler import record_function\nwith record_function("backward"): pass\n')
    values = orjson.loads(to_json(measure_traces([TRACES / "train_mlp.json.gz"], [source])))
    values["sources"][str(source)][0].update(change)
    with pytest.raises(UsageError, match="damaged"):
        from_dict(values)


def test_a_name_that_is_no_utf_8_is_spelled_out(result):
    odd = replace(result, regions=(replace(result.regions[0], name="a\udc80"),))
    assert orjson.loads(to_json(odd))["regions"][0]["name"] == "a\\udc80"


def test_a_problem_from_before_it_had_frames_is_read(result):
    values = orjson.loads(to_json(replace(result, problems=(Problem("cut-off", "…"),))))
    assert values["problems"][0].pop("frames") == []
    assert from_dict(values).problems == (Problem("cut-off", "…"),)


@pytest.mark.parametrize("field", ["breakdown", "call_times", "cpu_recorded_ns"])
def test_a_region_that_lacks_what_every_one_has_is_refused(result, field):
    values = orjson.loads(to_json(result))
    del values["regions"][0][field]
    with pytest.raises(UsageError, match="damaged"):
        from_dict(values)

"""Every trace with known values comes out to the nanosecond, and obeys the three laws of docs/measures.md."""

import json
from pathlib import Path
from typing import NamedTuple

import pytest

from kinetoscope_core.analysis.attribution import attribute
from kinetoscope_core.analysis.breakdown import breakdowns
from kinetoscope_core.analysis.recording import Recording
from kinetoscope_core.analysis.statistics import Calls, RecordedCalls, summarise
from kinetoscope_core.analysis.unmeasured import unmeasured
from kinetoscope_core.results.measures import Call, RegionMeasures
from kinetoscope_core.trace import read_trace

_OURS = Path(__file__).parent.parent / "traces"
_SHARED = _OURS.parent.parent.parent / "shared" / "traces"


def _truths() -> list:
    ours = json.loads((_OURS / "truth.json").read_text())
    cases = [pytest.param((_OURS / name, truth), id=name) for name, truth in ours.items()]
    if not (_SHARED / "truth.json").exists():
        reason = f"the public traces are not part of the project; they would be in {_SHARED}"
        return [*cases, pytest.param((_SHARED, {}), id="shared", marks=pytest.mark.skip(reason=reason))]
    shared = json.loads((_SHARED / "truth.json").read_text())
    return [*cases, *(pytest.param((_SHARED / name, shared[name]), id=name) for name in shared if name not in ours)]


def _recorded(path: Path) -> Recording:
    trace, problems = read_trace(path)
    assert problems == []
    attribution = attribute(trace)
    return Recording(trace, attribution, RecordedCalls.by_name(attribution.calls))


def _summarised(recording: Recording) -> list[RegionMeasures]:
    calls = Calls(recording.recorded)
    return summarise(calls, breakdowns([recording], calls))


class Case(NamedTuple):
    """A trace that was read, and what is true of it."""

    path: Path
    truth: dict
    recording: Recording


@pytest.fixture(scope="module", params=_truths())
def case(request: pytest.FixtureRequest) -> Case:
    path, truth = request.param
    return Case(path, truth, _recorded(path))


def _row(region: RegionMeasures) -> dict[str, int]:
    # Where nothing was recorded on a device, the truth says 0 and we say None.
    return {
        "occurrences": region.calls,
        "cpu_total": region.cpu_total_ns.sum,
        "cpu_self": region.cpu_self_ns.sum,
        "cuda_total": region.cuda_total_ns.sum if region.cuda_total_ns else 0,
        "cuda_self": region.cuda_self_ns.sum if region.cuda_self_ns else 0,
        "cuda_busy": region.cuda_busy_ns.sum if region.cuda_busy_ns else 0,
        "launches": region.launches.sum if region.launches else 0,
    }


def test_every_number_equals_the_truth(case: Case) -> None:
    recording, truth = case.recording, case.truth
    found = recording.attribution
    assert (found.device_total_ns or 0) == truth["device_total"]
    assert (found.outside_ns or 0) == truth["outside"]
    assert (found.no_launch_ns or 0) == truth["no_launch"]
    rows = {region.name: _row(region) for region in _summarised(recording)}
    # What had not ended has no statistics, and the truth's sums are what it had taken by then.
    expected = dict(truth["regions"])
    for region in unmeasured(Calls(recording.recorded)):
        so_far = expected.pop(region.name)
        assert (region.at_least_ns, region.cuda_at_least_ns) == (so_far["cpu_total"], so_far["cuda_total"])
        assert (region.unfinished, region.cuda_recorded_ns) == (so_far["occurrences"], so_far["cuda_self"])
    assert rows == expected


def test_the_three_laws_hold(case: Case) -> None:
    found = case.recording.attribution
    for call in found.calls:
        assert 0 <= call.cpu_self_ns <= call.cpu_total_ns
        assert 0 <= call.sync_ns <= call.cpu_total_ns
    if found.device_total_ns is None:
        assert all(each.cuda_total_ns is each.cuda_self_ns is each.launches is None for each in found.calls)
        return
    assert sum(each.cuda_self_ns or 0 for each in found.calls) + (found.outside_ns or 0) == found.device_total_ns
    children: dict[int, list[Call]] = {}
    for call in found.calls:
        children.setdefault(call.parent, []).append(call)
    for index, call in enumerate(found.calls):
        total, own, busy = call.cuda_total_ns, call.cuda_self_ns, call.cuda_busy_ns
        assert total is not None
        assert own is not None
        assert 0 <= own <= total
        # A busy time is not known where an activity has no time that can be.
        assert (busy is None) == (case.path.name == "ts_zero_kernel.json")
        assert 0 <= (busy or 0) <= total
        assert total == own + sum(child.cuda_total_ns or 0 for child in children.get(index, []))
        assert 0 <= (call.sync_idle_ns or 0) <= call.sync_ns


def test_owners_add_up_to_the_self_times(case: Case) -> None:
    found = case.recording.attribution
    sums = [0] * len(found.calls)
    for owner, duration in zip(found.activity_owner, case.recording.trace.device.duration_ns, strict=True):
        if owner >= 0:
            sums[owner] += duration
    assert sums == [call.cuda_self_ns or 0 for call in found.calls]


def test_the_values_worked_out_by_hand_are_those_of_the_truth() -> None:
    truth = json.loads((_OURS / "truth.json").read_text())
    expected = json.loads((_OURS / "made" / "expected.json").read_text())
    for name, values in expected.items():
        by_hand = {key: values[key] for key in ("device_total", "outside", "no_launch", "regions")}
        assert truth[f"made/{name}.json"] == by_hand


def test_a_trace_without_device_activity_says_not_measured(tmp_path: Path) -> None:
    recording = _recorded(_OURS / "made" / "python_frames_cross.json")
    found = recording.attribution
    (region,) = _summarised(recording)
    assert found.device_total_ns is found.outside_ns is found.no_launch_ns is None
    assert region.cuda_total_ns is region.cuda_busy_ns is region.launches is None

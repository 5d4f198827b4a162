"""What attribution says beyond the truth of the traces: waiting, backward, overhead, and what is missing."""

import json
from pathlib import Path

import pytest

from kinetoscope_core.analysis.attribution import Attribution, attribute
from kinetoscope_core.analysis.attribution.nesting import is_wait
from kinetoscope_core.results.measures import Call
from kinetoscope_core.trace import read_trace

_TRACES = Path(__file__).parent.parent / "traces"


def _slice(cat: str, name: str, ts: float, dur: float, tid: int = 1, pid: int = 100, **args: object) -> dict:
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}


def _region(name: str, ts: float, dur: float, tid: int = 1, **args: object) -> dict:
    return _slice("user_annotation", name, ts, dur, tid, **args)


def _call(ts: float, correlation: int, *, name: str = "cudaLaunchKernel", dur: float = 1, tid: int = 1) -> dict:
    return _slice("cuda_runtime", name, ts, dur, tid, correlation=correlation)


def _kernel(ts: float, dur: float, correlation: int) -> dict:
    return _slice("kernel", "k", ts, dur, 7, 0, correlation=correlation, device=0, stream=7)


def _operator(name: str, ts: float, dur: float, tid: int = 1, sequence: int = -1, forward: int = 0) -> dict:
    return _slice("cpu_op", name, ts, dur, tid, **{"Sequence number": sequence, "Fwd thread id": forward})


def _flow(ident: int, forward: tuple[int, float], backward: tuple[int, float]) -> list[dict]:
    common = {"cat": "fwdbwd", "name": "fwdbwd", "id": ident, "pid": 100}
    return [
        {"ph": "s", "tid": forward[0], "ts": forward[1], **common},
        {"ph": "f", "bp": "e", "tid": backward[0], "ts": backward[1], **common},
    ]


def _attributed(tmp_path: Path, *events: dict) -> Attribution:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": events}))
    trace, problems = read_trace(path)
    assert problems == []
    return attribute(trace)


def _named(found: Attribution) -> dict[str, Call]:
    return {call.name: call for call in found.calls}


def _codes(found: Attribution) -> dict[str, dict]:
    return {problem.code: dict(problem.evidence) for problem in found.problems}


@pytest.mark.parametrize(
    "name",
    [
        *("cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize", "cudaMemcpy", "cudaMemcpy2D"),
        *("hipDeviceSynchronize", "hipStreamSynchronize", "hipEventSynchronize", "hipMemcpy", "hipMemcpyWithStream"),
        *("cuCtxSynchronize", "cuStreamSynchronize", "cuMemcpyDtoH_v2", "cudaMemcpyToSymbol"),
    ],
)
def test_calls_that_wait(name: str) -> None:
    assert is_wait(name)


@pytest.mark.parametrize(
    "name",
    [
        "cudaMemcpyAsync",
        "cudaMemcpy2DAsync",
        "hipMemcpyAsync",
        "cudaMemcpyPeer",
        "cuMemcpyDtoHAsync_v2",
        "cudaStreamWaitEvent",
        "cudaLaunchKernel",
        "cudaMemset",
        "cudaEventQuery",
    ],
)
def test_calls_that_do_not_wait(name: str) -> None:
    assert not is_wait(name)


def test_waiting_is_split_into_waiting_for_work_and_for_nothing(tmp_path: Path) -> None:
    found = _attributed(
        tmp_path,
        _region("outer", 0, 200),
        _region("inner", 10, 100),
        _call(12, 1),
        _kernel(20, 30, 1),
        _call(40, 2, name="cudaDeviceSynchronize", dur=50),
        _slice("cuda_driver", "cuCtxSynchronize", 45, 40),  # inside the runtime call: waits only once
        _call(100, 3, name="cudaStreamSynchronize", dur=30),  # cut at the end of inner
    )
    inner, outer = _named(found)["inner"], _named(found)["outer"]
    assert (inner.sync_ns, inner.sync_idle_ns) == (60_000, 50_000)
    assert (outer.sync_ns, outer.sync_idle_ns) == (80_000, 70_000)


def test_waiting_on_another_thread_is_not_ours(tmp_path: Path) -> None:
    found = _attributed(
        tmp_path, _region("r", 0, 100), _call(10, 1, name="cudaDeviceSynchronize", dur=50, tid=2), _kernel(0, 5, 9)
    )
    assert _named(found)["r"].sync_ns == 0


def _train(*links: dict) -> list[dict]:
    """A step: forward in two regions, backward on thread 2, a kernel for each."""
    return [
        _region("step", 0, 100),
        _region("one", 1, 9),
        _operator("aten::linear", 2, 7, sequence=5),
        _operator("aten::mm", 3, 5, sequence=5),
        _call(4, 1),
        _region("two", 11, 9),
        _operator("aten::relu", 12, 7, sequence=6),
        _call(14, 2),
        _region("backward", 30, 60),
        _operator("autograd::engine::evaluate_function: Relu", 32, 10, 2, sequence=6, forward=1),
        _operator("ReluBackward0", 33, 8, 2, sequence=6, forward=1),
        _call(34, 3, tid=2),
        _operator("autograd::engine::evaluate_function: Mm", 45, 12, 2, sequence=5, forward=1),
        _operator("MmBackward0", 46, 8, 2, sequence=5, forward=1),
        _call(47, 4, tid=2),
        _call(55, 5, tid=2),  # in the evaluation, after the node: adds up gradients
        _operator("autograd::engine::evaluate_function: AccumulateGrad", 60, 5, 2),
        _call(61, 6, tid=2),
        *(_kernel(100 * number, 10**number / 1000, number) for number in range(1, 7)),
        *links,
    ]


_FLOWS = [*_flow(1, (1, 3), (2, 46)), *_flow(2, (1, 12), (2, 33))]


@pytest.mark.parametrize("links", [_FLOWS, []], ids=["flows", "sequence numbers"])
def test_backward_work_is_credited_to_the_forward_region(links: list[dict], tmp_path: Path) -> None:
    regions = _named(_attributed(tmp_path, *_train(*links)))
    assert regions["one"].backward_cuda_ns == 10**4 + 10**5
    assert regions["two"].backward_cuda_ns == 10**3
    assert regions["backward"].backward_cuda_ns == 0
    assert regions["backward"].cuda_total_ns == 10**3 + 10**4 + 10**5 + 10**6
    # The backward of its forward ran inside the step: it is in the step's CUDA total and does not come on top.
    assert regions["step"].backward_cuda_ns == 0
    assert regions["step"].cuda_total_ns == 1_111_110


def test_a_region_that_ended_before_backward_has_its_cost_on_top(tmp_path: Path) -> None:
    events = [event for event in _train(*_FLOWS) if event["name"] != "step"]
    assert _named(_attributed(tmp_path, _region("model", 0, 25), *events))["model"].backward_cuda_ns == 111_000


def test_backward_is_unknown_without_any_link(tmp_path: Path) -> None:
    found = _attributed(tmp_path, _region("r", 0, 10), _operator("aten::mm", 1, 5, sequence=3), _kernel(0, 5, 9))
    assert _named(found)["r"].backward_cuda_ns is None


def test_a_sequence_number_of_two_threads_links_nothing(tmp_path: Path) -> None:
    other = _operator("aten::linear", 2, 7, tid=3, sequence=5)
    regions = _named(_attributed(tmp_path, other, *_train()))
    assert regions["one"].backward_cuda_ns == 0
    assert regions["two"].backward_cuda_ns == 1000


def test_overhead_inside_is_told_and_not_taken_off(tmp_path: Path) -> None:
    overhead = [_slice("overhead", "Activity Buffer Request", ts, 10, 0, -1) for ts in (0, 20, 25, 90)]
    found = _attributed(tmp_path, _region("r", 5, 60), *overhead)
    (call,) = found.calls
    assert call.overhead_ns == 5000 + 15_000
    assert call.cpu_total_ns == call.cpu_self_ns == 60_000
    assert _codes(found)["profiler-overhead"] == {"count": 1, "longest_ns": 20_000}


def test_launches_without_a_record_are_counted(tmp_path: Path) -> None:
    found = _attributed(tmp_path, _region("r", 0, 10), _call(1, 1), _call(2, 2), _call(3, 3), _kernel(5, 5, 2))
    assert _codes(found)["launches-without-record"] == {"count": 2, "launches": 3}
    assert _named(found)["r"].launches == 1


def test_launches_and_no_device_activity_at_all_are_never_zero(tmp_path: Path) -> None:
    found = _attributed(tmp_path, _region("r", 0, 10), _call(1, 1))
    assert _codes(found) == {"no-device-activity": {"launches": 1}}
    assert found.device_total_ns is _named(found)["r"].cuda_total_ns is None


def test_a_trace_of_the_cpu_alone_has_nothing_to_complain_about(tmp_path: Path) -> None:
    assert _codes(_attributed(tmp_path, _region("r", 0, 10), _operator("aten::mm", 1, 5))) == {}


@pytest.mark.parametrize(
    ("name", "code", "evidence"),
    [
        ("ts_zero_kernel", "lost-times", {"count": 1}),
        ("launched_before_window", "launched-before-recording", {"count": 2, "device_ns": 45_000}),
        ("backward_two_candidates", "backward-without-region", {"count": 1}),
        ("unfinished_region", "unfinished-region", {"count": 1}),
    ],
)
def test_what_is_missing_is_said(name: str, code: str, evidence: dict) -> None:
    found = attribute(read_trace(_TRACES / "made" / f"{name}.json")[0])
    assert _codes(found) == {code: evidence}


def test_clock_skew_and_foreign_external_ids_are_no_problem() -> None:
    for name in ("kernel_before_launch", "external_id_is_correlation", "same_stream_overlap_pdl"):
        assert attribute(read_trace(_TRACES / "made" / f"{name}.json")[0]).problems == []


def test_each_call_keeps_its_external_id_and_thread(tmp_path: Path) -> None:
    found = _attributed(
        tmp_path, _region("b", 5, 5, 3, **{"External id": 8}), _region("a", 0, 20, **{"External id": 7})
    )
    assert [call.name for call in found.calls] == ["a", "b"]
    assert found.external_ids == [7, 8]
    assert [(each.pid, each.tid) for each in found.calls] == [("100", "1"), ("100", "3")]


def test_two_autograd_threads_cannot_be_nested_in_each_other(tmp_path: Path) -> None:
    found = _attributed(
        tmp_path,
        _region("a", 10, 50, 2),
        _region("b", 10, 50, 3),
        _operator("autograd::engine::evaluate_function: A", 5, 60, 2),
        _operator("autograd::engine::evaluate_function: B", 5, 60, 3),
        _call(20, 1, tid=2),
        _kernel(30, 5, 1),
    )
    assert [call.parent for call in found.calls] == [-1, 0]
    assert [call.cuda_self_ns for call in found.calls] == [5000, 0]


def test_a_cut_off_trace_does_not_blame_the_driver(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    events = json.dumps([_region("r", 0, 10), _call(1, 1), _kernel(5, 5, 1)])
    path.write_text('{"traceEvents": ' + events[:-20])
    trace, _ = read_trace(path)
    found = attribute(trace)
    assert trace.is_cut
    assert [problem.code for problem in found.problems] == ["no-device-activity"]
    assert "cut off" in found.problems[0].message
    assert "CUPTI" not in found.problems[0].message

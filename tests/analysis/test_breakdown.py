"""What a region is made of adds up to its totals, on every trace; and names what took the time."""

import json
from pathlib import Path

import pytest

from kinetoscope_core.analysis.attribution import attribute
from kinetoscope_core.analysis.breakdown import breakdowns
from kinetoscope_core.analysis.recording import Recording
from kinetoscope_core.analysis.statistics import Calls, RecordedCalls, RegionKey, summarise
from kinetoscope_core.results.measures import ChainLink, KernelShare
from kinetoscope_core.trace import read_trace

TRACES = Path(__file__).parents[1] / "traces"
RECORDED = sorted([*TRACES.glob("h200/*.gz"), *TRACES.glob("runs/*/*.gz")])
MADE = sorted(path for path in TRACES.glob("made/*.json") if not path.name.startswith(("broken", "expected")))


def recording_of(path, warmup=0):
    """The trace, its first calls taken for warm-up."""
    trace, _ = read_trace(path)
    attribution = attribute(trace)
    plain = RecordedCalls.by_name(attribution.calls)
    return Recording(
        trace, attribution, RecordedCalls(plain.calls, plain.keys, [i < warmup for i in range(len(plain.keys))])
    )


def breakdowns_of(recording, *, has_all=False):
    return breakdowns([recording], Calls(recording.recorded), has_all=has_all)


def made(folder, *events):
    """A trace of (category, name, thread, start, length in µs, correlation)."""
    path = folder / "trace.json"
    rows = [
        {
            "ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": start, "dur": length,
            "args": {"correlation": correlation} if correlation else {},
        }
        for cat, name, tid, start, length, correlation in events
    ]  # fmt: skip
    path.write_text(json.dumps({"traceEvents": rows}))
    return recording_of(path)


def assert_adds_up(*recordings):
    calls = Calls(*(each.recorded for each in recordings))
    parts = breakdowns(recordings, calls, has_all=True)
    for region in summarise(calls, parts):
        part = parts[RegionKey(region.name)]
        cpu = (part.cpu_nested_ns, part.cpu_operators_ns, part.cpu_api_calls_ns, part.cpu_self_ns)
        assert sum(cpu) == region.cpu_total_ns.sum
        assert min(cpu) >= 0
        assert part.cpu_self_ns == region.cpu_self_ns.sum
        assert len(part.operators) == part.operator_names
        assert len(part.kernels) == part.kernel_names
        assert 1 <= part.threads <= region.measured
        if region.cuda_total_ns is None:
            assert (part.cuda_nested_ns, part.cuda_self_ns, part.kernels, part.chain) == (None, None, (), ())
            continue
        assert sum(kernel.total_ns for kernel in part.kernels) == region.cuda_total_ns.sum
        assert sum(kernel.count for kernel in part.kernels) == region.launches.sum
        assert part.cuda_self_ns == region.cuda_self_ns.sum
        assert part.cuda_nested_ns + part.cuda_self_ns == region.cuda_total_ns.sum
        assert sum(operator.cuda_total_ns for operator in part.operators) <= region.cuda_self_ns.sum
        assert bool(part.chain) == bool(part.kernels)
        if part.chain:
            assert part.chain[0] == ChainLink("region", region.name)
            assert part.chain[-1] == ChainLink("activity", part.kernels[0].name)
            assert part.chain[-2].kind == "api_call"


@pytest.mark.parametrize("path", [*RECORDED, *MADE], ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_parts_add_up_to_the_totals(path):
    assert_adds_up(recording_of(path))
    assert_adds_up(recording_of(path, warmup=3))


def test_the_parts_of_several_recordings_add_up():
    assert_adds_up(*(recording_of(path) for path in RECORDED[:4]))


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_operators_on_the_region_s_thread_take_its_share_of_operators(path):
    for part in breakdowns_of(recording_of(path), has_all=True).values():
        own = [operator for operator in part.operators if not operator.is_on_other_thread]
        assert sum(operator.cpu_total_ns for operator in own) == part.cpu_operators_ns


def test_the_way_to_the_costliest_kernel_names_regions_operators_and_the_launch():
    parts = breakdowns_of(recording_of(TRACES / "h200" / "train_mlp.json.gz"))
    forward = parts[RegionKey("forward")]
    assert [(link.kind, link.name) for link in forward.chain[:-1]] == [
        ("region", "forward"),
        ("region", "layer_0"),
        ("operator", "aten::linear"),
        ("operator", "aten::addmm"),
        ("api_call", "cudaLaunchKernelExC"),
    ]
    assert (forward.kernels[0].count, forward.kernels[0].total_ns) == (16, 692254)
    assert [operator.name for operator in forward.operators] == ["aten::mean", "aten::square", "aten::sub"]


def test_the_operators_of_backward_are_those_of_the_autograd_thread():
    backward = breakdowns_of(recording_of(TRACES / "h200" / "train_mlp.json.gz"))[RegionKey("backward")]
    first = backward.operators[0]
    assert first.name == "autograd::engine::evaluate_function: AddmmBackward0"
    assert (first.is_on_other_thread, first.count, first.cuda_total_ns) == (True, 16, 1016510)
    assert [link.kind for link in backward.chain[:2]] == ["region", "operator"]
    assert (len(backward.kernels), backward.kernel_names) == (10, 10)


def test_what_lies_in_an_operator_is_the_operator_s(tmp_path):
    recording = made(
        tmp_path,
        ("user_annotation", "r", 1, 0, 100, 0),
        ("cpu_op", "aten::linear", 1, 10, 30, 0),
        ("cpu_op", "aten::mm", 1, 15, 10, 0),
        ("cuda_runtime", "cudaLaunchKernel", 1, 16, 2, 1),
        ("cuda_runtime", "cudaLaunchKernel", 1, 50, 5, 2),
        ("user_annotation", "inner", 1, 60, 20, 0),
        ("cuda_runtime", "cudaLaunchKernel", 1, 61, 5, 3),
        ("kernel", "k", 7, 200, 7, 1),
        ("kernel", "k", 7, 300, 8, 2),
        ("kernel", "other", 7, 400, 9, 3),
    )
    part = breakdowns_of(recording)[RegionKey("r")]
    assert (part.cpu_operators_ns, part.cpu_api_calls_ns, part.cpu_nested_ns, part.cpu_self_ns) == (
        30_000, 5_000, 20_000, 45_000,
    )  # fmt: skip
    (linear,) = part.operators
    assert (linear.name, linear.count, linear.cpu_total_ns, linear.cuda_total_ns) == ("aten::linear", 1, 30_000, 7_000)
    assert part.kernels == (KernelShare("k", 2, 15_000, "k"), KernelShare("other", 1, 9_000, "other"))
    assert (part.cuda_self_ns, part.cuda_nested_ns) == (15_000, 9_000)


def test_a_region_inside_of_an_operator_of_itself_adds_up(tmp_path):
    recording = made(
        tmp_path,
        ("user_annotation", "r", 1, 0, 110, 0),
        ("cpu_op", "custom::op", 1, 5, 100, 0),
        ("user_annotation", "r", 1, 10, 60, 0),
        ("cpu_op", "aten::mm", 1, 15, 50, 0),
    )
    assert_adds_up(recording)


def test_calls_on_other_threads_than_the_first_are_counted(tmp_path):
    recording = made(
        tmp_path, *(("user_annotation", "r", tid, 10 * at, 5, 0) for at, tid in enumerate((1, 2, 2, 3, 1)))
    )
    part = breakdowns_of(recording)[RegionKey("r")]
    assert (part.threads, part.on_other_threads) == (3, 3)
    assert (part.cuda_self_ns, part.kernels, part.operators, part.chain) == (None, (), (), ())

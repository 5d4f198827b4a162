"""The phases of steps: of recorded loops against their own regions, which are left out here; of made ones by hand."""

import json
from itertools import count
from pathlib import Path

import pytest

from kinetoscope_core.analysis.analysis import reading_of
from kinetoscope_core.analysis.phases.phases import phases_of
from kinetoscope_core.analysis.recording import Recording
from kinetoscope_core.analysis.statistics import RecordedCalls

TRACES = Path(__file__).parents[1] / "traces"
MORE = Path(__file__).parents[3] / "shared" / "traces"
RECORDED = sorted(
    path
    for folder in (TRACES / "h200", TRACES / "cases", TRACES / "cpu", MORE / "public", MORE / "ranks")
    for path in folder.glob("*.json*")
    if "metadata_only" not in path.name
)
EVALUATE = "autograd::engine::evaluate_function: MmBackward0"


def phases(*paths):
    """The phases by name, the steps, and the device total."""
    readings = [reading_of(path) for path in paths]
    recordings = [
        Recording(each.trace, each.attribution, RecordedCalls.by_name(each.attribution.calls)) for each in readings
    ]
    found, steps = phases_of(recordings)
    return {each.name: each for each in found}, steps, sum(each.attribution.device_total_ns or 0 for each in readings)


@pytest.mark.parametrize(
    ("file", "steps"), [(TRACES / "h200/train_mlp.json.gz", 4), (MORE / "h200/train_mlp_long.json.gz", 300)]
)
def test_phases_of_a_recorded_loop_have_the_kernels_of_its_own_regions(file, steps):
    if not file.exists():
        pytest.skip("the long recording is not here")
    truth = json.loads((TRACES / "truth.json").read_text()).get(f"h200/{file.name}")
    truth = truth or json.loads((MORE / "truth.json").read_text())[f"h200/{file.name}"]
    regions = truth["regions"]
    found, _, _ = phases(file)

    def of(*names):
        return sum(regions[name]["cuda_total"] for name in names), sum(regions[name]["launches"] for name in names)

    assert {name: (each.cuda_ns, each.launches) for name, each in found.items()} == {
        "forward": of("forward"),
        "backward": of("backward"),
        "optimizer step": of("Optimizer.step#AdamW.step"),
        "zero_grad": of("Optimizer.zero_grad#AdamW.zero_grad"),
        "everything else": of("data", "log"),
    }
    for name in ("forward", "backward"):  # of a region all its operators, but not Python around them
        assert 0.9 * regions[name]["cpu_total"] < found[name].cpu_ns <= regions[name]["cpu_total"]
    assert found["optimizer step"].cpu_ns == regions["Optimizer.step#AdamW.step"]["cpu_total"]
    assert {each.calls for name, each in found.items() if name != "everything else"} == {steps}


@pytest.mark.parametrize("file", RECORDED, ids=lambda path: path.name)
def test_phases_add_up_to_the_device_total_and_those_of_steps_to_the_steps(file):
    found, steps, device_total_ns = phases(file)
    if not found:
        assert steps is None
        return
    assert sum(each.cuda_ns or 0 for each in found.values()) == device_total_ns
    assert all(each.cpu_ns >= 0 for each in found.values())
    if steps is not None:
        assert sum(each.cpu_per_step_ns.sum for each in found.values()) == steps.took_ns.sum
        assert all(each.cpu_per_step_ns.sum <= each.cpu_ns for each in found.values())


class Made:
    """A trace of slices one after another: each begins where the last one ended, with a gap of 1 µs."""

    def __init__(self, path):
        self.path, self.events, self.at, self.ids = path, [], 0, count(1)

    def add(self, cat, name, ts, dur, tid=1, **args):
        self.events.append(
            {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": ts, "dur": dur, "args": args}
        )

    def _next(self, dur):
        self.at += dur + 1
        return self.at - dur

    def mark(self, name, dur):
        self.add("user_annotation", name, self._next(dur), dur)
        return self

    def data(self, dur):
        return self.mark("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", dur)

    def step(self, dur):
        return self.mark("Optimizer.step#SGD.step", dur)

    def zero(self, dur):
        return self.mark("Optimizer.zero_grad#SGD.zero_grad", dur)

    def operator(self, dur, *, name="aten::mm", kernel=0, tid=1):
        """One, with a kernel of so many µs that it launches."""
        ts = self._next(dur)
        self.add("cpu_op", name, ts, dur, tid)
        if kernel:
            self.add("cuda_runtime", "cudaLaunchKernel", ts, 1, tid, correlation=(ident := next(self.ids)))
            self.events.append(
                {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": ts + 5, "dur": kernel}
                | {"args": {"device": 0, "stream": 7, "correlation": ident}}
            )
        return self

    def arrow(self, end):
        """The last operator is the beginning (`s`) of an arrow, or the end (`f`) of the one that began last."""
        if end == "s":
            self.arrow_id = next(self.ids)
        ts = self.events[-1]["ts"]
        self.events.append(
            {"ph": end, "cat": "fwdbwd", "name": "fwdbwd", "id": self.arrow_id, "pid": 1, "tid": 1, "ts": ts}
        )
        return self

    def backward(self, dur, **others):
        return self.operator(dur, name=EVALUATE, **others)

    def phases(self):
        self.path.write_text(json.dumps({"traceEvents": self.events}))
        found, steps, device_total_ns = phases(self.path)
        assert not found or sum(each.cuda_ns or 0 for each in found.values()) == device_total_ns
        return {
            name: (each.calls, each.cpu_ns // 1000, (each.cuda_ns or 0) // 1000) for name, each in found.items()
        }, steps


@pytest.fixture
def made(tmp_path):
    return Made(tmp_path / "trace.json")


def test_what_comes_between_backward_and_the_next_batch_is_everything_else(made):
    for _ in range(3):
        made.data(10).operator(20, kernel=2).zero(5).operator(30, kernel=3)
        made.operator(4, name="aten::ones_like").backward(40, kernel=4).backward(10)
        made.operator(7, kernel=1).step(50).operator(8)  # gradients are clipped; the loss is logged
    found, steps = made.phases()
    assert found == {
        "data loading": (3, 30, 0),
        "forward": (3, 150, 15),
        "backward": (3, 3 * 56, 12),  # with the gaps between its operators
        "optimizer step": (3, 150, 0),
        "zero_grad": (3, 15, 0),
        "everything else": (None, 3 * (7 + 8) + 3 * 8 - 1, 3),
    }
    assert (steps.known_by, steps.count, steps.took_ns.median) == ("optimizer step", 1, (184 + 10) * 1000)


def test_forward_begins_with_the_first_operator_that_the_backward_pass_goes_back_to(made):
    made.data(10).operator(7, kernel=1).operator(20).arrow("s").zero(3).operator(5, kernel=2).backward(30).arrow("f")
    made.operator(9).operator(8).step(4)
    found, _ = made.phases()
    assert found["forward"] == (1, 25, 2)
    assert found["everything else"] == (None, 7 + 9 + 1 + 8 + 7, 1)


def test_steps_end_with_the_next_batch_however_many_batches_or_optimizers_one_has(made):
    for _ in range(4):
        made.data(10).operator(20).backward(10).data(10).operator(20).backward(10).step(5).step(5)
    _, steps = made.phases()
    assert (steps.known_by, steps.count, steps.took_ns.min, steps.took_ns.max) == ("optimizer step", 2, 98_000, 98_000)


def test_a_closure_in_the_optimizer_s_step_is_forward_and_backward(made):
    """As Lightning and LBFGS have it."""
    made.data(10)
    ts = made.at + 1
    made.zero(4).operator(20, kernel=2).backward(30, kernel=3).operator(6, kernel=1)
    made.add("user_annotation", "Optimizer.step#LBFGS.step", ts, made.at - ts + 10)
    found, _ = made.phases()
    assert found == {
        "data loading": (1, 10, 0),
        "forward": (1, 20, 2),
        "backward": (1, 30, 3),
        "optimizer step": (1, 4 + 6 + 9, 1),
        "zero_grad": (1, 4, 0),
        "everything else": (None, 1, 0),
    }


def test_batches_without_a_backward_pass_are_forward(made):
    for _ in range(3):
        made.data(10).operator(20, kernel=2).operator(30)
    found, steps = made.phases()
    assert found == {"data loading": (3, 30, 0), "forward": (3, 153, 6), "everything else": (None, 5, 0)}
    assert (steps.known_by, steps.count) == ("data loading", 2)


def test_what_is_beside_the_training_thread_is_backward_of_autograd_and_else_nothing(made):
    made.step(5).operator(20, kernel=2)
    made.operator(30, name=EVALUATE, tid=2, kernel=3)  # as on a GPU: the thread that trains waits
    made.operator(9, tid=3, kernel=4)  # a thread that copies batches
    made.step(5)
    found, _ = made.phases()
    assert found["forward"] == (1, 20, 2)
    assert found["backward"] == (1, 30, 3)
    assert found["everything else"][2] == 4


def test_operators_alone_tell_no_phases(made):
    assert made.operator(20, kernel=2).operator(10).phases() == ({}, None)


def test_recordings_and_processes_add_up(made, tmp_path):
    made.data(10).operator(20).data(10).operator(20).data(1)
    once, _ = made.phases()
    twice, steps, _ = phases(made.path, made.path)
    assert {name: each.cpu_ns // 1000 for name, each in twice.items()} == {
        name: 2 * ns for name, (_, ns, _) in once.items()
    }
    assert steps.count == 4
    other = [each | {"pid": 2} for each in made.events]
    (tmp_path / "two.json").write_text(json.dumps({"traceEvents": made.events + other}))
    of_two, _, _ = phases(tmp_path / "two.json")
    assert of_two == twice

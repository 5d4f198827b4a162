"""Which result a file shows, and what other results may say beside it."""

from dataclasses import asdict

import pytest

from kinetoscope_core.results.measures import Breakdown
from kinetoscope_core.source.placement import Placer, fingerprints_of
from kinetoscope_server.results import by_file
from kinetoscope_server.results.by_file import Board
from kinetoscope_server.results.shown import Shown
from kinetoscope_server.text.documents import Document

MODEL = """from torch.profiler import record_function as rf

def step(model):
    with rf("step"):
        for i, layer in enumerate(model):
            with rf(f"layer {i}"):
                layer()
    with rf("backward"), rf("optimizer"):
        pass
"""
LINES = {"step": 4, "layer": 6, "backward": 8, "optimizer": 8}
FILE = "/work/model.py"
CALL = {"trace": 0, "start_ns": 0, "cpu_total_ns": 1, "cuda_total_ns": None}
PARTS = asdict(Breakdown(0, 0, 0, 0, None, None, (), 0, (), 0, (), 1, 0))
NOTHING = dict.fromkeys(
    ("cuda_total_ns", "cuda_self_ns", "cuda_busy_ns", "backward_cuda_ns", "launches", "bound", "cuda_recorded_ns")
)


def measured(name, **others):
    spread = {"sum": 5, "median": 1, "min": 1, "max": 1}
    return {
        "name": name, "file": FILE, "line": LINES[name.split()[0]], "calls": 5, "measured": 5, "is_cold": False,
        "unfinished": 0, "cpu_total_ns": spread, "cpu_self_ns": spread, "overhead_ns": 0, **NOTHING,
        "median_call": CALL, "first": CALL, "breakdown": PARTS, "call_times": [], "cpu_recorded_ns": 5, **others,
    }  # fmt: skip


def layers(number):
    return [measured(f"layer {i}") for i in range(number)]


def run(command, **others):
    script, *arguments = command.split()
    return {
        "script": f"/work/{script}", "is_module": False, "arguments": arguments, "interpreter": "python",
        "python": None, "seconds": 1, "ending": "ended", "was_ended_early": False, "warmup": 3, "active": 5,
        "has_own_profiler": False, "folder": "/work", **others,
    }  # fmt: skip


class Shelf:
    """A board, and the document of the one file that its results measured."""

    def __init__(self, text=MODEL):
        self.board = Board()
        self.document = Document(f"file://{FILE}", FILE, 1, text, "utf-16")
        self.text = text
        self.number = 0

    def add(self, info, *regions, missed=(), when=None, **others):
        """The next result, of a run or of a loaded trace named `info`; its id."""
        self.number += 1
        traces = [info] if isinstance(info, str) else []
        if not traces:
            info = {**info, "started": when or f"2026-11-30T12:00:{self.number:02}+00:00"}
        problem = {"code": "region-not-reached", "message": "", "evidence": {}, "file": FILE, "frames": []}
        values = {
            "schema": 2, "run": None if traces else info, "traces": traces, "device": None, "torch": None,
            "device_total_ns": None, "outside_regions_ns": None, "no_cuda_because": None, "regions": regions,
            "problems": [{**problem, "line": LINES[name]} for name in missed], "regions_cpu_ns": 5, "findings": [],
            "sources": {FILE: [asdict(each) for each in fingerprints_of(self.text)]}, **others,
        }  # fmt: skip
        self.board.add(Shown.of(values, f"run {self.number}"))
        return f"run {self.number}"

    @property
    def seen(self):
        """What stands at the lines: names, and where they are from."""
        return {each.measured.region.name: each.origin for each in self.board.placed(self.document)}

    @property
    def shown(self):
        return self.board.shown(FILE).run


TRAIN, INFER = run("train.py"), run("infer.py")
FOCUSED = run("train.py", region="/work/model.py:4")


@pytest.fixture
def shelf():
    return Shelf()


def test_names_of_an_older_run_never_stand_at_a_line_of_the_newer_one(shelf):
    shelf.add(run("train.py --layers 6 --size 64"), measured("step"), *layers(6))
    shelf.add(run("train.py --layers 2 --size 256"), *layers(2))
    assert shelf.seen == {"layer 0": "", "layer 1": ""}
    placed = shelf.board.placed(shelf.document)
    assert {each.measured.shown.result.run.arguments for each in placed} == {("--layers", "2", "--size", "256")}


def test_a_loaded_trace_is_shown_alone_and_the_run_comes_back_by_a_choice(shelf):
    stored = shelf.add(TRAIN, measured("step"), measured("backward"))
    shelf.add("h200.json", measured("backward"))
    assert shelf.seen == {"backward": ""}
    assert shelf.board.choose(stored) == [FILE]
    assert shelf.seen == {"step": "", "backward": ""}


def test_beside_a_run_a_trace_says_its_name_where_the_run_has_nothing(shelf):
    shelf.add("old.json", measured("step"), measured("backward"))
    shelf.add("h200.json", measured("step"), measured("backward"))
    shelf.add(TRAIN, measured("step"), when="9999-01-01T00:00:00+00:00")
    assert shelf.seen == {"step": "", "backward": "from h200.json"}


def test_after_a_whole_run_a_focused_one_has_the_others_from_the_earlier_run(shelf):
    shelf.add(run("train.py --layers 6"), *layers(6))
    shelf.add(TRAIN, measured("step"), measured("backward"))
    shelf.add(FOCUSED, measured("step"))
    shelf.add(run("train.py", region="/work/model.py:6"), *layers(1))
    assert shelf.seen == {"step": "earlier run", "layer 0": "", "backward": "earlier run"}
    shelf.add(run("train.py --layers 2", region="/work/model.py:6"), *layers(2))
    assert shelf.seen == {"layer 0": "", "layer 1": ""}, "of another command"
    shelf.add(run("train.py", environment={"CUDA_VISIBLE_DEVICES": "1"}, region="/work/model.py:4"), measured("step"))
    assert shelf.seen == {"step": ""}, "of another environment"


def test_of_each_other_script_the_newest_run_says_where_it_is_from(shelf):
    shelf.add(INFER, measured("step"), measured("backward"))
    shelf.add(INFER, measured("step"), *layers(3))
    shelf.add(run("old/train.py"), measured("backward"))
    shelf.add(TRAIN, measured("step"))
    assert shelf.seen == {
        "step": "", "layer 0": "from infer.py", "layer 1": "from infer.py", "layer 2": "from infer.py",
        "backward": "from old/train.py",
    }  # fmt: skip


def test_regions_of_one_line_are_of_one_result(shelf):
    shelf.add(INFER, measured("backward"), measured("optimizer"))
    shelf.add(TRAIN, measured("backward"))
    assert shelf.seen == {"backward": ""}


def test_what_was_not_reached_or_has_no_time_has_no_time_of_others(shelf):
    shelf.add(INFER, measured("step"), *layers(2), measured("backward"))
    open_call = {
        "name": "backward", "file": FILE, "line": 8, "calls": 1, "unfinished": 1, "at_least_ns": 9,
        "cuda_at_least_ns": None, "cuda_recorded_ns": None, "first": CALL,
    }  # fmt: skip
    shelf.add(TRAIN, missed=["step"], unmeasured=[open_call])
    assert shelf.seen == {"layer 0": "from infer.py", "layer 1": "from infer.py", "backward": ""}
    shelf.add(TRAIN, missed=["step", "backward"])
    assert shelf.seen == {"layer 0": "from infer.py", "layer 1": "from infer.py"}


def test_a_chosen_result_stays_until_a_newer_one_of_the_file_comes(shelf):
    first = shelf.add(TRAIN, measured("step"))
    shelf.add(TRAIN, measured("step"))
    shelf.board.choose(first, FILE)
    shelf.add(TRAIN, measured("step"), when="2026-11-30T11:00:00+00:00")  # of another program, found later
    assert shelf.shown == first
    newest = shelf.add(TRAIN, measured("backward"))
    assert (shelf.shown, shelf.seen) == (newest, {"backward": ""})
    assert [each.run for each in shelf.board.results(FILE)] == ["run 4", "run 2", "run 1", "run 3"]


def test_a_result_that_measured_nothing_of_a_file_cannot_be_chosen_there(shelf):
    assert shelf.board.choose(shelf.add(TRAIN, measured("step")), "/work/other.py") == []
    assert shelf.board.choose("never") == []
    assert shelf.shown == "run 1"


def test_a_focused_run_that_is_older_than_the_whole_one_says_so(shelf):
    focused = shelf.add(FOCUSED, measured("step"))
    shelf.add(TRAIN, measured("step"), measured("backward"))
    shelf.board.choose(focused)
    assert shelf.seen == {"step": "", "backward": "later run"}


def test_what_is_cleared_shows_nothing_of_others_and_what_is_dropped_does(shelf):
    shelf.add(INFER, measured("step"))
    last = shelf.add(TRAIN, measured("step"), measured("backward"))
    shelf.board.forget([each for each in shelf.board.placed(shelf.document) if each.region.name == "step"])
    assert shelf.seen == {"backward": ""}
    shelf.board.drop(last)
    assert shelf.seen == {"step": ""}
    shelf.board.clear(FILE)
    assert (shelf.seen, shelf.board.shown(FILE), shelf.board.results(FILE)) == ({}, None, [])


def test_runs_of_one_text_are_placed_once_for_all(monkeypatch):
    made = []

    class Counted(Placer):
        def __init__(self, fingerprints):
            super().__init__(fingerprints)
            made.append(len(self.fingerprints))

    monkeypatch.setattr(by_file, "Placer", Counted)
    shelf = Shelf()
    shelf.add(INFER, measured("step"))
    shelf.add(TRAIN, measured("backward"))
    assert len(shelf.seen) == 2
    assert made == [4]
    shelf.text = MODEL.replace("\n", "\n\n", 1)
    shelf.add(run("third.py"))
    shelf.add(run("fourth.py"), measured("step", line=5))
    assert shelf.seen == {"step": "", "backward": "from train.py"}
    assert len(made) == 2


def test_a_series_and_its_names_from_two_runs_do_not_mix(shelf):
    shelf.add(TRAIN, *layers(2))
    assert set(shelf.seen) == {"layer 0", "layer 1"}
    names = [measured(f"layer {i}", series="layer N") for i in range(3)]
    shelf.add(TRAIN, *names, groups=[measured("layer N", names=3)])
    assert shelf.seen == {"layer N": ""}
    (placed,) = shelf.board.placed(shelf.document)
    assert [each.name for each in placed.measured.names] == ["layer 0", "layer 1", "layer 2"]
    shelf.add(TRAIN, measured("layer 1"))
    assert shelf.seen == {"layer 1": ""}

"""Sweeps without processes: the grid, a cancel between runs, and how settings are compared."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kinetoscope_core.analysis.comparison.swept import swept
from kinetoscope_core.errors import NothingMeasured, RunError, UsageError
from kinetoscope_core.jobs import sweep as job
from kinetoscope_core.jobs.grid import Grid, axis_of
from kinetoscope_core.jobs.measure import measure_traces
from kinetoscope_core.jobs.sweep import Sweeping
from kinetoscope_core.output.sweep_text import notes, title_text, to_markdown
from kinetoscope_core.results.result import Result
from kinetoscope_core.results.store import Store
from kinetoscope_core.results.sweep import MOST_SWEEPS, Sweep, Sweeps, setting_title
from kinetoscope_core.run.outcome import Outcome
from kinetoscope_core.runner.request import RunRequest
from kinetoscope_core.text import time_text

TRACE = Path(__file__).parents[1] / "traces" / "h200" / "odd_overhead.json.gz"
ENDED = Outcome("ended", 0, 1.0, "python")


@pytest.fixture(scope="module")
def result() -> Result:
    return measure_traces([TRACE], [])


class Machine:
    """In place of `Profiling`: gives a result for each run, and notes what was asked for."""

    def __init__(self, result: Result) -> None:
        self.result = result
        self.asked: list[RunRequest] = []
        self.fails: dict[str, Exception] = {}
        self.sweeping: Sweeping | None = None
        self.cancel_after = 0
        self.after_run = lambda: None

    def __call__(self, request: RunRequest, *_: object, **__: object) -> "Machine":
        self.asked.append(request)
        self.run_id = f"run-{len(self.asked)}"
        return self

    def run(self) -> tuple[Result, Outcome]:
        error = self.fails.get(" ".join(self.asked[-1].arguments))
        if error is not None:
            raise error
        return self.result, ENDED

    def finish(self) -> None:
        self.after_run()
        if self.sweeping is not None and len(self.asked) == self.cancel_after:
            assert self.sweeping.cancel(by_terminal=True)

    def cancel(self, **_: object) -> bool:
        return True


@pytest.fixture
def machine(result: Result, monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine(result)
    monkeypatch.setattr(job, "Profiling", made)
    return made


def sweeping(tmp_path: Path, machine: Machine, *axes: str, repeat: int = 1) -> Sweeping:
    made: Any = lambda _: nullcontext()  # noqa: E731
    grid = Grid(tuple(map(axis_of, axes)))
    machine.sweeping = Sweeping(
        RunRequest("s.py"), grid, repeat, Store(tmp_path), made, on_run=lambda *_: None, on_progress=lambda _: None
    )
    return machine.sweeping


def test_what_varies_comes_after_the_fixed_arguments_and_an_empty_value_is_left_out() -> None:
    grid = Grid(
        (axis_of("size=64,128"), axis_of("compile=,yes"), axis_of("-n=1"), axis_of("X=,yes", is_environment=True))
    )
    request = RunRequest("s.py", arguments=("--fixed", "1"), environment={"Y": "2"})
    asked = [grid.request(request, values) for values in grid.settings()]
    assert [(" ".join(each.arguments), dict(each.environment)) for each in asked[:4]] == [
        ("--fixed 1 --size 64 -n 1", {"Y": "2"}),
        ("--fixed 1 --size 64 -n 1", {"Y": "2", "X": "yes"}),
        ("--fixed 1 --size 64 --compile -n 1", {"Y": "2"}),
        ("--fixed 1 --size 64 --compile -n 1", {"Y": "2", "X": "yes"}),
    ]
    assert len(asked) == 8
    assert [setting_title(grid.axes, values) for values in grid.settings()[1:3]] == [
        "size=64, no compile, n=1, X=yes",
        "size=64, compile, n=1, no X",
    ]


@pytest.mark.parametrize(
    ("fixed", "axis", "asked"),
    [
        ("--size 9 data.bin", "size=8", "--size 8 data.bin"),
        ("--size=9 --steps 3", "size=8", "--size 8 --steps 3"),
        ("train --size 9 --size=7 --lr 1", "size=8", "train --size 8 --lr 1"),
        ("--size -9 x", "size=8", "--size 8 x"),
        ("--size --lr 1", "size=8", "--size 8 --lr 1"),
        ("--size", "size=8", "--size 8"),
        ("-s 9 -size 7 -s=3", "-s=8", "-s 8 -size 7"),
        ("--sizes 9 --size-of-all=3", "size=8", "--sizes 9 --size-of-all=3 --size 8"),
        ("size 9", "size=8", "size 9 --size 8"),
        ("--compile data.bin", "compile=yes", "--compile data.bin"),
        ("--compile data.bin", "compile=", "data.bin"),
        ("--size 9 --lr 1", "size=,8", "--lr 1"),
    ],
)
def test_what_varies_replaces_the_fixed_argument_of_its_name_where_that_stands(
    fixed: str, axis: str, asked: str
) -> None:
    grid = Grid((axis_of(axis),))
    request = RunRequest("s.py", arguments=tuple(fixed.split()))
    assert " ".join(grid.request(request, grid.settings()[0]).arguments) == asked


def test_a_cancel_between_runs_makes_no_further_one(tmp_path: Path, machine: Machine) -> None:
    job = sweeping(tmp_path, machine, "n=1,2,3", repeat=2)
    machine.cancel_after = 4
    found = job.run()
    assert [each.arguments[1] for each in machine.asked] == ["1", "2", "3", "1"]
    assert [each.processes for each in found.settings] == [2, 1, 1], "the run that was over by then counts"
    assert [each.runs for each in found.settings] == [("run-1", "run-4"), ("run-2",), ("run-3",)]
    assert found.is_cancelled
    assert title_text(found).endswith(": s.py, 3 settings, 4 of 6 runs on NVIDIA H200")
    assert Sweeps(tmp_path).sweep("last") == found


def test_settings_are_compared_with_the_first_one_that_was_measured(tmp_path: Path, machine: Machine) -> None:
    machine.fails["--n 1"] = NothingMeasured("no region was reached")
    found = sweeping(tmp_path, machine, "n=1,2,3", repeat=2).run()
    assert [each.arguments[1] for each in machine.asked] == ["1", "2", "3", "2", "3"]
    assert (found.base, found.settings[0].failed) == (1, "no region was reached")
    for region in found.regions:
        none, base, other = region.cells
        assert none is None
        assert base is not None
        assert other is not None
        assert base.cpu_total_ns.a is None
        assert (other.cpu_total_ns.a, other.cpu_total_ns.change, other.cpu_total_ns.verdict) == (
            base.cpu_total_ns.b,
            0.0,
            "same",
        )
    table = to_markdown(found)
    assert "| Region | Line | n | CUDA total | Change | CPU total | Change | Launches | Kernels | Bound |" in table
    assert "| 1 | no region was reached |" in table


def test_what_the_first_setting_measured_before_it_failed_is_compared_too(tmp_path: Path, machine: Machine) -> None:
    job = sweeping(tmp_path, machine, "n=1,2", repeat=2)
    machine.after_run = lambda: machine.fails.update({"--n 1": RunError("it broke")})
    found = job.run()
    assert [each.processes for each in found.settings] == [1, 2]
    assert found.base == 1
    assert notes(found)[0] == "Per call; changes are against n=2, as n=1 failed."
    assert title_text(found).endswith(": s.py, 2 settings, 3 of 4 runs on NVIDIA H200")
    assert found.regions[0].cells[0] is not None
    assert found.regions[0].cells[0].cpu_total_ns.change == 0.0


def test_what_cannot_run_at_all_is_an_error_only_of_the_first_run(tmp_path: Path, machine: Machine) -> None:
    machine.fails["--n 2"] = UsageError("no such folder")
    assert sweeping(tmp_path, machine, "n=1,2").run().settings[1].failed == "no such folder"
    with pytest.raises(UsageError, match="no such folder"):
        sweeping(tmp_path, machine, "n=2,1").run()


def test_the_table_says_where_the_code_changed_meanwhile(tmp_path: Path, machine: Machine) -> None:
    found = sweeping(tmp_path, machine, "n=1,2").run()
    against = "Per call; changes are against n=1."
    assert notes(found) == [against]
    assert notes(replace(found, code_changed=("model.py",))) == [
        against,
        "Changed during the sweep: model.py. So its runs did not all run the same code.",
    ]


def test_a_region_named_after_the_setting_is_one_row(result: Result) -> None:
    (region, *_) = result.regions
    one = replace(result, regions=(region,), groups=())
    placed = [
        replace(one, regions=(replace(region, name=name, file="/s.py", line=2, series=None),))
        for name in ("n 1", "n 1", "m")
    ]
    rows = swept([[placed[0]], [], [placed[1]], [placed[2]]], 0)
    assert [(row.name, [cell and cell.name for cell in row.cells]) for row in rows] == [
        ("n 1", ["n 1", None, "n 1", None]),
        ("m", [None, None, None, "m"]),
    ], "what no comparison matches stays apart"


def test_the_guide_s_sizes_eager_and_compiled_are_one_table() -> None:
    """The H200's recordings of `examples/matmul_add.py`; compilation itself is in the first call of two of them."""
    folder = TRACE.parents[1] / "compare"
    names = ("64", "64_compiled", "4096", "4096_compiled")
    sides = [[measure_traces([folder / f"matmul_add_{name}.json.gz"], [])] for name in names]
    row = next(each for each in swept(sides, 0) if each.name == "matmul_add")
    cells = [cell for cell in row.cells if cell is not None and cell.cuda_total_ns is not None]
    assert [(cell.launches, cell.kernels, cell.bound) for cell in cells] == [
        (2, 2, "overhead"),
        (1, 1, "overhead"),
        (3, 3, "compute"),
        (2, 2, None),
    ]
    changes = [
        cell.cuda_total_ns and (time_text(cell.cuda_total_ns.b or 0), cell.cuda_total_ns.verdict) for cell in cells
    ]
    assert changes == [
        ("3.58 µs", "unknown"),
        ("2.08 µs", "faster"),
        ("214 µs", "slower"),
        ("176 µs", "slower"),
    ]


def test_only_the_last_sweeps_are_kept_and_damaged_ones_say_so(tmp_path: Path) -> None:
    kept = Sweeps(tmp_path)
    with pytest.raises(UsageError, match="No sweep is stored yet"):
        kept.sweep("last")
    for number in range(MOST_SWEEPS + 2):
        kept.keep(Sweep(f"{number:03}", "s.py", False, (), "", 1, (), ()))
    assert kept.ids()[0] == f"{MOST_SWEEPS + 1:03}"
    assert (len(kept.ids()), kept.ids()[-1]) == (MOST_SWEEPS, "002")
    assert not list(tmp_path.rglob("*.new"))
    (tmp_path / "sweeps" / "900.json").write_text('{"schema": 1, "id": 3}')
    with pytest.raises(UsageError, match="The stored sweep 900 cannot be read"):
        kept.sweep("last")
    (tmp_path / "sweeps" / "901.json").write_text('{"schema": 0}')
    with pytest.raises(UsageError, match="a sweep of schema 0, not 1; measure again"):
        kept.sweep("901")

"""Which stored runs are processes of one thing, and what a run's baseline is."""

from dataclasses import replace
from pathlib import Path

import pytest

from kinetoscope_core.cli.main import main
from kinetoscope_core.errors import UsageError
from kinetoscope_core.jobs.measure import measure_traces
from kinetoscope_core.jobs.sides import against_baseline, compared
from kinetoscope_core.results import store as stores
from kinetoscope_core.results.alike import History, Ran
from kinetoscope_core.results.result import ModulesAsked, RunInfo, to_json
from kinetoscope_core.results.store import Store, StoredRun
from kinetoscope_core.source.placement import fingerprints_of

TRACE = Path(__file__).parents[1] / "traces" / "h200" / "train_mlp.json.gz"
RUN = RunInfo(
    script="a.py",
    is_module=False,
    arguments=(),
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
)
OLD, NEW = {"/home/me/a.py": "1"}, {"/home/me/a.py": "2"}


@pytest.fixture(scope="module")
def measured():
    return measure_traces([TRACE], [])


@pytest.fixture
def keep(tmp_path, monkeypatch, measured):
    """Keeps a run with these facts of it; the ids are in the order of the calls."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    store = Store()
    number = 0

    def kept(*, slower=1.0, only=None, text="", **facts):
        nonlocal number
        number += 1
        folder = store.root / "new" / f"20261130-1200{number:02}-abcdef"
        folder.mkdir(parents=True)
        regions = tuple(
            replace(each, cuda_total_ns=replace(each.cuda_total_ns, median=round(each.cuda_total_ns.median * slower)))
            if only is None or each.name in only
            else each
            for each in measured.regions
        )
        run = replace(RUN, **{"started": f"2026-11-30T12:00:{number:02}+00:00", **facts})
        sources = {"/home/me/a.py": tuple(fingerprints_of(text))}
        result = replace(measured, run=run, regions=regions, groups=(), sources=sources)
        return store.keep(folder, to_json(result)).id

    kept.store = store
    return kept


def ids(history, run):
    return [each.stored.id for each in history.alike(history.ran(run))]


def baseline(store, run):
    history = History(store)
    found = history.baseline_of(history.ran(run))
    return found and found.stored.id


def test_runs_of_one_command_and_code_are_processes_of_one_thing(keep):
    first, second = keep(code=OLD), keep(code=OLD)
    for different in (
        {"arguments": ("-v",)},
        {"code": NEW},
        {"interpreter": "/x"},
        {"is_prepared": True},
        {"active": 9},
    ):
        keep(**{"code": OLD, **different})
    assert ids(History(keep.store), second) == [second, first]


@pytest.mark.parametrize("code", [{}, {"/home/me/a.py": ""}])
def test_where_the_code_is_not_known_a_run_is_alone(code, keep):
    keep(code=code)
    run = keep(code=code)
    assert ids(History(keep.store), run) == [run]
    assert baseline(keep.store, run) is None


def test_the_baseline_is_the_run_before_the_code_changed(keep):
    older, old = keep(code={"/home/me/a.py": "0"}), keep(code=OLD)
    keep(code={"/home/me/a.py": "3"}, arguments=("--other",))
    new, newest = keep(code=NEW), keep(code=NEW)
    assert [baseline(keep.store, run) for run in (newest, new, old, older)] == [old, old, older, None]


def test_the_baseline_of_a_region_alone_is_of_that_region_at_whatever_line_it_stood(keep):
    text = """from torch.profiler import record_function
with record_function("step"):
    first = 1
with record_function("step"):
    second = 2
"""
    first, second = (keep(code=OLD, text=text, region=f"/home/me/a.py:{line}") for line in (2, 4))
    moved = f"# a line\n{text}".replace("second = 2", "second = 3")
    new_second = keep(code=NEW, text=moved, region="/home/me/a.py:5")
    new_first = keep(code=NEW, text=moved, region="/home/me/a.py:3")
    assert [baseline(keep.store, run) for run in (new_second, new_first)] == [second, first]
    renamed = keep(code={"/home/me/a.py": "3"}, text=moved.replace('"step"', '"other"', 1), region="/home/me/a.py:3")
    assert baseline(keep.store, renamed) == new_first
    assert baseline(keep.store, keep(code={"/home/me/a.py": "4"}, text=moved)) is None, "all regions are no region"
    history = History(keep.store)
    history.pin_baseline(history.ran(first))
    history.pin_baseline(history.ran(second))
    assert [baseline(keep.store, run) for run in (new_first, new_second)] == [first, second], "each has its own"
    history.pin_baseline(history.ran(new_first))
    assert [each.id for each in keep.store.runs() if each.is_baseline] == [new_first, second]


def test_a_pinned_baseline_stays_one_is_not_removed_and_takes_the_place_of_another(keep, monkeypatch):
    monkeypatch.setattr(stores, "MOST_RUNS", 2)
    first = keep(code=OLD)
    history = History(keep.store)
    history.pin_baseline(history.ran(first))
    between, new = keep(code={"/home/me/a.py": "3"}), keep(code=NEW)
    assert baseline(keep.store, new) == first
    assert baseline(keep.store, first) is None, "it is not compared with itself"
    again = keep(code=OLD)
    assert baseline(keep.store, again) is None, "nor are those that ran the same"
    assert first in [each.id for each in keep.store.runs()]
    assert between not in [each.id for each in keep.store.runs()]
    assert main(["runs", new, "--baseline"]) == 0
    assert [each.id for each in keep.store.runs() if each.is_baseline] == [new]
    assert main(["runs", new, "--no-baseline"]) == 0
    assert [each.id for each in keep.store.runs() if each.is_baseline] == []


def test_a_side_has_all_processes_that_ran_the_same(keep):
    before = [keep(code=OLD), keep(code=OLD)]
    now = [keep(code=NEW, slower=1.3), keep(code=NEW, slower=1.31), keep(code=NEW, slower=1.32)]
    comparison = compared(keep.store, "baseline", "last")
    assert (comparison.a.processes, comparison.b.processes) == (2, 3)
    assert comparison.b.runs[0] == now[-1]
    assert comparison.code_changed == ("/home/me/a.py",)
    back = compared(keep.store, "last", "baseline")
    assert (back.a.runs, back.b.runs) == (comparison.b.runs, comparison.a.runs)
    assert compared(keep.store, before[0], now[0]).a.processes == 2
    assert against_baseline(History(keep.store), now[-1]) == comparison
    assert against_baseline(History(keep.store), before[0]) is None


def test_what_differs_within_a_side_is_said_of_all_of_its_runs(keep):
    one = keep(code=OLD, arguments=("--n", "1"), is_prepared=True)
    two = keep(code=NEW, arguments=("--n", "2"))
    three = keep(code=NEW, arguments=("--n", "2"), environment={"A": "1"})
    assert compared(keep.store, f"{one},{two}", three).differences == (
        "arguments: --n 1 and --n 2 → --n 2",
        "interpreter: new and prepared → new",
        "environment: A",
        "the runs of A did not all run the same code (/home/me/a.py)",
    )
    assert compared(keep.store, two, three).differences == ("environment: A",)


def test_two_runs_of_the_same_are_compared_one_with_one(keep):
    runs = [keep(code=OLD) for _ in range(4)]
    assert compared(keep.store, runs[0], runs[1]).b.processes == 1
    assert compared(keep.store, ",".join(runs[:2]), ",".join(runs[2:])).b.processes == 2


def test_results_and_traces_are_sides_too(keep, tmp_path, measured):
    stored = tmp_path / "before.json"
    stored.write_bytes(to_json(measured, is_indented=True))
    trace = tmp_path / "after.json.gz"
    trace.write_bytes(TRACE.read_bytes())
    comparison = compared(keep.store, str(stored), str(trace))
    assert (comparison.a.runs, comparison.b.runs) == (("before.json",), ("after.json.gz",))
    assert {each.cuda_total_ns.verdict for each in comparison.regions} == {"same"}


def test_a_process_counts_once_and_on_one_side(keep, tmp_path):
    run = keep(code=OLD)
    exported, copied = tmp_path / "run.json", tmp_path / "copy.json"
    for file in (exported, copied):
        file.write_bytes((keep.store.stored(run).folder / "result.json").read_bytes())
    now = keep(code=NEW)
    assert compared(keep.store, f"{exported},{copied},{run}", now).a.processes == 1
    for a, b in ((run, run), (str(exported), run), ("last", "last")):
        with pytest.raises(UsageError, match="Both sides have the run "):
            compared(keep.store, a, b)


def test_a_comparison_is_no_side(keep, tmp_path, capfdbinary):
    keep(code=OLD)
    keep(code=NEW)
    assert main(["compare", "baseline", "--json"]) == 0
    file = tmp_path / "comparison.json"
    file.write_bytes(capfdbinary.readouterr().out)
    with pytest.raises(UsageError, match="is a comparison, not a result"):
        compared(keep.store, str(file), "last")


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        ("baseline", "last", "No run is stored yet"),
        ("nothing.json", "last", "nothing.json is no stored run, no file and none of last, baseline."),
        (",", "last", "Name what to compare"),
    ],
)
def test_what_cannot_be_compared_is_said(a, b, said, keep):
    with pytest.raises(UsageError, match=said):
        compared(keep.store, a, b)


def test_a_run_without_a_baseline_says_how_to_have_one(keep):
    run = keep(code=OLD)
    with pytest.raises(UsageError, match=f"The run {run} has no baseline: .*kinetoscope runs RUN --baseline"):
        compared(keep.store, "baseline", run)


# --- the command


def test_the_gate_says_slower_same_or_that_it_cannot_tell(keep, capsys):
    keep(code=OLD)
    now = keep(code=NEW, slower=1.3)
    assert main(["compare", "baseline", "--fail-slower", "5%"]) == 4
    said = capsys.readouterr()
    assert "slower ▲30 %" in said.out
    assert "Exit code 4, because --fail-slower found: " in said.err
    assert "backward (CUDA) by 30 %" in said.err
    assert main(["compare", now, now, "--fail-slower", "5"]) == 2
    faster = keep(code={"/home/me/a.py": "3"}, slower=0.5)
    assert main(["compare", now, faster, "--fail-slower", "5"]) == 0
    noisy = keep(code={"/home/me/a.py": "4"}, slower=1.33)
    assert main(["compare", now, noisy, "--fail-slower", "5%"]) == 5
    assert "Exit code 5, because --fail-slower cannot tell of: " in capsys.readouterr().err


def test_regions_of_torch_are_below_the_user_s_and_no_gates(keep, capsys):
    keep(code=OLD)
    keep(code=NEW, slower=1.3, only=["Optimizer.step#SGD.step"])
    assert main(["compare", "baseline", "--fail-slower", "5%"]) in (0, 5)
    said = capsys.readouterr()
    assert "Optimizer.step" not in said.err, "what it is about is the user's"
    names = [line.split("  ")[0].strip() for line in said.out.splitlines() if " µs → " in line or " ms → " in line]
    mine = [each for each in names if not each.startswith(("Optimizer.", "ProfilerStep"))]
    assert len(mine) < len(names)
    assert names[: len(mine)] == mine


def test_last_is_the_newest_run_wherever_an_id_is(keep, capsys):
    with pytest.raises(UsageError, match="No run is stored yet"):
        keep.store.stored("last")
    old, new = keep(code=OLD), keep(code=NEW)
    assert main(["runs", "last", "--baseline"]) == 0
    assert f"{new} is now the baseline" in capsys.readouterr().err
    assert main(["runs", "last", "--json"]) == 0
    assert '"started": "2026-11-30T12:00:02+00:00"' in capsys.readouterr().out
    assert main(["runs", "last", "--delete"]) == 0
    assert [each.id for each in keep.store.runs()] == [old]


def test_the_comparison_as_json_and_as_markdown(keep, capfdbinary):
    keep(code=OLD)
    keep(code=NEW, slower=1.3)
    assert main(["compare", "baseline", "--json"]) == 0
    assert b'"code_changed": [\n    "/home/me/a.py"\n  ]' in capfdbinary.readouterr().out
    assert main(["compare", "baseline", "--markdown"]) == 0
    lines = capfdbinary.readouterr().out.decode().splitlines()
    header = next(line for line in lines if line.startswith("| Region"))
    assert all(line.count("|") == header.count("|") for line in lines if line.startswith("|"))
    assert any(line.startswith("| backward |") and "slower ▲30 %" in line for line in lines)


@pytest.mark.parametrize("limit", ["many", "-3", "inf", "nan"])
def test_a_limit_is_a_percentage(limit, capsys):
    with pytest.raises(SystemExit):
        main(["compare", "a", "b", "--fail-slower", limit])
    assert "is no percentage, such as 5%" in capsys.readouterr().err


def test_a_run_with_modules_is_another_command_than_one_without():
    stored = StoredRun("20261129-120000-aaaaaa", Path("runs"), 0)
    plain, modules = (
        Ran(stored, replace(RUN, code=NEW, modules=asked), None, None) for asked in (None, ModulesAsked())
    )
    assert plain.command != modules.command
    assert plain.sample != modules.sample
    assert modules.sample == Ran(stored, replace(RUN, code=NEW, modules=ModulesAsked()), None, None).sample

"""The two sides of a comparison, from what a person names: stored runs, `last`, `baseline`, results, traces.

A stored run brings those that ran the same as further processes (`results/alike.py`), unless both sides are of one such
set: then only what was named is compared.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

import orjson

from kinetoscope_core.analysis.comparison import compare
from kinetoscope_core.errors import UsageError
from kinetoscope_core.jobs.measure import measure_traces
from kinetoscope_core.results.alike import History, Ran
from kinetoscope_core.results.comparison import Comparison
from kinetoscope_core.results.result import Result, from_dict
from kinetoscope_core.results.store import Store
from kinetoscope_core.text import printable

WORDS: Final = ("last", "baseline")

_Side = list[tuple[str, Result]]


def compared(store: Store, a: str, b: str) -> Comparison:
    """Compares what the two name; several runs, results or traces of a side have commas between them.

    Raises `UsageError`, `NothingMeasured` or `TraceError`.
    """
    history = History(store)
    named_a, named_b = _named(a), _named(b)
    runs_a, runs_b = _runs(history, named_a, named_b), _runs(history, named_b, named_a)
    if not {each.sample for each in runs_a} & {each.sample for each in runs_b} - {None}:
        runs_a, runs_b = (_with_alike(history, each) for each in (runs_a, runs_b))
    side_a, side_b = _side(named_a, runs_a), _side(named_b, runs_b)
    both = next((name for name, each in side_b if any(_is_same(each, other) for _, other in side_a)), None)
    if both is not None:
        raise UsageError(f"Both sides have the run {printable(both)}: name other runs of one of them.")
    return _compared(side_a, side_b)


def against_baseline(history: History, run: str) -> Comparison | None:
    """The comparison of a stored run with its baseline; None where it has none. Raises `UsageError`."""
    ran = history.ran(run)
    before = None if ran is None else history.baseline_of(ran)
    if ran is None or before is None:
        return None
    return _compared(*(_side([], _with_alike(history, [each])) for each in (before, ran)))


def _compared(a: _Side, b: _Side) -> Comparison:
    return compare([each for _, each in a], [each for _, each in b], ([name for name, _ in a], [name for name, _ in b]))


def _named(text: str) -> list[str]:
    names = [text] if Path(text).is_file() else [each for each in text.split(",") if each]
    if not names:
        raise UsageError("Name what to compare: a stored run, last, baseline, a result or a trace.")
    return names


def _is_file(name: str) -> bool:
    return Path(name).is_file()


def _runs(history: History, named: Sequence[str], others: Sequence[str]) -> list[Ran]:
    return [_run(history, name, others) for name in named if not _is_file(name)]


def _run(history: History, name: str, others: Sequence[str]) -> Ran:
    if name == "last":
        found = next(history.runs(), None)
        if found is None:
            raise UsageError("No run is stored yet. Make one: kinetoscope profile SCRIPT")
        return found
    if name == "baseline":
        other = next((each for each in others if each != "baseline" and not _is_file(each)), "last")
        ran = _run(history, other, ())
        before = history.baseline_of(ran)
        if before is None and history.pinned_of(ran) is not None:
            raise UsageError(
                f"The run {ran.stored.id} is of the baseline's own code; change the code, or name two runs."
            )
        if before is None:
            raise UsageError(
                f"The run {ran.stored.id} has no baseline: no run of the same script and arguments is stored from"
                " before its code changed. Make one the baseline (kinetoscope runs RUN --baseline), or name both runs."
            )
        return before
    found = history.ran(name)
    if found is None:
        raise UsageError(f"{printable(name)} is no stored run, no file and none of {', '.join(WORDS)}.")
    return found


def _with_alike(history: History, runs: Sequence[Ran]) -> list[Ran]:
    return list({each.stored.id: each for run in runs for each in history.alike(run)}.values())


def _side(named: Sequence[str], runs: Sequence[Ran]) -> _Side:
    files = [(Path(name).name, _of_file(Path(name))) for name in named if _is_file(name)]
    stored = [(each.stored.id, from_dict(each.stored.result())) for each in runs]
    side: _Side = []
    for name, result in files + stored:
        if not any(_is_same(result, each) for _, each in side):
            side.append((name, result))
    return side


def _is_same(a: Result, b: Result) -> bool:
    """Whether two results are of one process: as a file and from the store, or a file that was copied."""
    started_a, started_b = (each.run and (each.run.started, each.run.seconds) for each in (a, b))
    return a.traces == b.traces and started_a == started_b


def _of_file(path: Path) -> Result:
    """A stored result, or a trace, which is measured now."""
    values = _json_result(path)
    return measure_traces([path], []) if values is None else from_dict(values)


def _json_result(path: Path) -> Mapping[str, Any] | None:
    with path.open("rb") as file:
        if b'"kinetoscope"' not in file.read(4096):  # what a result begins with, and no trace
            return None
    try:
        values: object = orjson.loads(path.read_bytes())
    except orjson.JSONDecodeError as error:
        raise UsageError(f"The result {path} cannot be read ({error}); measure again.") from error
    if isinstance(values, dict) and "code_changed" in values:
        raise UsageError(f"{printable(str(path))} is a comparison, not a result: compare what it compares.")
    return cast("dict[str, Any]", values) if isinstance(values, dict) and "regions" in values else None

"""From the results of two sides to a comparison."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf
from typing import cast

from kinetoscope_core.analysis.comparison.matching import Pair, pairs_of
from kinetoscope_core.analysis.comparison.verdict import FLOORS, PER_LAUNCH_NS, Kind, change_between
from kinetoscope_core.results.comparison import (
    Change,
    Comparison,
    RegionComparison,
    Share,
    ShareChange,
    Shares,
    Side,
)
from kinetoscope_core.results.measures import KernelShare, OperatorShare, RegionMeasures, RegionName, Spread
from kinetoscope_core.results.result import Result, rows_of
from kinetoscope_core.results.summary import title_of

_Key = tuple[str, str | None, int | None]
_Time = Callable[[RegionMeasures], Spread | None]


def compare(
    a: Sequence[Result], b: Sequence[Result], ids: tuple[Sequence[str], Sequence[str]] = ((), ())
) -> Comparison:
    """What changed from `a` to `b`: the results of processes that ran the same, the newest first, one at least.

    `ids` are the names of each, if they have some. Regions are matched between the newest of both sides; what the other
    processes measured of them is looked up by name and place.
    """
    of_a, of_b = _by_key(a), _by_key(b)
    regions = tuple(_compared(pair, of_a, of_b) for pair in pairs_of(a[0], b[0]))
    return Comparison(
        a=_side(a, ids[0]),
        b=_side(b, ids[1]),
        differences=tuple(_differences(a[0], b[0])),
        code_changed=tuple(code_changed(a[0], b[0])),
        regions=regions,
    )


def code_changed(a: Result, b: Result) -> list[str]:
    """The user's files whose text differs, or that only one loaded; none where that is not known."""
    if a.run is None or b.run is None or not a.run.code or not b.run.code:
        return []
    before, now = a.run.code, b.run.code
    return sorted(file for file in {**before, **now} if not before.get(file) or before.get(file) != now.get(file))


def _side(results: Sequence[Result], ids: Sequence[str]) -> Side:
    newest = results[0]
    return Side(
        title=title_of(newest.run, newest.traces),
        runs=tuple(ids) or tuple(trace.name for each in results for trace in each.traces),
        processes=len(results),
        started=newest.run.started if newest.run else None,
        device=newest.device,
        torch=newest.torch,
    )


def _differences(a: Result, b: Result) -> Iterable[str]:
    """What else may be why the times differ."""
    facts: dict[str, tuple[str | None, str | None]] = {
        "GPU": (a.device.name if a.device else None, b.device.name if b.device else None),
        "torch": (a.torch, b.torch),
    }
    if a.run and b.run:
        facts["script"] = a.run.script, b.run.script
        facts["arguments"] = " ".join(a.run.arguments) or "none", " ".join(b.run.arguments) or "none"
        facts["Python"] = a.run.python, b.run.python
        facts["warm-up calls"] = str(a.run.warmup), str(b.run.warmup)
        names = {**a.run.environment, **b.run.environment}
        changed = sorted(name for name in names if a.run.environment.get(name) != b.run.environment.get(name))
        if changed:
            yield f"environment: {', '.join(changed)}"
        if a.run.is_prepared != b.run.is_prepared:
            yield "one ran in a prepared interpreter, the other did not"
    for name, (before, now) in facts.items():
        if before != now and before is not None and now is not None:
            yield f"{name}: {before} → {now}"


def _by_key(results: Sequence[Result]) -> Mapping[_Key, list[RegionMeasures]]:
    found: dict[_Key, list[RegionMeasures]] = {}
    for result in results:
        for row in rows_of(result):
            found.setdefault((row.name, row.file, row.line), []).append(row)
    return found


def _compared(
    pair: Pair, of_a: Mapping[_Key, list[RegionMeasures]], of_b: Mapping[_Key, list[RegionMeasures]]
) -> RegionComparison:
    a, b = (
        [] if each is None else of[each.name, each.file, each.line] for each, of in zip(pair, (of_a, of_b), strict=True)
    )
    was, now = pair
    known = now or cast("RegionMeasures", was)
    has_moved = was is not None and now is not None and (was.name, was.file, was.line) != (now.name, now.file, now.line)
    middle_a, middle_b = _middle(a), _middle(b)
    return RegionComparison(
        name=known.name,
        file=known.file,
        line=known.line,
        where="both" if was and now else "a" if was else "b",
        was=RegionName(was.name, was.file, was.line) if was is not None and has_moved else None,
        cpu_total_ns=_change(a, b, "cpu", lambda each: each.cpu_total_ns) or Change(None, None),
        cpu_self_ns=_change(a, b, "cpu", lambda each: each.cpu_self_ns) or Change(None, None),
        cuda_total_ns=_change(a, b, "cuda", lambda each: each.cuda_total_ns),
        cuda_self_ns=_change(a, b, "cuda", lambda each: each.cuda_self_ns),
        launches=(_launches(middle_a), _launches(middle_b)),
        bound=(middle_a.bound if middle_a else None, middle_b.bound if middle_b else None),
        kernels=_kernels(middle_a, middle_b),
        operators=_operators(middle_a, middle_b),
        findings_new=_codes(middle_b, middle_a),
        findings_gone=_codes(middle_a, middle_b),
    )


def _change(a: Sequence[RegionMeasures], b: Sequence[RegionMeasures], kind: Kind, time: _Time) -> Change | None:
    before, now = ([spread.median for each in side if (spread := time(each)) is not None] for side in (a, b))
    if before and now:
        return change_between(before, now, kind, max(_launches(each) or 0 for each in (*a, *b)))
    if not before and not now:
        return None
    return Change(_lower_median(before), _lower_median(now))


def _lower_median(values: Sequence[int]) -> int | None:
    return sorted(values)[(len(values) - 1) // 2] if values else None


def _middle(rows: Sequence[RegionMeasures]) -> RegionMeasures | None:
    """The process that stands for the others: that with the median of the times that are least noisy."""
    if not rows:
        return None
    ordered = sorted(rows, key=lambda row: (row.cuda_total_ns or row.cpu_total_ns).median)
    return ordered[(len(ordered) - 1) // 2]


def _launches(row: RegionMeasures | None) -> int | None:
    return row.launches.median if row is not None and row.launches is not None else None


def _codes(row: RegionMeasures | None, other: RegionMeasures | None) -> tuple[str, ...]:
    """The codes of findings that one has and the other, which was measured too, has not."""
    if row is None or other is None:
        return ()
    known = {each.code for each in other.findings}
    return tuple(dict.fromkeys(each.code for each in row.findings if each.code not in known))


def _kernels(a: RegionMeasures | None, b: RegionMeasures | None) -> Shares | None:
    if a is None or b is None or a.cuda_total_ns is None or b.cuda_total_ns is None:
        return None

    def used(each: KernelShare, calls: int) -> tuple[str, str, Share]:
        return each.name, each.short, Share(each.count / calls, each.total_ns // calls)

    return _shares(
        [used(each, a.measured) for each in a.breakdown.kernels],
        [used(each, b.measured) for each in b.breakdown.kernels],
        (a.breakdown.kernel_names, b.breakdown.kernel_names),
        lambda share: FLOORS["cuda"] + PER_LAUNCH_NS * share.count / max(share.total_ns, 1),
    )


def _operators(a: RegionMeasures | None, b: RegionMeasures | None) -> Shares | None:
    if a is None or b is None:
        return None

    def used(each: OperatorShare, calls: int) -> tuple[str, str, Share]:
        thread = " (autograd thread)" if each.is_on_other_thread else ""
        return f"{each.name}{thread}", each.name, Share(each.count / calls, each.cpu_total_ns // calls)

    return _shares(
        [used(each, a.measured) for each in a.breakdown.operators],
        [used(each, b.measured) for each in b.breakdown.operators],
        (a.breakdown.operator_names, b.breakdown.operator_names),
        lambda _: inf,  # CPU times of one process say too little
    )


def _shares(
    a: Iterable[tuple[str, str, Share]],
    b: Iterable[tuple[str, str, Share]],
    names: tuple[int, int],
    floor: Callable[[Share], float],
) -> Shares:
    before = {name: (short, share) for name, short, share in a}
    now = {name: (short, share) for name, short, share in b}
    is_whole_a, is_whole_b = (len(kept) == number for kept, number in zip((before, now), names, strict=True))
    new = [ShareChange(name, short, None, share) for name, (short, share) in now.items() if name not in before]
    gone = [ShareChange(name, short, share, None) for name, (short, share) in before.items() if name not in now]
    both = [ShareChange(name, short, before[name][1], share) for name, (short, share) in now.items() if name in before]
    changed = [each for each in both if each.a and each.b and _differs(each.a, each.b, floor)]
    return Shares(
        # What the other side has not among those that it keeps, it may have among those that it does not.
        new=tuple(new) if is_whole_a else (),
        gone=tuple(gone) if is_whole_b else (),
        changed=tuple(changed),
        same=len(both) - len(changed),
        is_whole=is_whole_a and is_whole_b,
    )


def _differs(a: Share, b: Share, floor: Callable[[Share], float]) -> bool:
    if a.count != b.count:
        return True
    factor = max(floor(a), floor(b))
    return a.total_ns * factor < b.total_ns or b.total_ns * factor < a.total_ns

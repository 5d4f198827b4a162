"""From the results of two sides to a comparison."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Final, TypeVar, cast

from kinetoscope_core.analysis.comparison.matching import pairs_of
from kinetoscope_core.analysis.comparison.verdict import FLOORS, PER_LAUNCH_NS, Kind, change_between
from kinetoscope_core.analysis.findings import BOUNDS
from kinetoscope_core.results.comparison import (
    Change,
    Comparison,
    RegionComparison,
    Share,
    ShareChange,
    Shares,
    Side,
    Verdict,
)
from kinetoscope_core.results.measures import KernelShare, OperatorShare, RegionMeasures, RegionName, Spread
from kinetoscope_core.results.result import Result, rows_of
from kinetoscope_core.results.summary import title_of
from kinetoscope_core.trace import collector_off

_Key = tuple[str, str | None, int | None]
_Share = TypeVar("_Share", KernelShare, OperatorShare)
_Time = Callable[[RegionMeasures], Spread | None]
_CPU_TOTAL: Final[_Time] = attrgetter("cpu_total_ns")
_CPU_SELF: Final[_Time] = attrgetter("cpu_self_ns")
_CUDA_TOTAL: Final[_Time] = attrgetter("cuda_total_ns")
_CUDA_SELF: Final[_Time] = attrgetter("cuda_self_ns")


def compare(
    a: Sequence[Result], b: Sequence[Result], ids: tuple[Sequence[str], Sequence[str]] = ((), ())
) -> Comparison:
    """What changed from `a` to `b`: the results of processes that ran the same, the newest first, one at least.

    `ids` are the names of each, if they have some. Regions are matched between the newest of both sides; what the other
    processes measured of them is looked up by name and place.
    """
    with collector_off():
        of_a, of_b = by_key(a[1:]), by_key(b[1:])
        regions = tuple(_compared(_rows(was, of_a), _rows(now, of_b)) for was, now in pairs_of(a[0], b[0]))
    return Comparison(
        a=_side(a, ids[0]),
        b=_side(b, ids[1]),
        differences=tuple(_differences(a, b)),
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


def code_that_changed(results: Sequence[Result]) -> list[str]:
    """The user's files that several runs loaded, and not with the same text."""
    texts: defaultdict[str, set[str]] = defaultdict(set)
    for run in (result.run for result in results if result.run is not None):
        for file, digest in run.code.items():
            if digest:  # what is written while it runs is often torch.compile's; an edit shows in the next run
                texts[file].add(digest)
    return sorted(file for file, digests in texts.items() if len(digests) > 1)


def _differences(a: Sequence[Result], b: Sequence[Result]) -> Iterable[str]:
    """What else may be why the times differ, between the sides or within one."""
    before, now = ([_facts(each) for each in side] for side in (a, b))
    for name in dict.fromkeys(name for facts in (*before, *now) for name in facts):
        sides = [_values(name, side) for side in (before, now)]
        if all(sides) and (sides[0] != sides[1] or len(sides[0]) > 1):
            yield f"{name}: {' → '.join(' and '.join(each) for each in sides)}"
    environments = [each.run.environment for each in (*a, *b) if each.run is not None]
    names = sorted({name for each in environments for name in each})
    changed = [name for name in names if len({each.get(name) for each in environments}) > 1]
    if changed:
        yield f"environment: {', '.join(changed)}"
    for letter, side in (("A", a), ("B", b)):
        files = code_that_changed(side)
        if files:
            yield f"the runs of {letter} did not all run the same code ({', '.join(files)})"


def _facts(result: Result) -> dict[str, str | None]:
    facts = {"GPU": result.device.name if result.device else None, "torch": result.torch}
    run = result.run
    if run is not None:
        facts["script"] = run.script
        facts["arguments"] = " ".join(run.arguments) or "none"
        facts["Python"] = run.python
        facts["warm-up calls"] = str(run.warmup)
        facts["interpreter"] = "prepared" if run.is_prepared else "new"
    return facts


def _values(name: str, side: Sequence[Mapping[str, str | None]]) -> list[str]:
    """What the runs of a side have of it, each once."""
    return sorted({value for facts in side if (value := facts.get(name)) is not None})


def by_key(results: Sequence[Result]) -> Mapping[_Key, list[RegionMeasures]]:
    """What the processes measured of each region: by name, file and line."""
    found: dict[_Key, list[RegionMeasures]] = {}
    for result in results:
        for row in rows_of(result):
            found.setdefault((row.name, row.file, row.line), []).append(row)
    return found


def _rows(row: RegionMeasures | None, others: Mapping[_Key, list[RegionMeasures]]) -> list[RegionMeasures]:
    """What all processes of a side measured of the region that is `row` in the newest."""
    return [] if row is None else [row, *others.get((row.name, row.file, row.line), ())]


def _compared(a: Sequence[RegionMeasures], b: Sequence[RegionMeasures]) -> RegionComparison:
    was, now = a[0] if a else None, b[0] if b else None
    known = now or cast("RegionMeasures", was)
    has_moved = was is not None and now is not None and (was.name, was.file, was.line) != (now.name, now.file, now.line)
    a, b, by_warming_up = _alike(a, b)
    middle_a, middle_b = middle_of(a), middle_of(b)
    launches = max([each.launches.median if each.launches else 0 for each in (*a, *b)])
    return RegionComparison(
        name=known.name,
        file=known.file,
        line=known.line,
        where="both" if was and now else "a" if was else "b",
        was=RegionName(was.name, was.file, was.line) if was is not None and has_moved else None,
        cpu_total_ns=_change(a, b, "cpu", _CPU_TOTAL, by_warming_up) or Change(None, None),
        cpu_self_ns=_change(a, b, "cpu", _CPU_SELF, by_warming_up) or Change(None, None),
        cuda_total_ns=_change(a, b, "cuda", _CUDA_TOTAL, by_warming_up, launches),
        cuda_self_ns=_change(a, b, "cuda", _CUDA_SELF, by_warming_up, launches),
        launches=(_launches(middle_a), _launches(middle_b)),
        bound=(middle_a.bound if middle_a else None, middle_b.bound if middle_b else None),
        kernels=_kernels(middle_a, middle_b),
        operators=_operators(middle_a, middle_b),
        findings_new=_codes(middle_b, middle_a),
        findings_gone=_codes(middle_a, middle_b),
    )


def _alike(
    a: Sequence[RegionMeasures], b: Sequence[RegionMeasures]
) -> tuple[Sequence[RegionMeasures], Sequence[RegionMeasures], Verdict | None]:
    """Of each side the processes whose warm-up calls are left out, if there are some; and which verdict would only say
    that one side is cold: its calls may have compiled the code, or loaded kernels.
    """
    if not any(each.is_cold for each in (*a, *b)):
        return a, b, None
    warm_a, warm_b = ([each for each in side if not each.is_cold] for side in (a, b))
    if bool(warm_a) == bool(warm_b):
        return warm_a or a, warm_b or b, None
    return warm_a or a, warm_b or b, "slower" if warm_a else "faster"


def _change(
    a: Sequence[RegionMeasures],
    b: Sequence[RegionMeasures],
    kind: Kind,
    time: _Time,
    by_warming_up: Verdict | None,
    launches: int = 0,
) -> Change | None:
    before = [spread.median for each in a if (spread := time(each)) is not None]
    now = [spread.median for each in b if (spread := time(each)) is not None]
    if before and now:
        change = change_between(before, now, kind, launches)
        return Change(change.a, change.b) if change.verdict == by_warming_up else change
    if not before and not now:
        return None
    return Change(_lower_median(before), _lower_median(now))


def _lower_median(values: Sequence[int]) -> int | None:
    return sorted(values)[(len(values) - 1) // 2] if values else None


def middle_of(rows: Sequence[RegionMeasures]) -> RegionMeasures | None:
    """The process that stands for the others: that with the median of the times that are least noisy."""
    if len(rows) < 2:
        return rows[0] if rows else None
    ordered = sorted(rows, key=lambda row: (row.cuda_total_ns or row.cpu_total_ns).median)
    return ordered[(len(ordered) - 1) // 2]


def _launches(row: RegionMeasures | None) -> int | None:
    return row.launches.median if row is not None and row.launches is not None else None


def _codes(row: RegionMeasures | None, other: RegionMeasures | None) -> tuple[str, ...]:
    """The codes of findings that one has and the other, which was measured too, has not; bounds are told as such."""
    if row is None or other is None or not row.findings:
        return ()
    known = {each.code for each in other.findings}
    codes = dict.fromkeys(each.code for each in row.findings)
    return tuple(code for code in codes if code not in known and code not in BOUNDS)


def _kernels(a: RegionMeasures | None, b: RegionMeasures | None) -> Shares | None:
    if a is None or b is None or a.cuda_total_ns is None or b.cuda_total_ns is None:
        return None
    calls_a, calls_b = a.measured, b.measured

    def is_same(was: KernelShare, now: KernelShare) -> bool:
        if was.count * calls_b != now.count * calls_a:
            return False
        was_ns, now_ns = was.total_ns / calls_a, now.total_ns / calls_b
        shorter_ns, longer_ns = (was_ns, now_ns) if was_ns < now_ns else (now_ns, was_ns)
        return longer_ns <= shorter_ns * FLOORS["cuda"] + PER_LAUNCH_NS * now.count / calls_b

    def share(each: KernelShare | None, calls: int) -> Share | None:
        return None if each is None else Share(each.count / calls, each.total_ns // calls)

    def change(name: str, was: KernelShare | None, now: KernelShare | None) -> ShareChange:
        short = cast("KernelShare", now or was).short
        return ShareChange(name, short, share(was, calls_a), share(now, calls_b))

    return _shares(
        {each.name: each for each in a.breakdown.kernels},
        {each.name: each for each in b.breakdown.kernels},
        a.breakdown.kernel_names,
        b.breakdown.kernel_names,
        is_same,
        change,
    )


def _operators(a: RegionMeasures | None, b: RegionMeasures | None) -> Shares | None:
    if a is None or b is None:
        return None
    calls_a, calls_b = a.measured, b.measured

    def is_same(was: OperatorShare, now: OperatorShare) -> bool:
        return was.count * calls_b == now.count * calls_a  # CPU times of one process say too little

    def share(each: OperatorShare | None, calls: int) -> Share | None:
        return None if each is None else Share(each.count / calls, each.cpu_total_ns // calls)

    def change(name: str, was: OperatorShare | None, now: OperatorShare | None) -> ShareChange:
        short = cast("OperatorShare", now or was).name
        return ShareChange(name, short, share(was, calls_a), share(now, calls_b))

    return _shares(
        {_operator_name(each): each for each in a.breakdown.operators},
        {_operator_name(each): each for each in b.breakdown.operators},
        a.breakdown.operator_names,
        b.breakdown.operator_names,
        is_same,
        change,
    )


def _operator_name(each: OperatorShare) -> str:
    return f"{each.name} (autograd thread)" if each.is_on_other_thread else each.name


def _shares(
    before: Mapping[str, _Share],
    now: Mapping[str, _Share],
    names_before: int,
    names_now: int,
    is_same: Callable[[_Share, _Share], bool],
    change: Callable[[str, _Share | None, _Share | None], ShareChange],
) -> Shares:
    is_whole_before, is_whole_now = len(before) == names_before, len(now) == names_now
    both = [(name, before[name], each) for name, each in now.items() if name in before]
    changed = [change(name, was, each) for name, was, each in both if not is_same(was, each)]
    # What the other side has not among those that it keeps, it may have among those that it does not.
    new = [change(name, None, each) for name, each in now.items() if name not in before] if is_whole_before else ()
    gone = [change(name, was, None) for name, was in before.items() if name not in now] if is_whole_now else ()
    return Shares(
        new=tuple(new),
        gone=tuple(gone),
        changed=tuple(changed),
        same=len(both) - len(changed),
        is_whole=is_whole_before and is_whole_now,
    )

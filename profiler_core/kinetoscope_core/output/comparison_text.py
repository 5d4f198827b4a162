"""What a comparison says, in words: the same in a terminal and in an editor."""

from collections.abc import Iterator
from pathlib import PurePath
from typing import Final

from kinetoscope_core.output.measures_text import bound_text
from kinetoscope_core.results.comparison import Change, Comparison, RegionComparison, ShareChange, Shares
from kinetoscope_core.text import count_text, cut, printable, time_text

_LONGEST_NAME: Final = 60
_MOST_NAMES: Final = 4


def arrow_text(change: Change | None) -> str:
    """`▼32 %`, `▲4.1 %`, `▲2.3×` where there is a difference beyond noise; else nothing."""
    if change is None or change.change is None or change.verdict not in ("faster", "slower"):
        return ""
    return f"{'▼' if change.change < 0 else '▲'}{size_of(change.change)}"


def sentence_text(change: Change) -> str:
    """`32 % faster than before`, `2.3× as long as before`; nothing where there is no difference beyond noise."""
    if change.change is None or change.verdict not in ("faster", "slower"):
        return ""
    if change.change >= 1:
        return f"{size_of(change.change)} as long as before"
    return f"{size_of(change.change)} {change.verdict} than before"


def size_of(change: float) -> str:
    """How large a change is, without its sign: `32 %`, `4.1 %`; `2.3×` where more than double or less than a tenth."""
    if change >= 1:
        return f"{_short(change + 1)}×"
    return f"{_short(1 / (change + 1))}×" if -1 < change < -0.9 else _percent(change)


def _percent(change: float) -> str:
    return f"{_short(abs(change) * 100)} %"


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 9.95 else f"{value:.1f}"


def times_text(change: Change | None) -> str:
    """`214 µs → 146 µs`, `— → 146 µs`; nothing where neither side has the time."""
    if change is None or change.a is change.b is None:
        return ""
    return " → ".join("—" if each is None else time_text(each) for each in (change.a, change.b))


def verdict_text(change: Change | None) -> str:
    """`faster ▼32 %`, `no difference`, `cannot tell: -12 % to +40 %`, with what would help."""
    if change is None or change.a is None or change.b is None:
        return ""
    if change.verdict in ("faster", "slower"):
        return f"{change.verdict} {arrow_text(change)}"
    if change.verdict == "same":
        return "no difference"
    interval = interval_text(change)
    return f"cannot tell: {interval}" if interval else "cannot tell"


def interval_text(change: Change) -> str:
    """Between which two the change lies: `-35 % to -28 %`; nothing where that is not known."""
    if change.low is None or change.high is None:
        return ""
    return f"{_signed(change.low)} to {_signed(change.high)}"


def _signed(change: float) -> str:
    return size_of(change) if change >= 1 else f"{'-' if change < 0 else '+'}{_percent(change)}"


def more_runs_text(changes: Iterator[Change | None] | list[Change | None]) -> str:
    """How many more runs would give those a verdict that have none; nothing where all have one, or none would."""
    wanted = [each.more_runs for each in changes if each is not None and each.more_runs]
    return f"{count_text(max(wanted), 'more run')} would do" if wanted else ""


def what_changed(region: RegionComparison) -> list[str]:
    """What else is different of a region, a sentence each."""
    lines: list[str] = []
    if region.was is not None:
        parts = [] if region.was.name == region.name else [printable(region.was.name)]
        if region.was.line and (region.was.line, region.was.file) != (region.line, region.file):
            is_elsewhere = region.was.file != region.file
            where = f"in {PurePath(region.was.file).name}, " if is_elsewhere and region.was.file else "at "
            parts.append(f"{where}line {region.was.line}")
        if parts:
            lines.append(f"Was {' '.join(parts)}.")
    before, now = region.launches
    if before is not None and now is not None and before != now:
        lines.append(f"GPU launches per call: {before} → {now}.")
    lines += _shares("Kernels", region.kernels)
    if any(each != region.bound[0] for each in region.bound):
        lines.append(
            "Bound: " + " → ".join("none" if each is None else bound_text(each) for each in region.bound) + "."
        )
    if region.findings_gone:
        lines.append(f"No longer found: {', '.join(region.findings_gone)}.")
    if region.findings_new:
        lines.append(f"New findings: {', '.join(region.findings_new)}.")
    lines += _shares("Operators", region.operators)
    return lines


def _shares(noun: str, shares: Shares | None) -> Iterator[str]:
    if shares is None or not (shares.new or shares.gone or shares.changed):
        return
    parts: list[str] = []
    for word, changes in (("new", shares.new), ("gone", shares.gone), ("changed", shares.changed)):
        if changes:
            names = ", ".join(map(_share, changes[:_MOST_NAMES]))
            more = f" and {len(changes) - _MOST_NAMES} more" if len(changes) > _MOST_NAMES else ""
            parts.append(f"{word}: {names}{more}")
    if shares.same:
        parts.append(f"{shares.same} the same")
    if not shares.is_whole:
        parts.append("of the most expensive ones")
    yield f"{noun}: {'; '.join(parts)}."


def _share(each: ShareChange) -> str:
    name = cut(printable(each.short or each.name), _LONGEST_NAME)
    if each.a and each.b:
        counts = "" if each.a.count == each.b.count else f"×{each.a.count:g} → ×{each.b.count:g}, "
        return f"{name} ({counts}{time_text(each.a.total_ns)} → {time_text(each.b.total_ns)})"
    share = each.a or each.b
    return name if share is None else f"{name} (×{share.count:g}, {time_text(share.total_ns)})"


def sides_text(comparison: Comparison) -> list[str]:
    """What is compared with what, and what else differs, a line each."""
    sides = [
        f"{letter}: {printable(side.title)}, {count_text(side.processes, 'run')}"
        + (f" ({side.runs[0]}{' and others' if len(side.runs) > 1 else ''})" if side.runs else "")
        for letter, side in (("A", comparison.a), ("B", comparison.b))
    ]
    lines = [*sides, *(f"Also different: {printable(each)}." for each in comparison.differences)]
    if comparison.code_changed:
        lines.append(f"Changed since A: {', '.join(map(printable, comparison.code_changed))}.")
    return lines

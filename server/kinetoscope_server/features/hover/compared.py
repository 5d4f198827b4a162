"""What changed at a region since the baseline of the run that is shown there, in Markdown."""

from collections.abc import Iterator

from kinetoscope_core.output.comparison_text import interval_text, verdict_text, what_changed
from kinetoscope_core.results.comparison import Change, Comparison, RegionComparison
from kinetoscope_core.text import count_text, time_text
from kinetoscope_server.features.hover.links import Links
from kinetoscope_server.results.by_file import Placed
from kinetoscope_server.results.comparisons import Baseline, Comparisons
from kinetoscope_server.results.titles import when_text
from kinetoscope_server.text.foreign import escaped


def text(placed: Placed, comparisons: Comparisons, links: Links | None) -> Iterator[str]:
    """Both sides in columns, what else changed, and what is compared; nothing where there is no baseline."""
    baseline, region = comparisons.of(placed.measured.shown.run), comparisons.region(placed)
    if baseline is None or region is None or baseline.comparison is None:
        return
    if region.where == "b":
        yield f"*Not in the run of {_when(baseline)} that this is compared with.*"
        return
    yield "\n".join(_table(region))
    lines = [*what_changed(region), *(f"Also different: {each}." for each in baseline.comparison.differences)]
    if lines:
        yield "\n".join(f"- {escaped(line)}" for line in lines)
    more = comparisons.wanted_runs(placed)
    advice = f" · {links.measure_more(more)}" if more and links else ""
    yield f"*{_sides(baseline, baseline.comparison)}*{advice}"


def _table(region: RegionComparison) -> Iterator[str]:
    yield "| | before | now | change | |"
    yield "|:--|--:|--:|--:|:--|"
    times = (
        ("CUDA total", region.cuda_total_ns),
        ("CUDA self", region.cuda_self_ns),
        ("CPU total", region.cpu_total_ns),
        ("CPU self", region.cpu_self_ns),
    )
    for name, change in times:
        if change is not None:
            cells = [name, _time(change.a), _time(change.b), escaped(interval_text(change)), _verdict(change)]
            yield f"| {' | '.join(cells)} |"


def _time(ns: int | None) -> str:
    return "—" if ns is None else time_text(ns)


def _verdict(change: Change) -> str:
    if change.a is None or change.b is None or change.verdict == "unknown":
        return "" if None in (change.a, change.b) else "cannot tell"
    text = escaped(verdict_text(change))
    return f"**{text}**" if change.verdict in ("faster", "slower") else text


def _sides(baseline: Baseline, comparison: Comparison) -> str:
    kind = "the pinned baseline" if baseline.is_pinned else "the run before the code changed"
    before, now = (count_text(side.processes, "run") for side in (comparison.a, comparison.b))
    return f"Compared with {kind}, {_when(baseline)}: {before} before, {now} now"


def _when(baseline: Baseline) -> str:
    return escaped(when_text(baseline.started, with_seconds=True))

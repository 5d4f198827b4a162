"""The regions of several settings beside one another, each compared with one of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from kinetoscope_core.analysis.comparison.compare import by_key, compare, middle_of
from kinetoscope_core.results.comparison import Change, RegionComparison
from kinetoscope_core.results.measures import RegionMeasures
from kinetoscope_core.results.result import Result, rows_of
from kinetoscope_core.results.sweep import Cell, SweptRegion

_Key = tuple[str, str | None, int | None]


@dataclass(slots=True)
class _Row:
    key: _Key
    cells: list[Cell | None]


def swept(sides: Sequence[Sequence[Result]], base: int) -> tuple[SweptRegion, ...]:
    """The regions in the order of the side `base`, then those that it has not, with a cell for each side.

    A side is the results of the processes of one setting, the newest first; an empty one has no cells. Regions are
    matched with those of `base` as in a comparison of two runs, so that one whose name has the setting in it is one.
    """
    rows = {
        key: _Row(key, [None] * len(sides))
        for key in ((row.name, row.file, row.line) for row in rows_of(sides[base][0]))
    }
    for index, side in enumerate(sides):
        if not side:
            continue
        measured = by_key(side)
        for region in compare(sides[base], side).regions:
            if region.where == "a":
                continue
            here = region.name, region.file, region.line
            key = here if region.was is None else (region.was.name, region.was.file, region.was.line)
            row = rows.setdefault(key, _Row(key, [None] * len(sides)))
            row.cells[index] = _cell(region, _kernels(middle_of(measured[here])), is_base=index == base)
    return tuple(SweptRegion(*row.key, cells=tuple(row.cells)) for row in rows.values())


def _kernels(row: RegionMeasures | None) -> int | None:
    """How many different kernels and copies the median call has: over all calls, those of a compilation would count."""
    if row is None or row.launches is None or row.timeline is None or row.timeline.device_left_out:
        return None
    return len({each.name for each in row.timeline.device})


def _cell(region: RegionComparison, kernels: int | None, *, is_base: bool) -> Cell:
    def of(change: Change) -> Change:
        return Change(None, change.b) if is_base else change

    return Cell(
        name=region.name,
        cpu_total_ns=of(region.cpu_total_ns),
        cpu_self_ns=of(region.cpu_self_ns),
        cuda_total_ns=region.cuda_total_ns and of(region.cuda_total_ns),
        cuda_self_ns=region.cuda_self_ns and of(region.cuda_self_ns),
        launches=region.launches[1],
        kernels=kernels,
        bound=region.bound[1],
    )

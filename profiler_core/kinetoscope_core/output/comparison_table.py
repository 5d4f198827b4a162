"""A comparison as tables: for a terminal, and in Markdown for a pull request."""

from pathlib import PurePath

from rich import box
from rich.console import Console
from rich.table import Table

from kinetoscope_core.output.comparison_text import (
    more_runs_text,
    sides_text,
    times_text,
    verdict_text,
    what_changed,
)
from kinetoscope_core.output.measures_text import bound_text
from kinetoscope_core.results.comparison import Comparison, RegionComparison, own_first, own_regions
from kinetoscope_core.text import cut, printable, shortlist

_LONGEST_NAME = 60
_ONLY = {"a": "only in A", "b": "only in B"}


def print_comparison(console: Console, comparison: Comparison) -> None:
    """Both sides, a row for each region, and below what else changed of each."""
    for line in sides_text(comparison):
        console.print(line)
    headings, rows = _rows(comparison)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, caption="Per call, A → B", caption_justify="left")
    for number, heading in enumerate(headings):
        table.add_column(heading, overflow="fold", min_width=10 if number == 0 else None)
    for row in rows:
        table.add_row(*row)
    console.print(table)
    for region in own_first(comparison.regions):
        changed = what_changed(region)
        if changed:
            console.print(printable(region.name))
            for line in changed:
                console.print(f"  {line}")
    advice = advice_text(comparison)
    if advice:
        console.print(advice)


def to_markdown(comparison: Comparison) -> str:
    """A table for a pull request."""
    headings, rows = _rows(comparison)
    lines = ["", "| " + " | ".join(headings) + " |", "|" + "|".join(":--" for _ in headings) + "|"]
    lines += ["| " + " | ".join(each.replace("|", "\\|") for each in row) + " |" for row in rows]
    regions = own_first(comparison.regions)
    changed = [(printable(region.name).replace("`", "'"), what_changed(region)) for region in regions]
    notes = [f"- `{name}`: {' '.join(each)}" for name, each in changed if each]
    return "\n".join([*(f"{line}  " for line in sides_text(comparison)), *lines, "", *notes]).rstrip() + "\n"


def advice_text(comparison: Comparison) -> str:
    """What would give a verdict where there is none."""
    regions = own_regions(comparison)
    times = [time for each in regions for time in (each.cuda_total_ns, each.cpu_total_ns)]
    unknown = [each for each in times if each is not None and each.a is not None and each.b is not None]
    if all(each.verdict != "unknown" for each in unknown):
        return ""
    if comparison.a.processes < 3:
        return (
            "Where it cannot tell: a few runs of each side would do. Before a change, measure several times: "
            "kinetoscope profile --repeat 5"
        )
    names = [
        printable(each.name)
        for each in regions
        if any(time is not None and time.more_runs for time in (each.cuda_total_ns, each.cpu_total_ns))
    ]
    more = more_runs_text([*times])
    return f"For {shortlist(names)}: {more} (kinetoscope profile --repeat)." if more else ""


def _rows(comparison: Comparison) -> tuple[list[str], list[list[str]]]:
    regions = own_first(comparison.regions)
    has_cuda = any(each.cuda_total_ns is not None for each in regions)
    headings = ["Region", "Line", *(["CUDA total", ""] if has_cuda else []), "CPU total", ""]
    headings += ["Launches", "Bound"] if has_cuda else []
    are_many = len({each.file for each in regions if each.file is not None}) > 1
    return headings, [_row(each, has_cuda=has_cuda, names_file=are_many) for each in regions]


def _row(region: RegionComparison, *, has_cuda: bool, names_file: bool) -> list[str]:
    name = cut(printable(region.name), _LONGEST_NAME)
    if region.where in _ONLY:
        name += f" ({_ONLY[region.where]})"
    file = f"{PurePath(region.file).name}:" if names_file and region.file else ""
    cells = [name, f"{file}{region.line}" if region.line else ""]
    if has_cuda:
        cells += [times_text(region.cuda_total_ns), verdict_text(region.cuda_total_ns)]
    cells += [times_text(region.cpu_total_ns), verdict_text(region.cpu_total_ns)]
    if has_cuda:
        cells.append(_both(*("" if each is None else str(each) for each in region.launches)))
        cells.append(_both(*("" if each is None else bound_text(each) for each in region.bound)))
    return cells


def _both(before: str, now: str) -> str:
    return now if before == now else f"{before or '—'} → {now or '—'}"

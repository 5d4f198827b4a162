"""A sweep as one table, region by setting: its cells, what is said of it, and all of it in Markdown."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from kinetoscope_core.output.comparison_text import verdict_text
from kinetoscope_core.output.measures_text import bound_text
from kinetoscope_core.results.comparison import Change
from kinetoscope_core.results.of_torch import is_of_torch
from kinetoscope_core.results.summary import script_title
from kinetoscope_core.results.sweep import Axis, Cell, Setting, Sweep, SweptRegion, setting_title
from kinetoscope_core.text import count_text, cut, printable, time_text

_LONGEST_NAME = 60
_LEFT_OUT = "—"


@dataclass(frozen=True, slots=True)
class SweepRow:
    """What stands in a row, and what it is about: a setting, by its number from 0, and a region, likewise, unless it
    says why the setting failed.
    """

    cells: tuple[str, ...]
    setting: int
    region: int | None = None


@dataclass(frozen=True, slots=True)
class SweepTable:
    """A block is of one region, in its settings."""

    headings: tuple[str, ...]
    blocks: tuple[tuple[SweepRow, ...], ...]


def to_markdown(sweep: Sweep) -> str:
    """The same for a page or a pull request."""
    lines = [title_text(sweep)]
    for table in tables(sweep):
        lines += ["", "| " + " | ".join(table.headings) + " |", "|" + "|".join(":--" for _ in table.headings) + "|"]
        rows = (row.cells for block in table.blocks for row in block)
        lines += ["| " + " | ".join(each.replace("|", "\\|") for each in row) + " |" for row in rows]
    said = notes(sweep)
    return "\n".join([*lines, *(["", *(f"{each}  " for each in said)] if said else [])]).rstrip() + "\n"


def title_text(sweep: Sweep) -> str:
    """`Sweep 20261130-…: train.py --fixed 1, 6 settings, 3 runs each, on NVIDIA H200`; `5 of 6 settings, 11 of 18 runs`
    where not all were measured.
    """
    what = " ".join([script_title(sweep.script, is_module=sweep.is_module), *sweep.arguments])
    settings, runs = len(sweep.settings), len(sweep.settings) * sweep.repeat
    measured, made = sum(each.processes > 0 for each in sweep.settings), sum(each.processes for each in sweep.settings)
    parts = [
        printable(what),
        ("" if measured == settings else f"{measured} of ") + count_text(settings, "setting"),
        f"{count_text(sweep.repeat, 'run')} each" if made == runs else f"{made} of {count_text(runs, 'run')}",
    ]
    device = f" on {sweep.device.name}" if sweep.device else ""
    return f"Sweep {sweep.id}: {', '.join(parts)}{device}"


def notes(sweep: Sweep) -> list[str]:
    """What to know before the numbers are believed, and what would help."""
    lines: list[str] = []
    if sweep.base is not None:
        base = sweep.settings[sweep.base]
        failed = [each for each in sweep.settings[: sweep.base] if each.failed is not None]
        why = f", as {setting_title(sweep.axes, failed[0].values)} failed" if failed else ""
        lines.append(f"Per call; changes are against {setting_title(sweep.axes, base.values)}{why}.")
    if sweep.is_cancelled:
        done = sum(each.processes for each in sweep.settings)
        lines.append(f"The sweep was cancelled after {count_text(done, 'run')}; the run that was cut off is left out.")
    if sweep.code_changed:
        files = ", ".join(map(printable, sweep.code_changed))
        lines.append(f"Changed during the sweep: {files}. So its runs did not all run the same code.")
    changes = [
        each for row in sweep.regions for cell in row.cells if cell for each in (cell.cuda_total_ns, cell.cpu_total_ns)
    ]
    is_open = any(each and each.a is not None and each.b is not None and each.verdict == "unknown" for each in changes)
    if is_open and sweep.repeat < 5:
        lines.append("Where it cannot tell, several runs of each setting may do: --repeat 5")
    return lines


def tables(sweep: Sweep) -> Iterator[SweepTable]:
    """Of the regions, torch's own after the user's, and of the settings that failed."""
    names = [printable(axis.name.lstrip("-")) for axis in sweep.axes]
    if sweep.regions and sweep.base is not None:
        has_cuda = any(cell and cell.cuda_total_ns for row in sweep.regions for cell in row.cells)
        headings = ["Region", "Line", *names, *(["CUDA total", "Change"] if has_cuda else [])]
        headings += ["CPU total", "Change", *(["Launches", "Kernels", "Bound"] if has_cuda else [])]
        regions = sorted(enumerate(sweep.regions), key=lambda each: is_of_torch(each[1].name, each[1].file))
        blocks = (tuple(_rows(sweep, region, number, has_cuda=has_cuda)) for number, region in regions)
        yield SweepTable(tuple(headings), tuple(blocks))
    failed = [(number, each) for number, each in enumerate(sweep.settings) if each.failed is not None]
    if failed:
        rows = (SweepRow((*_values(sweep.axes, each), _why(each)), number) for number, each in failed)
        yield SweepTable((*names, "Failed"), (tuple(rows),))


def _rows(sweep: Sweep, region: SweptRegion, number: int, *, has_cuda: bool) -> Iterator[SweepRow]:
    are_many = len({each.file for each in sweep.regions if each.file is not None}) > 1
    file = f"{PurePath(region.file).name}:" if are_many and region.file else ""
    name, line = cut(printable(region.name), _LONGEST_NAME), f"{file}{region.line}" if region.line else ""
    for index, (setting, cell) in enumerate(zip(sweep.settings, region.cells, strict=True)):
        if cell is None:
            continue
        other = "" if cell.name == region.name else f"as {cut(printable(cell.name), _LONGEST_NAME)}"
        cells = name or other, line, *_values(sweep.axes, setting), *_times(cell, has_cuda=has_cuda)
        yield SweepRow(cells, index, number)
        name = line = ""


def _values(axes: Sequence[Axis], setting: Setting) -> list[str]:
    return [printable(each) or _LEFT_OUT for each in setting.values[: len(axes)]]


def _times(cell: Cell, *, has_cuda: bool) -> list[str]:
    cpu = [_time(cell.cpu_total_ns), verdict_text(cell.cpu_total_ns)]
    if not has_cuda:
        return cpu
    facts = ["" if each is None else str(each) for each in (cell.launches, cell.kernels)]
    bound = "" if cell.bound is None else bound_text(cell.bound)
    return [_time(cell.cuda_total_ns), verdict_text(cell.cuda_total_ns), *cpu, *facts, bound]


def _time(change: Change | None) -> str:
    return "" if change is None or change.b is None else time_text(change.b)


def _why(setting: Setting) -> str:
    measured = f" ({count_text(setting.processes, 'run')} measured)" if setting.processes else ""
    return printable(setting.failed or "") + measured

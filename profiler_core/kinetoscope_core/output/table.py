"""The table of regions in a terminal: as many columns as its width holds, the name always among them."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kinetoscope_core.kernel_names import short_kernel_name
from kinetoscope_core.output.measures_text import bound_text, caller_text, is_wide, typical_text
from kinetoscope_core.output.ranks_text import most_telling, rank_mark
from kinetoscope_core.output.tree import Placed
from kinetoscope_core.results.contents import CalledKernel, CalledOperator, Contents
from kinetoscope_core.results.measures import RegionMeasures, Spread, Unmeasured
from kinetoscope_core.results.result import Result
from kinetoscope_core.text import count_text, cut, printable, short_path, time_text

BOUND_STYLES = {
    "overhead": "yellow",
    "compute": "green",
    "communication": "red",
    "copy": "red",
    "mixed": "cyan",
    "sync": "magenta",
    "cpu-only": "blue",
}

_KNOWN_BY: Final = {
    "ProfilerStep": "a step is a ProfilerStep#N",
    "optimizer step": "a step ends with the optimizer's",
    "data loading": "a step is a batch",
}
_LONGEST_NAME = 200
_INDENT = "  "

_Cell = Callable[[RegionMeasures], Text | str]
_Place = Callable[[RegionMeasures | Unmeasured], str]


def _time_of(
    spread: Callable[[RegionMeasures], Spread | None],
    middle: Callable[[RegionMeasures], tuple[int, int] | None] = lambda _: None,
) -> _Cell:
    def cell(region: RegionMeasures) -> str:
        found = spread(region)
        return "" if found is None else typical_text(found, middle(region))

    return cell


def _measured(region: RegionMeasures) -> str:
    text = f"{region.measured} of {region.calls}"
    if region.is_cold:
        text += " cold"
    if region.raised:
        text += " raised" if region.is_raised else f", {region.raised} raised"
    if region.unfinished:
        text += f", {region.unfinished} unfinished"
    if region.untimed:
        text += f", {region.untimed} without times"
    return text


def _bound(region: RegionMeasures) -> Text | str:
    return Text(bound_text(region.bound), BOUND_STYLES[region.bound]) if region.bound else ""


def _waiting(region: RegionMeasures) -> str:
    """Per call, for other ranks."""
    found = region.communication
    return "" if found is None or not found.waiting_ns else time_text(found.waiting_ns // region.measured)


_COLUMNS: dict[str, _Cell] = {
    "Line": lambda region: str(region.line or ""),  # of several files, `_place_of` with their names
    "CUDA total": _time_of(lambda region: region.cuda_total_ns, lambda region: region.cuda_middle_ns),
    "CUDA self": _time_of(lambda region: region.cuda_self_ns),
    "Backward": _time_of(lambda region: region.backward_cuda_ns),
    "CUDA busy": _time_of(lambda region: region.cuda_busy_ns),
    "Launches": lambda region: str(region.launches.median) if region.launches else "",
    "CPU total": _time_of(lambda region: region.cpu_total_ns, lambda region: region.cpu_middle_ns),
    "CPU self": _time_of(lambda region: region.cpu_self_ns),
    "Waiting": _waiting,
    "Measured": _measured,
    "Ranks": rank_mark,
    "Bound": _bound,
}
_CUDA_ONLY = ("CUDA total", "CUDA self", "Backward", "CUDA busy", "Launches", "Bound")
_GIVEN_UP_FIRST = ("CUDA busy", "Launches", "CPU self", "CUDA self", "Line", "Measured", "Waiting", "Bound", "Ranks")


def region_table(console: Console, rows: Sequence[Placed], *, has_cuda: bool) -> Table:
    """Medians of each region, nested ones below what holds them. On a narrow terminal columns are left out, which the
    caption says.
    """
    place = _place_of([each.region for each in rows])
    columns: dict[str, _Cell] = {**_COLUMNS, "Line": place}
    headings = [heading for heading in columns if has_cuda or heading not in _CUDA_ONLY]
    if not any(isinstance(each.region, RegionMeasures) and each.region.module for each in rows):
        headings = [heading for heading in headings if heading != "Backward"]
    for heading in ("Waiting", "Ranks"):
        if not any(isinstance(each.region, RegionMeasures) and columns[heading](each.region) for each in rows):
            headings = [each for each in headings if each != heading]
    left_out: list[str] = []
    table = _table(rows, columns, place, headings, left_out)
    for heading in (each for each in _GIVEN_UP_FIRST if each in headings):
        if console.measure(table, options=console.options.update(width=10_000)).maximum <= console.width:
            break
        headings = [each for each in headings if each != heading]
        left_out.append(heading)
        table = _table(rows, columns, place, headings, left_out)
    return table


def _place_of(regions: Sequence[RegionMeasures | Unmeasured]) -> _Place:
    """The line; with its file where there are two, and with the folder where two files have one name."""
    files = {region.file for region in regions if region.file is not None}
    names = Counter(Path(file).name for file in files)

    def cell(region: RegionMeasures | Unmeasured) -> str:
        if region.file is None or region.line is None:
            return str(region.line or "")
        if len(files) < 2:
            return str(region.line)
        path = Path(region.file)
        return printable(f"{path.name if names[path.name] == 1 else short_path(region.file)}:{region.line}")

    return cell


def ranks_table(result: Result) -> Table | None:
    """What each rank communicates, and waits; of many ranks those that wait least and most."""
    if not any(rank.collectives for rank in result.ranks):
        return None
    waits = [each.collectives.waiting_ns or 0 if each.collectives else 0 for each in result.ranks]
    ranks, more = most_telling(result.ranks, waits)
    caption = f"The ranks that wait least and longest; {count_text(more, 'more rank')} between them" if more else None
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, caption=caption, caption_justify="left")
    has_hosts = any(rank.host for rank in ranks)
    table.add_column("Rank")
    for heading in (
        *(["Host"] if has_hosts else []),
        "GPU time",
        "Collectives",
        "Waiting",
        "Transfer",
        "Unmatched",
        "Exposed",
    ):
        table.add_column(heading, justify="right", no_wrap=True)
    for rank in ranks:
        found = rank.collectives
        cells = [str(rank.rank), *([printable(rank.host or "")] if has_hosts else [])]
        cells.append("" if rank.device_total_ns is None else time_text(rank.device_total_ns))
        if found is None:
            table.add_row(*cells)
            continue
        times = (found.waiting_ns, found.transfer_ns, found.unmatched_ns or None, found.exposed_ns)
        table.add_row(*cells, str(found.count), *("" if ns is None else time_text(ns) for ns in times))
    return table


def contents_tables(contents: Contents, *, has_cuda: bool) -> list[Table]:
    """The phases, and the costliest kernels and operators, of a recording without regions of the user's."""
    tables = [_phases_table(contents, has_cuda=has_cuda)] if contents.phases else []
    has_callers = any(each.callers for each in (*contents.kernels, *contents.operators))
    if contents.kernels:
        kernels = _costliest("Kernels and copies", contents.kernel_names, ("CUDA", "Times"), has_callers=has_callers)
        for each in contents.kernels:
            name = cut(printable(short_kernel_name(each.name)), _LONGEST_NAME)
            kernels.add_row(name, time_text(each.total_ns), str(each.count), *_called_in(each, has_callers))
        tables.append(kernels)
    if contents.operators:
        columns = ("CPU", "CUDA", "Times") if has_cuda else ("CPU", "Times")
        operators = _costliest("Operators", contents.operator_names, columns, has_callers=has_callers)
        for each in contents.operators:
            cuda = [] if each.cuda_total_ns is None else [time_text(each.cuda_total_ns)]
            name = cut(printable(each.name), _LONGEST_NAME)
            times = (time_text(each.cpu_total_ns), *cuda, str(each.count))
            operators.add_row(name, *times, *_called_in(each, has_callers))
        tables.append(operators)
    return tables


def _called_in(share: CalledKernel | CalledOperator, has_callers: bool) -> list[str]:
    """The cell of the function that called it most expensively, if any row has one."""
    return [caller_text(share.callers[0]) if share.callers else ""] if has_callers else []


def _phases_table(contents: Contents, *, has_cuda: bool) -> Table:
    steps = contents.steps
    heading, caption = "Phase", None
    if steps is not None:
        heading = f"Phase of {count_text(steps.count, 'step')} of {time_text(steps.took_ns.median)}"
        caption = f"Medians per step ({_KNOWN_BY[steps.known_by]}); sums over the whole recording"
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, caption=caption, caption_justify="left")
    table.add_column(heading, overflow="fold", min_width=10)
    columns = [*(("CPU per step", "CUDA per step") if steps is not None else ()), "CPU", "CUDA", "Launches", "Times"]
    columns = [each for each in columns if has_cuda or each not in ("CUDA per step", "CUDA", "Launches")]
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    for each in contents.phases:
        cells = {
            "CPU per step": time_text(each.cpu_per_step_ns.median) if each.cpu_per_step_ns else "",
            "CUDA per step": time_text(each.cuda_per_step_ns.median) if each.cuda_per_step_ns else "",
            "CPU": time_text(each.cpu_ns),
            "CUDA": "" if each.cuda_ns is None else time_text(each.cuda_ns),
            "Launches": "" if each.launches is None else str(each.launches),
            "Times": "" if each.calls is None else str(each.calls),
        }
        table.add_row(each.name, *(cells[column] for column in columns))
    return table


def _costliest(heading: str, names: int, columns: Sequence[str], *, has_callers: bool) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(f"{heading}, the most expensive of {count_text(names, 'name')}", overflow="fold", min_width=10)
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    if has_callers:
        table.add_column("Called in", overflow="fold")
    return table


def _name_of(region: RegionMeasures) -> str:
    name = cut(printable(region.name), _LONGEST_NAME)
    if region.names > 1:
        name += f" ×{region.names}" if region.slowest else f" ({region.names} names)"
    return f"{name} (compiled)" if region.module and region.module.is_compiled else name


def _unmeasured_cells(region: Unmeasured, line: Text | str, headings: Sequence[str]) -> list[Text | str]:
    has_none = region.at_least_ns is None
    cells: dict[str, Text | str] = {
        "Line": line,
        "CPU total": "" if region.at_least_ns is None else f"at least {time_text(region.at_least_ns)}",
        "Measured": f"0 of {region.calls}, " + ("without times" if has_none else "not ended"),
    }
    return [cells.get(heading, "") for heading in headings]


def _table(
    rows: Sequence[Placed],
    columns: Mapping[str, _Cell],
    place: _Place,
    headings: Sequence[str],
    left_out: Sequence[str],
) -> Table:
    regions = [each.region for each in rows if isinstance(each.region, RegionMeasures)]
    caption = "Medians per call"
    if any(is_wide(middle) for region in regions for middle in (region.cuda_middle_ns, region.cpu_middle_ns)):
        caption += "; of calls that lie far apart, from where to where their middle half goes"
    if left_out:
        caption += f"; the terminal is too narrow for {', '.join(left_out)}"
    if any(len(region.name) > _LONGEST_NAME for region in regions):
        caption += "; long names are cut (--json shows more of them)"
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, caption=caption, caption_justify="left")
    table.add_column("Region", overflow="fold", min_width=10)
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "Bound" else "right", no_wrap=True)
    for row in rows:
        region, indent = row.region, _INDENT * row.depth
        if isinstance(region, Unmeasured):
            name = cut(printable(region.name), _LONGEST_NAME)
            table.add_row(indent + name, *_unmeasured_cells(region, place(region), headings))
        else:
            table.add_row(indent + _name_of(region), *(columns[heading](region) for heading in headings))
    return table

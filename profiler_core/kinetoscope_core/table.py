"""The table of regions in a terminal: as many columns as its width holds, the name always among them."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kinetoscope_core.measures import RegionMeasures, Spread
from kinetoscope_core.phrasing import bound_text
from kinetoscope_core.text import cut, printable, short_path, time_text

BOUND_STYLES = {"overhead": "yellow", "compute": "green", "mixed": "cyan", "sync": "magenta", "cpu-only": "blue"}

_LONGEST_NAME = 200

_Cell = Callable[[RegionMeasures], Text | str]


def _time_of(spread: Callable[[RegionMeasures], Spread | None]) -> _Cell:
    def cell(region: RegionMeasures) -> str:
        found = spread(region)
        least = "≥ " if region.has_not_ended else ""
        return "" if found is None else least + time_text(found.median)

    return cell


def _measured(region: RegionMeasures) -> str:
    if region.has_not_ended:
        return "not ended"
    text = f"{region.measured} of {region.occurrences}"
    if region.is_cold:
        text += " cold"
    if region.unfinished:
        text += f", {region.unfinished} unfinished"
    return text


def _bound(region: RegionMeasures) -> Text | str:
    return (
        Text(bound_text(region.bound), BOUND_STYLES[region.bound]) if region.bound and not region.has_not_ended else ""
    )


_COLUMNS: dict[str, _Cell] = {
    "Line": lambda region: str(region.line or ""),  # of several files, `_place_of` with their names
    "CUDA total": _time_of(lambda region: region.cuda_total_ns),
    "CUDA self": _time_of(lambda region: region.cuda_self_ns),
    "CUDA busy": _time_of(lambda region: region.cuda_busy_ns),
    "Launches": lambda region: str(region.launches.median) if region.launches else "",
    "CPU total": _time_of(lambda region: region.cpu_total_ns),
    "CPU self": _time_of(lambda region: region.cpu_self_ns),
    "Measured": _measured,
    "Bound": _bound,
}
_CUDA_ONLY = ("CUDA total", "CUDA self", "CUDA busy", "Launches", "Bound")
_GIVEN_UP_FIRST = ("CUDA busy", "Launches", "CPU self", "CUDA self", "Line", "Measured", "Bound")


def region_table(console: Console, regions: Sequence[RegionMeasures], *, has_cuda: bool) -> Table:
    """Medians of each region. On a narrow terminal columns are left out, which the caption says."""
    columns = {**_COLUMNS, "Line": _place_of(regions)}
    headings = [heading for heading in columns if has_cuda or heading not in _CUDA_ONLY]
    left_out: list[str] = []
    table = _table(regions, columns, headings, left_out)
    for heading in (each for each in _GIVEN_UP_FIRST if each in headings):
        if console.measure(table, options=console.options.update(width=10_000)).maximum <= console.width:
            break
        headings = [each for each in headings if each != heading]
        left_out.append(heading)
        table = _table(regions, columns, headings, left_out)
    return table


def _place_of(regions: Sequence[RegionMeasures]) -> _Cell:
    """The line; with its file where there are two, and with the folder where two files have one name."""
    files = {region.file for region in regions if region.file is not None}
    names = Counter(Path(file).name for file in files)

    def cell(region: RegionMeasures) -> str:
        if region.file is None or region.line is None:
            return str(region.line or "")
        if len(files) < 2:
            return str(region.line)
        path = Path(region.file)
        return printable(f"{path.name if names[path.name] == 1 else short_path(region.file)}:{region.line}")

    return cell


def _table(
    regions: Sequence[RegionMeasures], columns: Mapping[str, _Cell], headings: Sequence[str], left_out: Sequence[str]
) -> Table:
    caption = "Medians per occurrence"
    if left_out:
        caption += f"; too narrow for {', '.join(left_out)}"
    if any(len(region.name) > _LONGEST_NAME for region in regions):
        caption += "; long names are cut, --json has more of them"
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, caption=caption, caption_justify="left")
    table.add_column("Region", overflow="fold", min_width=10)
    for heading in headings:
        table.add_column(heading, justify="left" if heading == "Bound" else "right", no_wrap=True)
    for region in regions:
        table.add_row(cut(printable(region.name), _LONGEST_NAME), *(columns[heading](region) for heading in headings))
    return table

"""A sweep as a line chart, SVG: settings from left to right, the totals of each region upwards."""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10
from typing import Final

from kinetoscope_core.results.of_torch import is_of_torch
from kinetoscope_core.results.sweep import Cell, Sweep, SweptRegion, setting_title
from kinetoscope_core.text import cut, printable, time_text

MOST_REGIONS: Final = 6
"""Those with the largest totals; more lines than that are not told apart."""
_SPAN_OF_LOG: Final = 10
"""Where the largest time is more than this many times the smallest, the scale is logarithmic."""

# An image has no theme: these are readable on white and on black.
_COLOURS: Final = ("#3b82c4", "#c9722b", "#3f9b57", "#b0579f", "#9a8a2c", "#c2505a")
_GREY: Final = "#7d7d7d"
_LEFT, _TOP, _HEIGHT, _BELOW, _LEGEND, _STEP = 70, 16, 260, 96, 250, 110


@dataclass(frozen=True, slots=True)
class _Line:
    name: str
    colour: str
    is_dashed: bool
    times: tuple[int | None, ...]


def to_svg(sweep: Sweep) -> str | None:
    """The chart, CUDA totals as solid lines and CPU totals as dashed ones; None where nothing was measured twice."""
    lines = list(_lines(sweep))
    times = [time for line in lines for time in line.times if time]
    if not any(sum(time is not None for time in line.times) > 1 for line in lines) or not times:
        return None
    scale = _Scale(min(times), max(times))
    plot = (len(sweep.settings) - 1) * _STEP
    width, height = _LEFT + plot + _STEP // 2 + _LEGEND, _TOP + _HEIGHT + _BELOW
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">'
    ]
    parts.append(f'<g font-family="sans-serif" font-size="12" fill="{_GREY}">')
    for tick in scale.ticks():
        y = scale.y(tick)
        parts.append(f'<path d="M{_LEFT} {y:.1f}h{plot}" stroke="{_GREY}" stroke-opacity="0.35"/>')
        parts.append(f'<text x="{_LEFT - 12}" y="{y + 4:.1f}" text-anchor="end">{time_text(tick)}</text>')
    for index, setting in enumerate(sweep.settings):
        x, y = _LEFT + index * _STEP, _TOP + _HEIGHT + 18
        label = escape(cut(setting_title(sweep.axes, setting.values), 24))
        parts.append(f'<text transform="translate({x} {y}) rotate(25)">{label}</text>')
    for number, line in enumerate(lines):
        parts += _drawn(line, scale)
        x, y = _LEFT + plot + _STEP // 2, _TOP + 14 + number * 18
        parts.append(
            f'<path d="M{x} {y - 4}h24" {_stroke(line)}/><text x="{x + 32}" y="{y}">{escape(line.name)}</text>'
        )
    return "\n".join([*parts, "</g>", "</svg>", ""])


def _lines(sweep: Sweep) -> Iterator[_Line]:
    own = [region for region in sweep.regions if not is_of_torch(region.name, region.file)] or list(sweep.regions)
    largest = sorted(own, key=_largest, reverse=True)[:MOST_REGIONS]
    for region, colour in zip((each for each in own if each in largest), _COLOURS, strict=False):
        name = cut(printable(region.name), 24)
        for kind, is_dashed in (("CUDA", False), ("CPU", True)):
            times = tuple(_time(cell, kind) for cell in region.cells)
            if any(times):
                yield _Line(f"{name} {kind}", colour, is_dashed, times)


def _largest(region: SweptRegion) -> int:
    return max((_time(cell, kind) or 0 for cell in region.cells for kind in ("CUDA", "CPU")), default=0)


def _time(cell: Cell | None, kind: str) -> int | None:
    change = None if cell is None else cell.cuda_total_ns if kind == "CUDA" else cell.cpu_total_ns
    return None if change is None else change.b


@dataclass(frozen=True, slots=True)
class _Scale:
    """From a time to its height in the image. A logarithmic one has no place for 0."""

    least: int
    most: int

    @property
    def is_log(self) -> bool:
        return self.most > _SPAN_OF_LOG * self.least

    @property
    def _decades(self) -> tuple[int, int]:
        return floor(log10(self.least)), ceil(log10(self.most))

    def y(self, time: int) -> float:
        if not self.is_log:
            return _TOP + _HEIGHT * (1 - time / (self.ticks()[-1]))
        low, high = self._decades
        return _TOP + _HEIGHT * (1 - (log10(time) - low) / (high - low))

    def ticks(self) -> list[int]:
        if self.is_log:
            low, high = self._decades
            return [10**each for each in range(low, high + 1)]
        power = 10 ** floor(log10(self.most))
        step = next(max(1, int(power * each)) for each in (0.2, 0.5, 1, 2) if self.most <= power * each * 5)
        return [step * each for each in range(ceil(self.most / step) + 1)]


def _drawn(line: _Line, scale: _Scale) -> Iterator[str]:
    """Where a setting has no time, the line is broken."""
    begun = False
    path: list[str] = []
    for index, time in enumerate(line.times):
        if time is None or (scale.is_log and time <= 0):
            begun = False
            continue
        path.append(f"{'L' if begun else 'M'}{_LEFT + index * _STEP} {scale.y(time):.1f}")
        begun = True
        title = escape(f"{line.name}: {time_text(time)}")
        x, y = _LEFT + index * _STEP, scale.y(time)
        yield f'<circle cx="{x}" cy="{y:.1f}" r="3.5" fill="{line.colour}"><title>{title}</title></circle>'
    yield f'<path d="{" ".join(path)}" {_stroke(line)}/>'


def _stroke(line: _Line) -> str:
    dash = ' stroke-dasharray="6 4"' if line.is_dashed else ""
    return f'fill="none" stroke="{line.colour}" stroke-width="2"{dash}'

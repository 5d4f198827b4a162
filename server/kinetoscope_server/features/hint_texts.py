"""The short texts beside a line: times in at most as many characters as an editor shows. Knows no protocol."""

from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from kinetoscope_core.output.measures_text import calls_mark, is_wide, typical_text, unmeasured_text
from kinetoscope_core.output.ranks_text import rank_mark
from kinetoscope_core.results.measures import RegionMeasures, Spread, Unmeasured
from kinetoscope_core.text import cut, printable, range_text, time_parts
from kinetoscope_server.results.shown import Row

MOST_CHARACTERS: Final = 43
"""What VS Code shows of all hints of a line (facts/vscode.md); an ellipsis follows what is cut."""

STALE: Final = "~ "

LEAST_ORIGIN: Final = len("earlier run")
"""Characters that say where times are from."""


Arrows: TypeAlias = tuple[str, str]
"""What stands behind the CUDA and the CPU total: ` ▼32 %` behind one of them where it changed."""
NO_ARROWS: Final[Arrows] = ("", "")


def short_time_text(ns: int) -> str:
    """Two significant digits, for a number of second rank: `94 µs`, `1.2 ms`, `5 µs`."""
    text, unit = time_parts(_two_digits(ns))
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return f"{text} {unit}"


def _two_digits(ns: int) -> int:
    size = 10 ** max(len(str(abs(ns))) - 2, 0)
    return (ns + size // 2) // size * size


def hint_parts(
    regions: Sequence[Row],
    pattern: str,
    *,
    is_stale: bool,
    with_self: bool,
    origin: str = "",
    arrows: Arrows = NO_ARROWS,
) -> tuple[str, ...]:
    """What stands at a line, in one or two parts: CUDA, then CPU. `pattern` is the region's name in the source.

    As much as fits; what is left out first is CPU self, then CUDA self, then the arrow, then the end of `origin`, then
    CPU. What has no time is told where there is nothing else. Calls that are few, cold or raised, and a rank that is
    slow, are marked behind the times.
    """
    measured = [each for each in regions if isinstance(each, RegionMeasures)]
    if not measured:
        ways = _without_times([each for each in regions if isinstance(each, Unmeasured)])
    elif len(measured) > 1:
        ways = _several(measured, pattern)
    elif measured[0].names > 1:
        ways = _series(measured[0], arrows) + _series(measured[0], NO_ARROWS)
    elif any(arrows):
        ways = _one(measured[0], arrows, with_self=with_self)[:-1] + _one(measured[0], NO_ARROWS, with_self=False)
    else:
        ways = _one(measured[0], NO_ARROWS, with_self=with_self)
    prefix = STALE if is_stale else ""
    marked = [(*way[:-1], way[-1] + mark) for mark in _marks(measured) for way in ways]
    with_origin = _with_origin(marked, origin, MOST_CHARACTERS - len(prefix)) if origin else marked
    fitting = ((prefix + way[0], *way[1:]) for way in with_origin)
    return next(way for way in fitting if sum(map(len, way)) <= MOST_CHARACTERS)


def _marks(measured: Sequence[RegionMeasures]) -> list[str]:
    """What stands behind the times, the whole of it first."""
    mark = calls_mark(measured) if measured else ""
    if not any(each.is_raised for each in measured):
        of_calls = f" {mark}" if mark else ""
        of_ranks = rank_mark(measured[0]) if len(measured) == 1 else ""
        return [f"{of_calls} · {of_ranks}", of_calls] if of_ranks else [of_calls]
    return [f" · {mark}", " raised"]


def _with_origin(ways: Sequence[tuple[str, ...]], origin: str, most: int) -> Iterator[tuple[str, ...]]:
    """The same with where it is from: as a whole if there is room for all parts, else its beginning."""
    complete = [way for way in ways if len(way) == len(ways[0])]
    for way in complete:
        yield (*way[:-1], f"{way[-1]} · {origin}")
    for way in [*complete, *ways]:
        room = most - sum(map(len, way)) - len(" · ")
        if room >= LEAST_ORIGIN:
            yield (*way[:-1], f"{way[-1]} · {cut(origin, room)}")


def _without_times(regions: Sequence[Unmeasured]) -> list[tuple[str, ...]]:
    why = "not ended" if any(each.at_least_ns is not None for each in regions) else "without times"
    if len(regions) == 1:
        return [(unmeasured_text(regions[0]),), (why,)]
    return [(f"×{len(regions)}, {why}",)]


def _one(region: RegionMeasures, arrows: Arrows, *, with_self: bool) -> list[tuple[str, ...]]:
    cuda, cuda_self = region.cuda_total_ns, region.cuda_self_ns
    plain_cpu = f"CPU {typical_text(region.cpu_total_ns, region.cpu_middle_ns)}{arrows[1]}"
    cpu_self = _self_text(region.cpu_total_ns, region.cpu_self_ns, region.cpu_middle_ns) if with_self else ""
    if cuda is None or cuda_self is None:
        return [(plain_cpu + cpu_self,), (plain_cpu,)]
    plain_cuda = f"CUDA {typical_text(cuda, region.cuda_middle_ns)}{arrows[0]}"
    full_cuda = plain_cuda + (_self_text(cuda, cuda_self, region.cuda_middle_ns) if with_self else "")
    return [
        (full_cuda, " · " + plain_cpu + cpu_self),
        (full_cuda, " · " + plain_cpu),
        (plain_cuda, " · " + plain_cpu),
        (plain_cuda,),
    ]


def _self_text(total: Spread, own: Spread, middle: tuple[int, int] | None) -> str:
    """Left out where it reads as the total does, is none, or the total is no one number."""
    text = short_time_text(own.median)
    return f" ({text})" if own.median and text != short_time_text(total.median) and not is_wide(middle) else ""


def _several(regions: Sequence[RegionMeasures], pattern: str) -> list[tuple[str, ...]]:
    """Several names at one line, from a name that is made at run time: how many, and the least and the most."""
    cpu = "CPU " + range_text(region.cpu_total_ns.median for region in regions)
    medians = [region.cuda_total_ns.median for region in regions if region.cuda_total_ns is not None]
    return _counted(
        printable(pattern), sum(region.names for region in regions), cpu, range_text(medians) if medians else None
    )


def _series(region: RegionMeasures, arrows: Arrows) -> list[tuple[str, ...]]:
    """Names that differ in counters alone, at one line: how many, and the one set of numbers of them all."""
    cuda = region.cuda_total_ns
    cuda_text = None if cuda is None else typical_text(cuda, region.cuda_middle_ns) + arrows[0]
    cpu = f"CPU {typical_text(region.cpu_total_ns, region.cpu_middle_ns)}{arrows[1]}"
    return _counted(printable(region.name), region.names, cpu, cuda_text)


def _counted(name: str, number: int, cpu: str, cuda_times: str | None) -> list[tuple[str, ...]]:
    counted = f"×{number} "
    named = f"{name} {counted}"
    if cuda_times is None:
        return [(named + cpu,), (counted + cpu,), (f"×{number}",)]
    cuda = f"CUDA {cuda_times}"
    return [
        (named + cuda, " · " + cpu),
        (counted + cuda, " · " + cpu),
        (named + cuda,),
        (counted + cuda,),
        (f"×{number}",),
    ]

"""The short texts beside a line: times in at most as many characters as an editor shows. Knows no protocol."""

from collections.abc import Iterable, Sequence
from typing import Final

from kinetoscope_core.measures import RegionMeasures, Spread
from kinetoscope_core.text import printable, time_text

MOST_CHARACTERS: Final = 43
"""What VS Code shows of all hints of a line (facts/vscode.md); an ellipsis follows what is cut."""

STALE: Final = "~ "


def short_time_text(ns: int) -> str:
    """Two significant digits, for a number of second rank: `94 µs`, `1.2 ms`, `5 µs`."""
    text, _, unit = time_text(_two_digits(ns)).partition(" ")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return f"{text} {unit}"


def _two_digits(ns: int) -> int:
    size = 10 ** max(len(str(abs(ns))) - 2, 0)
    return (ns + size // 2) // size * size


def range_text(values: Iterable[int]) -> str:
    """`1.20–3.40 ms`; both units where they differ, one value where the texts are equal."""
    ordered = sorted(values)
    least, most = time_text(ordered[0]), time_text(ordered[-1])
    if least == most:
        return least
    least_number, _, least_unit = least.partition(" ")
    return f"{least_number}–{most}" if least_unit == most.partition(" ")[2] else f"{least}–{most}"


def hint_parts(regions: Sequence[RegionMeasures], pattern: str, *, is_stale: bool, with_self: bool) -> tuple[str, ...]:
    """What stands at a line, in one or two parts: CUDA, then CPU. `pattern` is the region's name in the source.

    As much as fits; what is left out first is CPU self, then CUDA self, then CPU.
    """
    ways = _one(regions[0], with_self=with_self) if len(regions) == 1 else _several(regions, pattern)
    prefix = STALE if is_stale else ""
    fitting = ((prefix + way[0], *way[1:]) for way in ways)
    return next(way for way in fitting if sum(map(len, way)) <= MOST_CHARACTERS)


def _not_ended(region: RegionMeasures) -> list[tuple[str, ...]]:
    """Of a region that was still open when the recording ended: a part of a call, whose self says even less."""
    cpu = time_text(region.cpu_total_ns.median)
    if region.cuda_total_ns is None:
        return [(f"CPU at least {cpu}, not ended",)]
    cuda = time_text(region.cuda_total_ns.median)
    return [(f"at least CUDA {cuda}", f" · CPU {cpu}, not ended"), (f"CUDA ≥ {cuda}", f" · CPU ≥ {cpu}, not ended")]


def _one(region: RegionMeasures, *, with_self: bool) -> list[tuple[str, ...]]:
    if region.has_not_ended:
        return _not_ended(region)
    cpu, cpu_self = region.cpu_total_ns, region.cpu_self_ns
    cuda, cuda_self = region.cuda_total_ns, region.cuda_self_ns
    plain_cpu = f"CPU {time_text(cpu.median)}"
    full_cpu = plain_cpu + _self_text(cpu, cpu_self) if with_self else plain_cpu
    if cuda is None or cuda_self is None:
        return [(full_cpu,), (plain_cpu,)]
    plain_cuda = f"CUDA {time_text(cuda.median)}"
    full_cuda = plain_cuda + _self_text(cuda, cuda_self) if with_self else plain_cuda
    return [
        (full_cuda, " · " + full_cpu),
        (full_cuda, " · " + plain_cpu),
        (plain_cuda, " · " + plain_cpu),
    ]


def _self_text(total: Spread, own: Spread) -> str:
    return "" if own.median == total.median else f" ({short_time_text(own.median)})"


def _several(regions: Sequence[RegionMeasures], pattern: str) -> list[tuple[str, ...]]:
    """Several names at one line, from a name that is made at run time: how many, and the least and the most."""
    if all(region.has_not_ended for region in regions):
        return [(f"×{len(regions)}, not ended",)]
    regions = [region for region in regions if not region.has_not_ended]
    cpu = "CPU " + range_text(region.cpu_total_ns.median for region in regions)
    medians = [region.cuda_total_ns.median for region in regions if region.cuda_total_ns is not None]
    counted = f"×{len(regions)} "
    named = f"{printable(pattern)} {counted}"
    if not medians:
        return [(named + cpu,), (counted + cpu,), (f"×{len(regions)}",)]
    cuda = "CUDA " + range_text(medians)
    return [
        (named + cuda, " · " + cpu),
        (counted + cuda, " · " + cpu),
        (named + cuda,),
        (counted + cuda,),
        (f"×{len(regions)}",),
    ]

"""Pieces of the messages that several rules need."""

from collections.abc import Mapping
from typing import Final

from kinetoscope_core.kernel_names import short_kernel_name
from kinetoscope_core.results.measures import RegionMeasures
from kinetoscope_core.text import count_text, cut, printable

_MOST_NAMES: Final = 3
_MANY_TIMES: Final = 10
_MOST_OF_A_KERNEL: Final = 64


def name_of(region: RegionMeasures) -> str:
    """The region's name, as a message begins with it."""
    return printable(region.name)


def over_calls(region: RegionMeasures) -> str:
    return f"over {count_text(region.measured, 'call')}"


def percent(part: int, whole: int) -> str:
    """`12 %`; below one percent with a decimal, and never none of what there is some of."""
    share = 100 * part / whole if whole else 0.0
    if part and share < 0.05:
        return "less than 0.1 %"
    return f"{share:.0f} %" if share >= 1 or not part else f"{share:.1f} %"


def apart(least: int, median: int, most: int) -> str:
    """How far times lie apart: `32 % apart`, or from ten times on `the longest 80,000 times the shortest`."""
    if most < _MANY_TIMES * max(least, 1):
        return f"{percent(most - least, median)} apart"
    return f"the longest {most // max(least, 1):,} times the shortest"


def counted(counts: Mapping[str, int]) -> str:
    """`aten::item 4×, aten::nonzero 2×`: the most frequent names, the others as a number."""
    names = sorted(counts, key=lambda name: -counts[name])
    texts = [f"{printable(name)} {counts[name]}×" for name in names[:_MOST_NAMES]]
    if len(names) > _MOST_NAMES:
        texts.append(f"{len(names) - _MOST_NAMES} more")
    return ", ".join(texts)


def kernel_text(name: str) -> str:
    """The beginning of a kernel's short name."""
    return cut(printable(short_kernel_name(name)), _MOST_OF_A_KERNEL)

"""What differs between two sides of a comparison, as plain values and as JSON (docs/measures.md, "Comparing").

All times are integer nanoseconds, of one call: the median over a side's processes of each process's median call.
`None` means "not measured", never zero. What regions have is not frozen: that takes three times as long to make.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Literal

from kinetoscope_core import __version__
from kinetoscope_core.results.as_json import as_json
from kinetoscope_core.results.measures import Bound, Device, RegionName
from kinetoscope_core.results.of_torch import is_of_torch

SCHEMA = 1

Verdict = Literal["faster", "slower", "same", "unknown"]


@dataclass(slots=True)
class Change:
    """A time on both sides. `change` is b/a - 1, and lies between `low` and `high` (`verdict.py` says how surely).

    `more_runs` is how many more runs of `b` would give a verdict where there is none; `None` where it is not known, or
    too many.
    """

    a: int | None
    b: int | None
    change: float | None = None
    low: float | None = None
    high: float | None = None
    verdict: Verdict = "unknown"
    more_runs: int | None = None


@dataclass(slots=True)
class Share:
    """What one call has of something: how often, and its time in ns."""

    count: float
    total_ns: int


@dataclass(slots=True)
class ShareChange:
    """A kernel or an operator on both sides, `None` where it is not there. `short` is what people read of its name."""

    name: str
    short: str
    a: Share | None
    b: Share | None


@dataclass(slots=True)
class Shares:
    """Kernels or operators of a region: those that only one side has, those with another count or another time, and how
    many are the same. `is_whole` is false where one side has more names than its result keeps: the cheapest ones are
    then not compared.
    """

    new: tuple[ShareChange, ...]
    gone: tuple[ShareChange, ...]
    changed: tuple[ShareChange, ...]
    same: int
    is_whole: bool


@dataclass(slots=True)
class RegionComparison:
    """One region on both sides. `where` (`in` in the JSON) says which have it; name and place are those of `b`, if it
    has it, and `was` is the region of `a` where name or place differ. `launches` and `bound` are those of a and b;
    `findings_new` and `findings_gone` are codes.
    """

    name: str
    file: str | None
    line: int | None
    where: Literal["both", "a", "b"]
    was: RegionName | None
    cpu_total_ns: Change
    cpu_self_ns: Change
    cuda_total_ns: Change | None
    cuda_self_ns: Change | None
    launches: tuple[int | None, int | None]
    bound: tuple[Bound | None, Bound | None]
    kernels: Shares | None
    operators: Shares | None
    findings_new: tuple[str, ...]
    findings_gone: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Side:
    """What was compared: the results of so many `processes`. `runs` are ids of the store or names of traces, the newest
    first.
    """

    title: str
    runs: tuple[str, ...]
    processes: int
    started: str | None
    device: Device | None
    torch: str | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """`a` is what was before, `b` what is now. `differences` says in words what else differs between them, and
    `code_changed` names the user's files whose text does.
    """

    a: Side
    b: Side
    differences: tuple[str, ...]
    code_changed: tuple[str, ...]
    regions: tuple[RegionComparison, ...]


def own_first(regions: Iterable[RegionComparison]) -> list[RegionComparison]:
    """The user's regions in their order, then torch's own."""
    return sorted(regions, key=lambda each: is_of_torch(each.name, each.file))


def own_regions(comparison: Comparison) -> list[RegionComparison]:
    """The user's regions; where there are none, all."""
    own = [each for each in comparison.regions if not is_of_torch(each.name, each.file)]
    return own or list(comparison.regions)


def to_json(comparison: Comparison, *, is_indented: bool = False) -> bytes:
    """The comparison as one JSON object, schema 1."""
    values = {
        "schema": SCHEMA,
        "kinetoscope": __version__,
        **_fields(comparison),
        "regions": [_region(each) for each in comparison.regions],
    }
    return as_json(values, is_indented=is_indented)


def _region(region: RegionComparison) -> dict[str, object]:
    named = {("in" if name == "where" else name): value for name, value in _fields(region).items()}
    for name in ("launches", "bound"):
        named[name] = dict(zip("ab", getattr(region, name), strict=True))
    return named


def _fields(value: Comparison | RegionComparison) -> dict[str, object]:
    return {each.name: getattr(value, each.name) for each in fields(value)}

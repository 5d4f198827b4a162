"""Which regions are told as one: names that differ only in counters (numbered_names.py), and what torch.compile marks.

Knows calls and keys, nothing of traces.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

from kinetoscope_core.analysis.numbered_names import is_kept_whole, module_pattern_of, pattern_of, series_of
from kinetoscope_core.analysis.statistics import RecordedCalls, RegionKey
from kinetoscope_core.results.measures import Call, ModuleFacts

TORCH_COMPILE: Final = RegionKey("torch.compile")
"""All annotations that torch makes while it compiles: a hundred for one function."""

_COMPILE_TIME: Final = re.compile(r"\S+_data: .*compile_id=|\S+ \(dynamo_timed\)$")


@dataclass(frozen=True, slots=True)
class Grouping:
    """`merged` has the regions that get no row of their own, and the row that stands for them; `series` those that have
    one and are also part of a series. `names` is how many names each such row or series has. `layers` are the rows
    whose names come again, each after warm-up calls of its own.
    """

    merged: Mapping[RegionKey, RegionKey]
    series: Mapping[RegionKey, RegionKey]
    names: Mapping[RegionKey, int]
    layers: AbstractSet[RegionKey] = frozenset()


@dataclass(slots=True)
class _Numbered:
    """The calls of each region of one pattern and place."""

    calls: dict[RegionKey, int] = field(default_factory=dict[RegionKey, int])
    is_nested: bool = False


def grouping_of(
    recorded: Sequence[RecordedCalls], modules: Mapping[RegionKey, ModuleFacts] = MappingProxyType({})
) -> Grouping:
    """Which of the regions are shown as one. `modules` are those that are a module's."""
    merged: dict[RegionKey, RegionKey] = {}
    series: dict[RegionKey, RegionKey] = {}
    names: dict[RegionKey, int] = {}
    layers: set[RegionKey] = set()
    patterns = _module_patterns(modules)
    numbered: dict[RegionKey, _Numbered] = {}
    for key in dict.fromkeys(key for part in recorded for key in part.keys):
        if key in modules:
            continue
        if key.file is None and _COMPILE_TIME.match(key.name):
            merged[key] = TORCH_COMPILE
        elif (pattern := pattern_of(key.name)) != key.name:
            patterns[key] = RegionKey(pattern, key.file, key.line)
    numbered = {pattern: _Numbered() for pattern in patterns.values()}
    if merged:
        names[TORCH_COMPILE] = len(merged)
    for part in recorded if patterns else ():
        _count(part, patterns, numbered)
    for pattern, found in numbered.items():
        calls = {key.name: count for key, count in found.calls.items()}
        is_of_modules = not modules.keys().isdisjoint(found.calls)
        kind = (
            ("layers" if len(calls) > 1 and not found.is_nested else None)
            if is_of_modules
            else series_of(calls, is_nested=found.is_nested)
        )
        if kind is not None:
            names[pattern] = len(calls)
            (series if is_kept_whole(kind, len(calls)) else merged).update(dict.fromkeys(found.calls, pattern))
            if kind == "layers":
                layers.add(pattern)
    return Grouping(merged, series, names, layers)


def _module_patterns(modules: Mapping[RegionKey, ModuleFacts]) -> dict[RegionKey, RegionKey]:
    """The row that each module is part of whose name has a number: modules of one class and place."""
    rows: defaultdict[RegionKey, defaultdict[str, list[RegionKey]]] = defaultdict(lambda: defaultdict(list))
    for key, module in modules.items():
        pattern = module_pattern_of(key.name)
        if pattern != key.name:
            rows[RegionKey(pattern, key.file, key.line)][module.class_name].append(key)
    return {
        key: row if len(classes) == 1 else replace(row, name=f"{row.name} ({class_name})")
        for row, classes in rows.items()
        for class_name, keys in classes.items()
        for key in keys
    }


def regrouped(
    recorded: Sequence[RecordedCalls], rows: Mapping[RegionKey, RegionKey], layers: AbstractSet[RegionKey] = frozenset()
) -> list[RecordedCalls]:
    """The same calls, with what `rows` names as part of its row. Of steps the first ones are the warm-up, of `layers`
    the first calls of each.
    """
    return [_regrouped(part, rows, layers) for part in recorded] if rows else list(recorded)


def _regrouped(
    part: RecordedCalls, rows: Mapping[RegionKey, RegionKey], layers: AbstractSet[RegionKey]
) -> RecordedCalls:
    keys = [rows.get(key, key) for key in part.keys]
    is_warmup = part.is_warmup
    if part.is_series_warmup:
        flags = zip(part.keys, keys, part.is_warmup, part.is_series_warmup, strict=True)
        is_warmup = [of_series if key != row and row not in layers else own for key, row, own, of_series in flags]
    return replace(part, keys=keys, is_warmup=is_warmup)


def _count(
    part: RecordedCalls, patterns: Mapping[RegionKey, RegionKey], numbered: Mapping[RegionKey, _Numbered]
) -> None:
    """Counts calls, and sees whether a call lies inside one of another name of its pattern, on its thread."""
    around: dict[tuple[RegionKey, str, str], tuple[RegionKey, Call]] = {}
    for key, call in zip(part.keys, part.calls, strict=True):
        pattern = patterns.get(key)
        if pattern is None:
            continue
        found = numbered[pattern]
        found.calls[key] = found.calls.get(key, 0) + 1
        place = pattern, call.pid, call.tid
        other = around.get(place)
        if other is None or _end(other[1]) < _end(call):
            around[place] = key, call
        elif other[0] != key and call.cpu_total_ns and _end(other[1]) > call.start_ns:
            found.is_nested = True


def _end(call: Call) -> int:
    return call.start_ns + call.cpu_total_ns

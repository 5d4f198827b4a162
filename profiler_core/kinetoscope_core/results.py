"""A run's or a trace's result as one value, and its JSON form, schema 1 (docs/measures.md)."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import orjson

from kinetoscope_core import __version__
from kinetoscope_core.errors import UsageError
from kinetoscope_core.measures import (
    Breakdown,
    ChainLink,
    Device,
    KernelShare,
    OccurrenceInTrace,
    OperatorShare,
    Problem,
    RegionMeasures,
    Spread,
)
from kinetoscope_core.placing import RegionPrint

SCHEMA = 1
_SPREADS = frozenset(
    ("cpu_total_ns", "cpu_self_ns", "cuda_total_ns", "cuda_self_ns", "cuda_busy_ns", "backward_cuda_ns", "launches")
)


@dataclass(frozen=True, slots=True)
class RunInfo:
    """What ran and how it ended. `started` is ISO 8601 in UTC; `ending` is one of `launching.Ending`.

    `is_adopted` says that the script's own profiler measured; then `warmup` and `active` were that profiler's affair.
    """

    script: str
    is_module: bool
    arguments: tuple[str, ...]
    interpreter: str
    python: str | None
    started: str
    seconds: float
    ending: str
    was_ended_early: bool
    warmup: int
    active: int
    is_adopted: bool


@dataclass(frozen=True, slots=True)
class Result:
    """Everything there is to show. The device times are `None` where no device activity was measured, and
    `no_cuda_because` then says why, for people. `sources` has all regions of the measured files as they stood then.
    """

    run: RunInfo | None
    traces: tuple[Path, ...]
    device: Device | None
    torch: str | None
    device_total_ns: int | None
    outside_regions_ns: int | None
    no_cuda_because: str | None
    regions: tuple[RegionMeasures, ...]
    problems: tuple[Problem, ...]
    sources: Mapping[str, tuple[RegionPrint, ...]] = field(default_factory=dict[str, "tuple[RegionPrint, ...]"])


def to_json(result: Result) -> bytes:
    """The result as one JSON object; times are integer nanoseconds."""
    values = as_dict(result)
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    try:
        return orjson.dumps(values, option=options)
    except TypeError:  # a lone surrogate in a name, or a path that is not UTF-8
        return orjson.dumps(_without_surrogates(values), option=options)


def _without_surrogates(value: object) -> object:
    """The same values, with what cannot be written as UTF-8 spelled out."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {key: _without_surrogates(each) for key, each in cast("dict[str, object]", value).items()}
    if isinstance(value, list | tuple):
        return [_without_surrogates(each) for each in cast("list[object]", value)]
    return value


def as_dict(result: Result) -> dict[str, Any]:
    """The result as plain values; the fields are those of the dataclasses."""
    values = asdict(replace(result, sources={}))
    values["traces"] = [str(trace) for trace in result.traces]
    values["sources"] = {
        file: {"prints": [each.to_dict() for each in prints]} for file, prints in result.sources.items()
    }
    return {"schema": SCHEMA, "kinetoscope": __version__, **values}


def from_dict(values: dict[str, Any]) -> Result:
    """The inverse of `as_dict`. Raises `UsageError` for another schema, `ValueError` for damaged prints."""
    if values.get("schema") != SCHEMA:
        raise UsageError(f"This is a result of schema {values.get('schema')}, not {SCHEMA}; measure again.")
    run: dict[str, Any] | None = values["run"]
    device: dict[str, Any] | None = values["device"]
    if run:
        run = {**run, "arguments": tuple(run["arguments"])}
    return Result(
        run=RunInfo(**run) if run else None,
        traces=tuple(Path(trace) for trace in values["traces"]),
        device=Device(**device) if device else None,
        torch=values["torch"],
        device_total_ns=values["device_total_ns"],
        outside_regions_ns=values["outside_regions_ns"],
        no_cuda_because=values["no_cuda_because"],
        regions=tuple(_region(region) for region in values["regions"]),
        problems=tuple(Problem(**problem) for problem in values["problems"]),
        sources={
            file: tuple(RegionPrint.from_dict(each) for each in source["prints"])
            for file, source in values.get("sources", {}).items()
        },
    )


def _region(values: dict[str, Any]) -> RegionMeasures:
    occurrences = {name: OccurrenceInTrace(**values[name]) for name in ("median_occurrence", "first")}
    spreads = {name: Spread(**value) if value else None for name, value in values.items() if name in _SPREADS}
    fields: dict[str, Any] = {**values, **occurrences, **spreads, "breakdown": _breakdown(values.get("breakdown"))}
    return RegionMeasures(**fields)


def _breakdown(values: dict[str, Any] | None) -> Breakdown | None:
    if values is None:
        return None
    parts: dict[str, Any] = {
        "kernels": tuple(KernelShare(**each) for each in values["kernels"]),
        "operators": tuple(OperatorShare(**each) for each in values["operators"]),
        "chain": tuple(ChainLink(**each) for each in values["chain"]),
    }
    return Breakdown(**{**values, **parts})

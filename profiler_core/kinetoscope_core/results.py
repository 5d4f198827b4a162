"""A run's or a trace's result as one value, and its JSON form, schema 1 (docs/measures.md)."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import orjson

from kinetoscope_core import __version__
from kinetoscope_core.measures import Device, Problem, RegionMeasures, Spread

SCHEMA = 1


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
    `no_cuda_because` then says why, for people.
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
    if isinstance(value, list):
        return [_without_surrogates(each) for each in cast("list[object]", value)]
    return value


def as_dict(result: Result) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "kinetoscope": __version__,
        "run": _run(result.run),
        "traces": [str(trace) for trace in result.traces],
        "device": {"name": result.device.name, "count": result.device.count} if result.device else None,
        "torch": result.torch,
        "device_total_ns": result.device_total_ns,
        "outside_regions_ns": result.outside_regions_ns,
        "no_cuda_because": result.no_cuda_because,
        "regions": [_region(region) for region in result.regions],
        "problems": [_problem(problem) for problem in result.problems],
    }


def _run(run: RunInfo | None) -> dict[str, Any] | None:
    if run is None:
        return None
    return {
        "script": run.script,
        "is_module": run.is_module,
        "arguments": list(run.arguments),
        "interpreter": run.interpreter,
        "python": run.python,
        "started": run.started,
        "seconds": round(run.seconds, 3),
        "ending": run.ending,
        "was_ended_early": run.was_ended_early,
        "warmup": run.warmup,
        "active": run.active,
        "is_adopted": run.is_adopted,
    }


def _region(region: RegionMeasures) -> dict[str, Any]:
    first = region.first
    return {
        "name": region.name,
        "file": region.file,
        "line": region.line,
        "occurrences": region.occurrences,
        "measured": region.measured,
        "is_cold": region.is_cold,
        "unfinished": region.unfinished,
        "cpu_total_ns": _spread(region.cpu_total_ns),
        "cpu_self_ns": _spread(region.cpu_self_ns),
        "cuda_total_ns": _spread(region.cuda_total_ns),
        "cuda_self_ns": _spread(region.cuda_self_ns),
        "cuda_busy_ns": _spread(region.cuda_busy_ns),
        "backward_cuda_ns": _spread(region.backward_cuda_ns),
        "launches": _spread(region.launches),
        "overhead_ns": region.overhead_ns,
        "bound": region.bound,
        "first": {"cpu_total_ns": first.cpu_total_ns, "cuda_total_ns": first.cuda_total_ns},
    }


def _spread(spread: Spread | None) -> dict[str, int] | None:
    if spread is None:
        return None
    return {"sum": spread.sum, "median": spread.median, "min": spread.min, "max": spread.max}


def _problem(problem: Problem) -> dict[str, Any]:
    return {
        "code": problem.code,
        "message": problem.message,
        "evidence": dict(problem.evidence),
        "file": problem.file,
        "line": problem.line,
    }

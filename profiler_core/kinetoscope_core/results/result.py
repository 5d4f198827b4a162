"""A run's or a trace's result as one value, and its JSON form, schema 2 (docs/measures.md)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import msgspec

from kinetoscope_core import __version__
from kinetoscope_core.errors import Problem, UsageError
from kinetoscope_core.results.as_json import as_json
from kinetoscope_core.results.checks import Checked
from kinetoscope_core.results.contents import Contents
from kinetoscope_core.results.measures import (
    BackwardWork,
    Device,
    Finding,
    RegionMeasures,
    StartUp,
    Unmeasured,
)
from kinetoscope_core.results.ranks import RankMeasures
from kinetoscope_core.source.placement import Fingerprint

SCHEMA = 2


@dataclass(frozen=True, slots=True)
class ModulesAsked:
    """Which modules a run was asked to measure, as `runner.request.ModuleChoice` says it."""

    depth: int | None = None
    classes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProcessInfo:
    """One process of a command that entered regions, with its traces. `rank`, `local_rank` and `world_size` are `None`
    where it is none of several. `is_shown`: the numbers of the result are those of this one.
    """

    pid: int
    host: str
    rank: int | None
    local_rank: int | None
    world_size: int | None
    interpreter: str
    traces: tuple[str, ...]
    is_shown: bool


@dataclass(frozen=True, slots=True)
class RunInfo:
    """What ran and how it ended. `started` is ISO 8601 in UTC; `ending` is one of `run.outcome.Ending`.

    `folder` is where it ran, from which a relative `script` goes. `environment` is what was added to our own, and
    above the variables of `env_file`, whose values are not kept. `region`
    is that of the request, NAME or FILE:LINE, and `None` where all were measured.
    `has_own_profiler` says that the script's own profiler was used; `warmup` and `active` were then up to it.
    `is_prepared` says that it ran in an interpreter that had imported torch ahead of it.
    `code` has the digest of each of the user's files that the script loaded, `""` where the file was written meanwhile.
    `modules` are those that were asked for, `None` where none were.
    `is_command` says that `script` is a program of any kind, whose `processes` were measured.
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
    has_own_profiler: bool
    is_prepared: bool = False
    folder: str | None = None
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    region: str | None = None
    code: Mapping[str, str] = field(default_factory=dict[str, str])
    env_file: str | None = None
    modules: ModulesAsked | None = None
    is_command: bool = False
    processes: tuple[ProcessInfo, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """Everything there is to show. The device times are `None` where no device activity was measured, and
    `no_cuda_because` then says why, for people. `regions_cpu_ns` is the CPU total of all calls that lie in no other.
    `findings` are those of the run as a whole.
    `sources` has all regions of the measured files as they stood then. `groups` has the series that `regions` has the
    names of, `unmeasured` the regions without a call that has a time, and `contents` what there is where no region is
    the user's, else `None`. `backward` is what the device did for autograd, `None` where that was nothing. `start_up`
    is the launch of ours, which is in no other number. `expectations` are those of the comments in the files that were
    measured, checked. `ranks` are those of the job that were recorded; the device times, `regions` and `groups` are
    then those of one, the median rank. Empty where nothing says that it is a rank of several.
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
    regions_cpu_ns: int
    findings: tuple[Finding, ...]
    groups: tuple[RegionMeasures, ...] = ()
    unmeasured: tuple[Unmeasured, ...] = ()
    start_up: StartUp | None = None
    contents: Contents | None = None
    backward: BackwardWork | None = None
    expectations: tuple[Checked, ...] = ()
    ranks: tuple[RankMeasures, ...] = ()
    sources: Mapping[str, tuple[Fingerprint, ...]] = field(default_factory=dict[str, "tuple[Fingerprint, ...]"])


def share_of(region: RegionMeasures, result: Result) -> float | None:
    """The region's part of what was recorded, warm-up included, from 0 to 1: of all device work; where there was none,
    of the CPU time in regions.

    `None` where that was not measured.
    """
    has_device = result.device_total_ns is not None
    part_ns = region.cuda_recorded_ns if has_device else region.cpu_recorded_ns
    whole_ns = result.device_total_ns if has_device else result.regions_cpu_ns
    # Calls of asyncio tasks overlap: together they may take longer than what is around them.
    return min(part_ns / whole_ns, 1.0) if part_ns is not None and whole_ns else None


def rows_of(result: Result) -> list[RegionMeasures]:
    """The regions as they are shown: each series in the place of its first name, for all of its names."""
    if not result.groups:
        return list(result.regions)
    series = {(each.name, each.file, each.line): each for each in result.groups}
    rows = (series.get((each.series or "", each.file, each.line), each) for each in result.regions)
    return list({id(row): row for row in rows}.values())


def to_json(result: Result, *, is_indented: bool = False) -> bytes:
    """The result as one JSON object; times are integer nanoseconds."""
    values = {
        "schema": SCHEMA,
        "kinetoscope": __version__,
        **{each.name: getattr(result, each.name) for each in fields(result)},
        "traces": [str(trace) for trace in result.traces],
    }
    return as_json(values, is_indented=is_indented)


def from_dict(values: Mapping[str, Any]) -> Result:
    """From the JSON of `to_json`. Raises `UsageError` for another schema and for what is no result."""
    if values.get("schema") != SCHEMA:
        raise UsageError(f"This is a result of schema {values.get('schema')}, not {SCHEMA}; measure again.")
    try:
        return msgspec.convert(values, Result, dec_hook=_converted)
    except msgspec.ValidationError as error:
        raise UsageError(f"This result is damaged ({error}); measure again.") from error


def _converted(type_: type, value: object) -> object:
    if type_ is Path and isinstance(value, str):
        return Path(value)
    raise NotImplementedError(type_)

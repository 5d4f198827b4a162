"""A result that is shown, and the rows that it has: what is held of each result."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime, timezone
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from kinetoscope_core.results.measures import Finding, RegionMeasures, Unmeasured
from kinetoscope_core.results.result import Result, from_dict, rows_of, share_of
from kinetoscope_core.source.placement import Fingerprint

Fingerprints = tuple[Fingerprint, ...]
Row: TypeAlias = RegionMeasures | Unmeasured
"""What a result tells of a region: its measures, or that it was entered and has no time."""


@dataclass(frozen=True, eq=False)
class Shown:
    """A result that is shown, without what is large in it. `run` is its id in the archive. `fingerprints` are those of
    the files it measured, by resolved path, as they were then. `when` it was begun, or loaded, is ISO 8601 in UTC.
    `setting` is that of the sweep for which it was chosen, for people.
    """

    result: Result
    run: str
    fingerprints: Mapping[str, Fingerprints]
    when: str
    setting: str = ""

    @classmethod
    def of(cls, values: dict[str, Any], run: str) -> "Shown":
        """From a result's JSON. Raises `UsageError` for anything else."""
        result = from_dict(values)
        regions, groups = (tuple(map(_without_large, each)) for each in (result.regions, result.groups))
        result = replace(result, regions=regions, groups=groups)
        by_file = {resolved(file): fingerprints for file, fingerprints in result.sources.items()}
        now = datetime.now(timezone.utc).isoformat(timespec="seconds")
        return cls(result, run, by_file, now if result.run is None else result.run.started)

    @property
    def is_focused(self) -> bool:
        """Whether one region alone was measured."""
        return self.result.run is not None and self.result.run.region is not None

    @cached_property
    def script(self) -> object:
        """What results have in common that stand for each other: the script, or the names of traces from elsewhere."""
        run = self.result.run
        if run is None:
            return tuple(trace.name for trace in self.result.traces)
        return run.is_module, run.script if run.is_module else str(Path(run.folder or "", run.script))

    @cached_property
    def command(self) -> object:
        """What results have in common that differ in the measured region alone."""
        run = self.result.run
        return self.script, run and (run.arguments, run.interpreter, run.environment, run.env_file)


def _without_large(region: RegionMeasures) -> RegionMeasures:
    """The measures without those of single calls: hundreds of values, and shown by few clients."""
    return replace(region, call_times=(), timeline=None)


def values_of(region: Row) -> dict[str, Any]:
    """The measures as plain values; of a region that has none the same ones, null where there would be a time."""
    if isinstance(region, RegionMeasures):
        return asdict(region)
    none = dict.fromkeys(each.name for each in fields(RegionMeasures))
    known = {"measured": 0, "is_cold": False, "overhead_ns": 0, "names": 1, "raised": 0, "is_raised": False}
    untimed = {"untimed": region.calls - region.unfinished}
    return {**none, **known, **untimed, **asdict(region)}


def rows_to_show(result: Result) -> list[Row]:
    """What is shown of a result: the regions, each series in the place of its names, and what has no time."""
    return [*rows_of(result), *result.unmeasured]


def with_names(result: Result) -> list[Row]:
    """The rows, and after them the names that the series among them stand for."""
    rows = rows_to_show(result)
    shown = {id(row) for row in rows}
    return [*rows, *(each for each in result.regions if id(each) not in shown)]


def findings_of(region: Row) -> Sequence[Finding]:
    return () if isinstance(region, Unmeasured) else region.findings


def share_in(result: Result, region: Row) -> float | None:
    """As `share_of`; `None` of a region without times."""
    return None if isinstance(region, Unmeasured) else share_of(region, result)


def resolved(file: str) -> str:
    return str(Path(file).resolve())

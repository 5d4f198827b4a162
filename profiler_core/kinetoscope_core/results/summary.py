"""What a list of runs tells of one: read from a result's JSON without making the rest of it, most of which is calls."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

import msgspec

from kinetoscope_core.errors import UsageError
from kinetoscope_core.results.measures import Device
from kinetoscope_core.results.result import SCHEMA, RunInfo
from kinetoscope_core.text import printable


@dataclass(frozen=True, slots=True)
class LargestRegion:
    """The region with the largest part of what was recorded, and the medians of its calls."""

    name: str
    cuda_total_ns: int | None
    cpu_total_ns: int


@dataclass(frozen=True, slots=True)
class Summary:
    """`script` is what ran, as short as people say it, `title` the same with its arguments. `started` is ISO 8601 with
    its zone. `regions` counts the user's, a series as one; of a trace, all. `largest` is `None` where no region has a
    time. Of traces from elsewhere, `started` and `seconds` are `None`.
    """

    title: str
    script: str
    arguments: tuple[str, ...]
    started: str | None
    seconds: float | None
    device: Device | None
    regions: int
    largest: LargestRegion | None


def title_of(run: RunInfo | None, traces: Sequence[PurePath]) -> str:
    """What ran, as short as people say it: `train.py --epochs 1`, `…, with modules`; of traces their names."""
    text = printable(" ".join([_script_of(run, traces), *(run.arguments if run else ())]))
    return text if run is None or run.modules is None else f"{text}, with modules"


def _script_of(run: RunInfo | None, traces: Sequence[PurePath]) -> str:
    if run is None:
        return ", ".join(trace.name for trace in traces)
    return script_title(run.script, is_module=run.is_module)


def script_title(script: str, *, is_module: bool) -> str:
    """`train.py`, `-m package.train`."""
    return f"-m {script}" if is_module else PurePath(script).name


class _Schema(msgspec.Struct):
    schema: int


class _Median(msgspec.Struct):
    median: int


class _Entered(msgspec.Struct):
    file: str | None


class _Region(msgspec.Struct):
    name: str
    file: str | None
    cpu_total_ns: _Median
    cuda_total_ns: _Median | None
    cpu_recorded_ns: int
    cuda_recorded_ns: int | None
    series: str | None = None

    @property
    def part(self) -> tuple[int, int]:
        return self.cuda_recorded_ns or 0, self.cpu_recorded_ns


class _Result(msgspec.Struct):
    run: RunInfo | None
    traces: list[str]
    device: Device | None
    regions: list[_Region]
    groups: list[_Region] = []
    unmeasured: list[_Entered] = []


def summary_of(text: bytes) -> Summary:
    """From the JSON of `to_json`. Raises `UsageError` for another schema and for what is no result."""
    try:
        schema = msgspec.json.decode(text, type=_Schema).schema
        if schema != SCHEMA:
            raise UsageError(f"This is a result of schema {schema}, not {SCHEMA}; measure again.")
        result = msgspec.json.decode(text, type=_Result)
    except msgspec.DecodeError as error:
        raise UsageError(f"This result is damaged ({error}); measure again.") from error
    rows = [*(each for each in result.regions if each.series is None), *result.groups]
    placed = [each for each in rows if each.file is not None]
    shown = rows if result.run is None else placed
    unmeasured = [each for each in result.unmeasured if each.file is not None or result.run is None]
    largest = max(placed or shown, key=lambda each: each.part, default=None)
    traces = [PurePath(trace) for trace in result.traces]
    return Summary(
        title=title_of(result.run, traces),
        script=printable(_script_of(result.run, traces)),
        arguments=() if result.run is None else result.run.arguments,
        started=None if result.run is None else result.run.started,
        seconds=None if result.run is None else result.run.seconds,
        device=result.device,
        regions=len(shown) + len(unmeasured),
        largest=None if largest is None else _largest(largest),
    )


def _largest(region: _Region) -> LargestRegion:
    cuda = None if region.cuda_total_ns is None else region.cuda_total_ns.median
    return LargestRegion(region.name, cuda, region.cpu_total_ns.median)

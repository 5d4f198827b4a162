"""The runner's region log as values, and its match with the regions of a trace.

The log knows where each call stands in the source and its true name; the trace knows what it took.
"""

import json
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from kinetoscope_core.analysis.numbered_names import pattern_of
from kinetoscope_core.errors import TraceError
from kinetoscope_core.results.measures import Call, ModuleFacts
from kinetoscope_core.text import short_name

CLOCK_TOLERANCE_NS = 5_000
"""An entry is noted before the region starts, by 2.3 to 66.6 µs on one clock (facts/gpu.md); this much may be lost in
rounding."""


@dataclass(frozen=True, slots=True)
class LoggedRegion:
    """A place and a name it was entered with. `line` is from 1; `finished` counts calls of the place.

    `through` has the lines of the helpers that entered it for that place, as file and line. With `is_pattern` it stands
    for all names that differ from it in their numbers alone (`numbered.pattern_of`): of many only the first are kept.
    """

    name: str
    safe_name: str
    file: str
    line: int
    function: str
    finished: int
    through: Sequence[tuple[str, int]] = ()
    is_pattern: bool = False
    module: ModuleFacts | None = None

    def stands(self) -> Sequence[tuple[str, int]]:
        """Its own place and those of the helpers that entered it."""
        return [(self.file, self.line), *self.through]


@dataclass(frozen=True, slots=True)
class LoggedCall:
    """One call: its region, and how many calls of the region and of its place the process had made before."""

    region: int
    call: int
    place_call: int
    thread: str
    time_ns: int


@dataclass(frozen=True, slots=True)
class LoggedRecording:
    """One recording: its trace file, its entries, and whether the script's own profiler made it.

    `still_open` counts, by region, the calls that had not ended when it ended. `raised` has the type of the exception
    that ended a call, by the region and the call's number.
    """

    trace: Path
    is_of_script: bool
    records_cuda: bool
    entries: Sequence[LoggedCall]
    still_open: Mapping[int, int] = field(default_factory=dict[int, int])
    raised: Mapping[tuple[int, int], str] = field(default_factory=dict[tuple[int, int], str])


@dataclass(frozen=True, slots=True)
class ModulesSeen:
    """The `classes` of all modules that were called or stood in one that was. `left_out` counts those without a region
    for their depth, where `depth` is that of the last ones that have one, from 0 at the outermost module. `lost_sight`:
    modules have no regions since torch.compile was first used, as this torch does not say when compiled code runs.
    """

    left_out: int
    depth: int
    classes: Sequence[str]
    lost_sight: bool = False


@dataclass(frozen=True, slots=True)
class RegionLog:
    """Everything the runner noted. `script_recordings` counts those of the script's own profilers, saved
    or not.

    `was_quietened` says that other threads went on for a moment without their regions while the profiler was stopped.
    """

    regions: Sequence[LoggedRegion]
    recordings: Sequence[LoggedRecording]
    failures: Sequence[str]
    script_recordings: int
    was_aside: bool
    was_quietened: bool = False
    has_children: bool = False
    """Whether the script had processes of its own that may have used torch."""
    files: Sequence[str] = ()
    """The user's files whose modules the script had loaded."""
    modules: ModulesSeen | None = None
    """Where regions of modules were asked for."""


def read_region_log(folder: Path) -> RegionLog | None:
    """The log in a run's folder; None if the run ended before it wrote one. Raises `TraceError` if it is damaged.

    Read by `json`: names may hold lone surrogates, which orjson refuses.
    """
    path = folder / "regionlog.json"
    if not path.exists():
        return None
    try:
        raw: dict[str, Any] = json.loads(path.read_bytes())
    except ValueError as error:
        raise TraceError(f"The region log {path} is damaged ({error}); run again.") from error
    places = raw["places"]
    regions = [
        LoggedRegion(
            short_name(region["name"]),
            short_name(region["safe_name"]),
            places[region["place"]]["file"],
            places[region["place"]]["line"],
            places[region["place"]]["function"],
            places[region["place"]]["finished"],
            [(file, line) for file, line in places[region["place"]].get("through", ())],
            region.get("is_pattern", False),
            _module(region.get("module")),
        )
        for region in raw["regions"]
    ]
    recordings = [_recording(folder, each) for each in raw["recordings"]]
    return RegionLog(
        regions,
        recordings,
        raw["failures"],
        raw["script_recordings"],
        raw["was_aside"],
        raw.get("was_quietened", False),
        raw.get("has_children", False),
        raw.get("files", ()),
        None if raw.get("modules") is None else ModulesSeen(**raw["modules"]),
    )


def _module(raw: dict[str, Any] | None) -> ModuleFacts | None:
    if raw is None:
        return None
    file, line = raw["forward"] or (None, None)
    return ModuleFacts(raw["class"], file, line, raw["is_compiled"])


def _recording(folder: Path, raw: dict[str, Any]) -> LoggedRecording:
    columns = raw["entries"]
    rows = zip(
        columns["region"],
        columns["call"],
        columns["place_call"],
        columns["thread"],
        columns["time_ns"],
        strict=True,
    )
    entries = [
        LoggedCall(region, call, place_call, str(thread), time_ns) for region, call, place_call, thread, time_ns in rows
    ]
    return LoggedRecording(
        folder / raw["trace"],
        raw["is_of_script"],
        raw["records_cuda"],
        entries,
        dict(raw.get("still_open", ())),
        {(region, call): exception for region, call, exception in columns.get("raised", ())},
    )


_Key: TypeAlias = tuple[str, str]

_OTHER_NAMES = "…"
_PATTERN = "\0"
"""Before a pattern, so that it is no name: no trace keeps this character."""


def match_entries(
    log: RegionLog, recording: LoggedRecording, calls: Sequence[Call], base_time_ns: int | None
) -> list[LoggedCall | None]:
    """For each call the entry that made it; None for torch's own annotations.

    By thread and name, in order. Where the counts differ (a region was open when the profiler started, or it stopped
    between log and region) the clock decides: a call goes to the latest entry before its start.
    """
    entries: defaultdict[_Key, list[LoggedCall]] = defaultdict(list)
    for entry in recording.entries:
        region = log.regions[entry.region]
        name = _PATTERN + region.name if region.is_pattern else region.safe_name
        entries[entry.thread, name].append(entry)
    wanted: defaultdict[_Key, list[int]] = defaultdict(list)
    for index, call in enumerate(calls):
        wanted[call.tid, _logged_as(call, entries)].append(index)
    matched: list[LoggedCall | None] = [None] * len(calls)
    for key, indices in wanted.items():
        indices.sort(key=lambda index: calls[index].start_ns)
        candidates = sorted(entries.get(key, []), key=lambda entry: entry.time_ns)
        if len(candidates) == len(indices):
            for index, entry in zip(indices, candidates, strict=True):
                matched[index] = entry
        elif candidates:
            _match_by_time(matched, indices, candidates, calls, base_time_ns or 0)
    return matched


def _logged_as(call: Call, entries: Mapping[_Key, Sequence[LoggedCall]]) -> str:
    """The name under which the log has it: its own, its pattern's, or what the log counts together."""
    names = (call.name, _PATTERN + pattern_of(call.name), _PATTERN + _OTHER_NAMES)
    return next((name for name in names if (call.tid, name) in entries), call.name)


def _match_by_time(
    matched: list[LoggedCall | None],
    indices: Sequence[int],
    candidates: Sequence[LoggedCall],
    calls: Sequence[Call],
    base_time_ns: int,
) -> None:
    times = [entry.time_ns for entry in candidates]
    next_free = 0
    for index in indices:
        start = base_time_ns + calls[index].start_ns + CLOCK_TOLERANCE_NS
        place = bisect_right(times, start) - 1
        if place >= next_free:
            matched[index] = candidates[place]
            next_free = place + 1

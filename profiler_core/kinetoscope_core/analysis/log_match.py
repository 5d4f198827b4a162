"""The log of a run beside what its traces hold: which call stands where, and which regions are missing in them."""

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from pathlib import Path

from kinetoscope_core.analysis.analysis import Reading
from kinetoscope_core.analysis.numbered_names import is_step_of_torch, pattern_of
from kinetoscope_core.analysis.region_log import LoggedRecording, RegionLog, match_entries
from kinetoscope_core.analysis.statistics import RecordedCalls, RegionKey
from kinetoscope_core.errors import Problem
from kinetoscope_core.results.measures import ModuleFacts, RegionMeasures
from kinetoscope_core.source.regions import Region
from kinetoscope_core.source.regions.which_region import RegionsByName, places_of_names
from kinetoscope_core.source.snapshot import Sources
from kinetoscope_core.text import count_text, printable, shortlist

NUMBERED_FROM = 64
"""So many names of a place are numbered steps: that some of them were not recorded is no news."""

_RECORD_ONE_THREAD = ("2.1.", "2.2.", "2.3.", "2.4.", "2.5.", "2.6.")


def recorded_calls(
    log: RegionLog, readings: Sequence[Reading], sources: Sources, warmup: int, unlogged: Mapping[str, RegionsByName]
) -> tuple[list[RecordedCalls], list[RegionKey]]:
    """The calls of each recording; and the regions that only ours has where there are both.

    `unlogged` has, by file, the regions that a name may be which is in the trace and not in the log: TorchScript enters
    its regions without Python.
    """
    recorded = [
        _matched(log, logged, reading, sources, warmup, unlogged)
        for logged, reading in zip(log.recordings, readings, strict=True)
    ]
    return _of_both(log.recordings, recorded)


def _of_both(
    logged: Sequence[LoggedRecording], recorded: list[RecordedCalls]
) -> tuple[list[RecordedCalls], list[RegionKey]]:
    """What the script's own profiler recorded is measured there alone; the rest, which is given too, in ours."""
    if len({each.is_of_script for each in logged}) < 2:
        return recorded, []
    pairs = list(zip(logged, recorded, strict=True))
    of_script = {key for each, part in pairs if each.is_of_script for key in part.keys if key.file}
    ours = [key for each, part in pairs if not each.is_of_script for key in part.keys if key.file]
    measured = [
        part
        if each.is_of_script
        else replace(
            part,
            is_warmup=[each or key in of_script for key, each in zip(part.keys, part.is_warmup, strict=True)],
            is_series_warmup=[
                each or key in of_script for key, each in zip(part.keys, part.is_series_warmup, strict=True)
            ],
        )
        for each, part in pairs
    ]
    return measured, list(dict.fromkeys(key for key in ours if key not in of_script))


def _matched(
    log: RegionLog,
    recording: LoggedRecording,
    reading: Reading,
    sources: Sources,
    warmup: int,
    unlogged: Mapping[str, RegionsByName],
) -> RecordedCalls:
    """The calls with the place of each, how it ended, and whether it is warm-up: of its name, and of the series that it
    may be part of.

    A profiler of the script chose its own warm-up.
    """
    calls = reading.attribution.calls
    entries = match_entries(log, recording, calls, reading.trace.metadata.base_time_ns)
    seen: Counter[str] = Counter()
    keys: list[RegionKey] = []
    flags: list[bool] = []
    of_series: list[bool] = []
    raised: dict[int, str] = {}
    for index, (call, entry) in enumerate(zip(calls, entries, strict=True)):
        if entry is None:
            keys.append(keys_of_names([call.name], unlogged)[call.name])
            name = pattern_of(call.name) if is_step_of_torch(call.name) else call.name
            flags.append(not recording.is_of_script and seen[name] < warmup)
            of_series.append(flags[-1])
            seen[name] += 1
            continue
        region = log.regions[entry.region]
        name = call.name if region.is_pattern else region.name
        keys.append(RegionKey(name, region.file, sources.line_of(region.file, region.line, name)))
        flags.append(not recording.is_of_script and entry.call < warmup)
        of_series.append(not recording.is_of_script and entry.place_call < warmup)
        exception = recording.raised.get((entry.region, entry.call))
        if exception is not None:
            raised[index] = exception
    return RecordedCalls(calls, keys, flags, reading.base_time_ns, of_series, raised)


def modules_by_key(log: RegionLog, sources: Sources) -> dict[RegionKey, ModuleFacts]:
    """The modules of those regions that are one's forward."""
    return {
        RegionKey(each.name, each.file, sources.line_of(each.file, each.line, each.name)): each.module
        for each in log.regions
        if each.module is not None
    }


def keys_of_names(names: Iterable[str], files: Mapping[str, RegionsByName]) -> dict[str, RegionKey]:
    """The places of regions of which the trace tells the names alone."""
    names = list(names)
    places = {name: (file, region.line) for name, (file, region) in places_of_names(files, names).items()}
    return {name: RegionKey(name, *places.get(name, (None, None))) for name in names}


def regions_not_entered(log: RegionLog, sources: Sources, script: Path | None) -> list[Region]:
    """The regions of the script that the log saw no entry of."""
    if script is None:
        return []
    own = os.path.realpath(script)
    entered = {
        sources.region_at(str(script), line, logged.name)
        for logged in log.regions
        for file, line in logged.stands()
        if os.path.realpath(file) == own
    }
    return [region for region in sources.regions_of(str(script)) if region not in entered]


def regions_not_recorded(
    log: RegionLog, recorded: AbstractSet[RegionKey], sources: Sources, torch: str | None, script: Path | None
) -> list[Problem]:
    """Regions that were entered, though never while it was recorded; not those of numbered steps."""
    own = os.path.realpath(script or "")
    missed: dict[tuple[str, int], list[str]] = {}
    for logged in log.regions:
        key = RegionKey(logged.name, logged.file, sources.line_of(logged.file, logged.line, logged.name))
        if key not in recorded:
            missed.setdefault((logged.file, key.line or 0), []).append(logged.name)
    return [
        not_recorded(file, line, names, torch, is_elsewhere=os.path.realpath(file) != own)
        for (file, line), names in missed.items()
        if len(names) < NUMBERED_FROM
    ]


def regions_with_few_calls(regions: Sequence[RegionMeasures], wanted: int) -> list[Problem]:
    """One problem for those of the user's that had fewer measured calls than were wanted; none for numbered steps."""
    few = [each for each in regions if each.file and each.series is None and (each.is_cold or each.measured < wanted)]
    if not few or len(few) >= NUMBERED_FROM:
        return []
    return [_few_calls(few[0].file, few[0].line, [(each.name, each.measured) for each in few], wanted)]


def _few_calls(file: str | None, line: int | None, calls: Sequence[tuple[str, int]], wanted: int) -> Problem:
    """Regions that had fewer measured calls than were asked for when the run was ended; `calls` has name and number."""
    which = shortlist([f"{name} ({number})" for name, number in calls])
    message = (
        f"These regions had fewer than {count_text(wanted, 'measured call')}: {which}. Let the script run to its end to"
        " measure more calls of them."
    )
    return Problem("few-calls", message, {}, file, line)


def not_recorded(
    file: str, line: int, names: Sequence[str], torch: str | None, *, is_elsewhere: bool = False
) -> Problem:
    """Regions of one place that were entered before or after the recording, or on a thread that was not recorded.

    `is_elsewhere`: in another file than the script, which is named.
    """
    which = shortlist(names)
    were = "was" if len(names) == 1 else "were"
    where = f"{printable(Path(file).name)}:{line}" if is_elsewhere else f"line {line}"
    message = f"{which} ({where}) {were} entered, but not while the profiler recorded"
    if torch is not None and torch.startswith(_RECORD_ONE_THREAD):
        message += "; torch before 2.7 records only the main thread"
    return Problem("region-not-recorded", f"{message}.", {}, file, line)

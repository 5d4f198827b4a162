"""Gathers the facts of all regions in one pass over the columns of each recording."""

from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from typing import Final

from kinetoscope_core.analysis.bounds import Limit
from kinetoscope_core.analysis.findings.facts import Part, RegionFacts, RunFacts
from kinetoscope_core.analysis.recording import Recording
from kinetoscope_core.analysis.statistics import CallId, Calls, RegionKey
from kinetoscope_core.results.measures import RegionMeasures
from kinetoscope_core.results.of_torch import is_of_torch

_STEP: Final = "ProfilerStep#"


def _told_of(keys: Collection[RegionKey]) -> Collection[RegionKey]:
    """The regions that are the user's; where there are none, torch's own steps."""
    mine = [key for key in keys if not is_of_torch(key.name, key.file)]
    return mine or [key for key in keys if key.name.startswith(_STEP)]


def gather(
    recordings: Sequence[Recording],
    calls: Calls,
    measures: Sequence[RegionMeasures],
    limits: Mapping[RegionKey, Limit],
    *,
    has_modules: bool = False,
) -> RunFacts:
    """The facts of the regions that are the user's; where there are none, of torch's own steps."""
    by_key = {RegionKey(each.name, each.file, each.line): each for each in measures}
    regions = {
        key: RegionFacts(key, by_key[key], calls.measured[key], calls.median[key], {})
        for key in _told_of(calls.measured)
    }
    parts: dict[RegionKey, dict[int, Part]] = {key: {} for key in regions}
    measured_ns = 0
    for number, recording in enumerate(recordings):
        owners = _owners(number, recording, regions)
        measured_ns += _add(number, recording, owners, regions, parts)
    for key, region in regions.items():
        region.parts = parts[key]
    totals = [recording.attribution.device_total_ns for recording in recordings]
    known = [total for total in totals if total is not None]
    return RunFacts(
        recordings=recordings,
        regions=regions,
        limits=limits,
        are_steps=any(is_of_torch(key.name, key.file) for key in regions),
        measured_ns=measured_ns,
        device_total_ns=sum(known) if known else None,
        loose=[(number, index) for number, each in enumerate(recordings) for index in _loose(each, regions)],
        timelines=[recording.device_timeline() for recording in recordings],
        has_modules=has_modules,
    )


def _owners(number: int, recording: Recording, regions: Mapping[RegionKey, RegionFacts]) -> list[RegionFacts | None]:
    """For each call the region that its work counts for: its own, if it was measured there; if it is torch's,
    that of the call around it.
    """
    owners: list[RegionFacts | None] = []
    for index, (key, call) in enumerate(zip(recording.keys, recording.calls, strict=True)):
        region = regions.get(key)
        if region is not None:
            owners.append(region if region.measured_in((number, index)) else None)
        else:
            owners.append(owners[call.parent] if call.parent >= 0 else None)
    return owners


def _loose(recording: Recording, regions: Container[RegionKey]) -> Iterator[int]:
    is_loose: list[bool] = []
    for index, (key, call) in enumerate(zip(recording.keys, recording.calls, strict=True)):
        is_loose.append(key not in regions and (call.parent < 0 or is_loose[call.parent]))
        if is_loose[-1]:
            yield index


def _add(
    number: int,
    recording: Recording,
    owners: Sequence[RegionFacts | None],
    regions: Mapping[RegionKey, RegionFacts],
    parts: dict[RegionKey, dict[int, Part]],
) -> int:
    """Hands the parts what is theirs; returns the CPU time of the outermost measured calls."""
    at: list[Part | None] = []
    measured_calls: list[CallId | None] = []
    measured_ns = 0
    inside: list[bool] = []
    for index, (owner, call) in enumerate(zip(owners, recording.calls, strict=True)):
        is_nested = call.parent >= 0 and inside[call.parent]
        inside.append(is_nested or owner is not None)
        if owner is None:
            at.append(None)
            measured_calls.append(None)
            continue
        part = parts[owner.key].get(number)
        if part is None:
            part = parts[owner.key][number] = Part(number, recording, measured_calls)
        at.append(part)
        if recording.keys[index] not in regions:
            part.annotations.append(index)
            measured_calls.append(measured_calls[call.parent])
            continue
        measured_calls.append(owner.measured_in((number, index)))
        if not is_nested:
            measured_ns += call.cpu_total_ns
        outer = owners[call.parent] if call.parent >= 0 else None
        if outer is not None and outer is not owner:
            owner.outer.add(outer.key)
    for api_call, call in enumerate(recording.attribution.nesting.innermost):
        if call >= 0 and (part := at[call]) is not None:
            part.api_calls.append(api_call)
    operators = recording.attribution.nesting.operators
    for operator, call in zip(operators.slices, operators.calls, strict=True):
        if (part := at[call]) is not None:
            part.operators.append(operator)
    doubts = recording.attribution.doubts
    for activity, call in enumerate(recording.attribution.activity_owner):
        if call >= 0 and (part := at[call]) is not None and activity not in doubts:
            part.activities.append(activity)
    return measured_ns

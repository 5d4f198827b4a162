"""Which copies come from or go to memory of the host, and of which kind it is."""

from typing import Final

from kinetoscope_core.analysis.findings.facts import Part
from kinetoscope_core.trace.schema import MEMCPY

ASYNCHRONOUS_UP_TO: Final = 65_536
"""Bytes. The CUDA documentation: a copy from pageable memory of 64 KB or less returns before it is done."""


def is_pageable(part: Part, activity: int) -> bool:
    """Whether it is a copy from or to pageable memory that is large enough for the CPU to wait for."""
    device = part.trace.device
    return (
        device.kind[activity] == MEMCPY
        and device.copied_bytes[activity] > ASYNCHRONOUS_UP_TO
        and "Pageable" in part.activity_name(activity)
    )


def pageable_operators(part: Part) -> set[int]:
    """The operators of the region, as host slices, that such copies were launched in."""
    launches = part.recording.attribution.activity_launch
    found = {part.operator_around(launches[each]) for each in part.activities if is_pageable(part, each)}
    return found - {-1}


def pinned_operators(part: Part) -> set[int]:
    """The operators of the region, as host slices, that copied from pinned memory to the device."""
    launches = part.recording.attribution.activity_launch
    copies = (each for each in part.activities if part.activity_name(each).startswith("Memcpy HtoD (Pinned"))
    return {part.operator_around(launches[each]) for each in copies} - {-1}

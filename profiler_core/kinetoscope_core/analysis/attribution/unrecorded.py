"""Launches of which the device tells nothing: their records were lost, or came after the recording's end."""

from array import array
from dataclasses import dataclass, field
from typing import Final

from kinetoscope_core.analysis.attribution.graph_captures import Captures
from kinetoscope_core.trace import Trace

_LAUNCHES: Final = ("cudaLaunch", "cuLaunch", "hipLaunch", "hipExtLaunch", "hipModuleLaunch", "hipExtModuleLaunch")
_GRAPH_LAUNCHES: Final = ("cudaGraphLaunch", "cuGraphLaunch", "hipGraphLaunch")


@dataclass(slots=True)
class Unrecorded:
    """`launches` counts all that launch kernels or graphs; `api_calls` has those without a record, as host slices.

    Launches into a CUDA graph run nothing themselves, and are in neither.
    """

    launches: int = 0
    api_calls: "array[int]" = field(default_factory=lambda: array("i"))


def unrecorded_launches(trace: Trace, captures: Captures) -> Unrecorded:
    """The launches of a trace that no device activity shares its correlation with."""
    host = trace.host
    launching, recorded = _launching_names(trace), {each for each in trace.device.correlation if each > 0}
    found = Unrecorded()
    for api_call in host.api_calls():
        if host.name[api_call] not in launching:
            continue
        is_recorded = host.correlation[api_call] in recorded
        if not is_recorded and captures and captures.is_into_one(host.thread[api_call], host.start_ns[api_call]):
            continue
        found.launches += 1
        if not is_recorded:
            found.api_calls.append(api_call)
    return found


def _launching_names(trace: Trace) -> set[int]:
    """The names, as places in `trace.names`, of the calls that launch kernels or graphs."""
    starters = (*_LAUNCHES, *_GRAPH_LAUNCHES)
    return {number for number, name in enumerate(trace.names) if name.startswith(starters) and "HostFunc" not in name}

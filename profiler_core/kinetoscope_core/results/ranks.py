"""The ranks of a job as plain values: what each took (docs/measures.md, "Ranks")."""

from dataclasses import dataclass

from kinetoscope_core.results.communication import Collectives
from kinetoscope_core.results.measures import Spread


@dataclass(frozen=True, slots=True)
class RankRegion:
    """What one region took on one rank; the fields are those of `RegionMeasures`."""

    name: str
    file: str | None
    line: int | None
    calls: int
    measured: int
    cpu_total_ns: Spread
    cpu_self_ns: Spread
    cuda_total_ns: Spread | None
    cuda_self_ns: Spread | None
    communication: Collectives | None = None


@dataclass(frozen=True, slots=True)
class RankMeasures:
    """One rank. `traces` are the places of its recordings among those of the result.

    `host` and `local_rank` are `None` where they are not known. `collectives` are all that it recorded, `None` if that
    are none. `clock_offset_ns` is by how much its clock is ahead of the first rank's, `clock_uncertain_ns` how exactly
    that is known; both are `None` where the ranks have one clock, or where nothing was matched.
    """

    rank: int
    local_rank: int | None
    host: str | None
    traces: tuple[int, ...]
    device_total_ns: int | None
    regions: tuple[RankRegion, ...]
    collectives: Collectives | None
    clock_offset_ns: int | None = None
    clock_uncertain_ns: int | None = None

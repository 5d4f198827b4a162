"""The ranks of a job as plain values: what each took (docs/measures.md, "Ranks")."""

from dataclasses import dataclass

from kinetoscope_core.results.communication import Collectives
from kinetoscope_core.results.measures import Spread


@dataclass(frozen=True, slots=True)
class RankRegion:
    """What one region took on one rank; the fields are those of `RegionMeasures`. `cpu_active_ns` is CPU total less
    waiting for the GPU.
    """

    name: str
    file: str | None
    line: int | None
    calls: int
    measured: int
    cpu_total_ns: Spread
    cpu_self_ns: Spread
    cpu_active_ns: Spread
    cuda_total_ns: Spread | None
    cuda_self_ns: Spread | None
    communication: Collectives | None = None

    @property
    def cuda_computing_ns(self) -> int | None:
        """CUDA total less collectives, the mean of the measured calls."""
        if self.cuda_total_ns is None:
            return None
        of_collectives_ns = self.communication.total_ns if self.communication else 0
        return (self.cuda_total_ns.sum - of_collectives_ns) // self.measured


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

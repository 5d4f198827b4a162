"""Which collective of one rank is which of another: the k-th of a process group, wherever the recordings begin.

NCCL's kernels carry no number, so the sequences of kinds and sizes are laid side by side. Of all ways that fit, the one
is taken whose kernels end together; if another one is nearly as good, nothing is matched.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from kinetoscope_core.analysis.ranks.facts import Communications
from kinetoscope_core.analysis.statistics import median_of
from kinetoscope_core.trace import Collective

ONE_CLOCK_NS: Final = 100_000
"""So close together kernels of one collective end on one clock: on two H200s of one host within 26 µs."""

_LEAST_PART: Final = 0.5
"""Of the shorter recording's collectives, how much has to lie side by side."""

_CLEARLY: Final = 4
"""By which factor the ends of any other way of matching have to lie farther apart."""

_ENOUGH_ENDS: Final = 8
"""So many collectives have to end together to tell by how much a clock is ahead."""

_NEAREST: Final = 32
"""So many of the other rank's collectives before and after are tried as the same one."""

_TOGETHER: Final = ("allreduce", "allgather", "reducescatter", "alltoall", "barrier")
"""Collectives that no rank can end before the last one has begun, as they are called without underscores."""


class Peers(NamedTuple):
    """Between whom something is sent, so that the order counts: a process group or, in one, a sender and a receiver."""

    group: str
    ranks: tuple[int, ...]
    sender: int = -1
    receiver: int = -1

    @property
    def members(self) -> tuple[int, ...]:
        return (self.sender, self.receiver) if self.sender >= 0 else self.ranks


@dataclass(frozen=True, slots=True)
class Side:
    """What one rank communicated with some peers: places in its `Communications`."""

    rank: int
    communications: Communications
    places: Sequence[int]

    def kind(self, number: int) -> tuple[str, int, int, str]:
        """What has to be the same on all ranks."""
        what = self.communications.kinds[self.communications.what[self.places[number]]]
        name = what.name.replace("_", "").lower()
        if _is_uneven(name):
            return ("send" if name in ("send", "recv") else name, 0, 0, what.dtype)
        return (name, what.elements_in, what.elements_out, what.dtype)

    def start_ns(self, number: int) -> int:
        return self.communications.start_ns[self.places[number]]

    def end_ns(self, number: int) -> int:
        place = self.places[number]
        return self.communications.start_ns[place] + self.communications.duration_ns[place]

    def __len__(self) -> int:
        return len(self.places)


@dataclass(frozen=True, slots=True)
class Offset:
    """How one side lies beside the first: its `number + steps` is the first one's number.

    `clock_ns` is what its clock is ahead of the first one's, 0 if it is the same clock, and `uncertain_ns` within what
    nine of ten ends agree then; `None` on one clock.
    """

    steps: int
    clock_ns: int = 0
    uncertain_ns: int | None = None


@dataclass(frozen=True, slots=True)
class Match:
    """All collectives with some peers that every one of them has. `offsets` go with `sides`; those from `begin` up to,
    not including, `end`, as counted on the first side, are on all sides.
    """

    sides: Sequence[Side]
    offsets: Sequence[Offset]
    begin: int
    end: int


def _is_uneven(name: str) -> bool:
    """Whether the ranks give different sizes: the root's own, a sender's, or splits of their own."""
    return name in ("send", "recv", "gather", "scatter") or name.startswith("alltoall")


def is_together(name: str) -> bool:
    """Whether no rank can end this collective before the last one has begun it."""
    return name.replace("_", "").lower().startswith(_TOGETHER)


def by_peers(
    rank: int, communications: Communications, groups: Mapping[str, tuple[int, ...]]
) -> dict[Peers, list[int]]:
    """The places of one rank's collectives by whom they are with; without those that do not say so."""
    found: defaultdict[Peers, list[int]] = defaultdict(list)
    peers = [peers_of(rank, each, groups) for each in communications.kinds]
    for place, what in enumerate(communications.what):
        if (who := peers[what]) is not None:
            found[who].append(place)
    return found


def peers_of(rank: int, what: Collective, groups: Mapping[str, tuple[int, ...]]) -> Peers | None:
    """Whom a rank has it in common with; `None` if the kernel does not say."""
    ranks = groups.get(what.group) or _ranks_in(what.ranks)
    if not what.group or len(ranks) < 2 or rank not in ranks:
        return None
    if what.group_size not in (-1, len(ranks)):
        return None
    if what.name == "send":
        return Peers(what.group, ranks, rank, what.destination) if what.destination in ranks else None
    if what.name == "recv":
        return Peers(what.group, ranks, what.source, rank) if what.source in ranks else None
    if what.name == "coalesced":  # several sends and receives in one kernel
        return None
    return Peers(what.group, ranks)


def _ranks_in(text: str) -> tuple[int, ...]:
    """The ranks that a kernel names, none if torch cut the list."""
    parts = text.strip("[] ").split(",")
    try:
        return tuple(int(part) for part in parts)
    except ValueError:
        return ()


def matched(sides: Sequence[Side], *, is_one_clock: bool | None) -> Match | None:
    """The match of what all sides have; `None` if it is not certain which is which.

    `is_one_clock` is `None` if nothing says whether the sides are on one host.
    """
    first = sides[0]
    offsets = [Offset(0)]
    for side in sides[1:]:
        offset = _offset(first, side, is_one_clock=is_one_clock)
        if offset is None:
            return None
        offsets.append(offset)
    begin = max(max(offset.steps, 0) for offset in offsets)
    end = min(len(side) + offset.steps for side, offset in zip(sides, offsets, strict=True))
    return Match(sides, offsets, begin, end) if begin < end else None


class _Way(NamedTuple):
    """One way to lay two sides beside each other. `ahead` is by how much each end of a kernel comes later on the second
    side, `apart_ns` the middle one without its sign. Looked at are those that end together, if there are any.
    """

    steps: int
    apart_ns: int
    ahead: Sequence[int]
    is_together: bool


def _offset(first: Side, side: Side, *, is_one_clock: bool | None) -> Offset | None:
    ways = list(_ways(first, side))
    if is_one_clock is not False and (best := _best_on_one_clock(first, side, ways, is_known=bool(is_one_clock))):
        return Offset(best.steps)
    if is_one_clock:
        return None
    # The clock of another host may be ahead by any time, as long as it stays so.
    steady = [way._replace(apart_ns=_spread_ns(way.ahead)) for way in ways if way.is_together]
    best = _clearly_best(steady)
    if best is None or best.apart_ns > ONE_CLOCK_NS or len(best.ahead) < _ENOUGH_ENDS:
        return None
    clock_ns = median_of(best.ahead)
    apart = sorted(abs(ahead - clock_ns) for ahead in best.ahead)
    return Offset(best.steps, clock_ns, apart[9 * (len(apart) - 1) // 10])


def _best_on_one_clock(first: Side, side: Side, ways: Sequence[_Way], *, is_known: bool) -> _Way | None:
    """The way, if the ranks have one clock: what is sent can end long before it is received, so that its ends alone do
    not show a clock.
    """
    best = _clearly_best([way for way in ways if _is_possible(first, side, way.steps)])
    if best is None or not (best.apart_ns <= ONE_CLOCK_NS if best.is_together else is_known):
        return None
    return best


def _spread_ns(ahead: Sequence[int]) -> int:
    middle = median_of(ahead)
    return median_of([abs(each - middle) for each in ahead])


def _clearly_best(ways: Sequence[_Way]) -> _Way | None:
    """The one whose ends lie closest, if those of all others lie much farther apart."""
    ordered = sorted(ways, key=lambda way: way.apart_ns)
    if not ordered:
        return None
    if len(ordered) > 1 and ordered[1].apart_ns < _CLEARLY * max(ordered[0].apart_ns, 1_000):
        return None
    return ordered[0]


def _ways(first: Side, side: Side) -> Iterator[_Way]:
    """All ways near in time, and from the first on, in which every kind and size is the same on both sides."""
    theirs, mine = ([each.kind(number) for number in range(len(each))] for each in (first, side))
    least = max(1, int(_LEAST_PART * min(len(theirs), len(mine))))
    middle = len(mine) // 2
    end_ns = side.end_ns(middle)
    near = sorted(range(len(theirs)), key=lambda number: abs(first.end_ns(number) - end_ns))[: 2 * _NEAREST]
    for steps in dict.fromkeys([0, *(number - middle for number in near)]):
        begin, end = max(steps, 0), min(len(theirs), len(mine) + steps)
        if end - begin >= least and theirs[begin:end] == mine[begin - steps : end - steps]:
            together = [number for number in range(begin, end) if is_together(theirs[number][0])]
            numbers = together or range(begin, end)
            ahead = [side.end_ns(number - steps) - first.end_ns(number) for number in numbers]
            yield _Way(steps, median_of([abs(each) for each in ahead]), ahead, bool(together))


def _is_possible(first: Side, side: Side, steps: int) -> bool:
    """Whether, on one clock, no rank ends before another has begun what it cannot end without it."""
    begin, end = max(steps, 0), min(len(first), len(side) + steps)
    for number in range(begin, end):
        other = number - steps
        if is_together(first.kind(number)[0]):
            if first.end_ns(number) < side.start_ns(other) or side.end_ns(other) < first.start_ns(number):
                return False
        elif first.kind(number)[0] == "send" and not _is_received_after_it_began(first, number, side, other):
            return False
    return True


def _is_received_after_it_began(one: Side, number: int, other: Side, other_number: int) -> bool:
    what = one.communications.kinds[one.communications.what[one.places[number]]]
    if what.name == "send":
        return other.end_ns(other_number) >= one.start_ns(number)
    return one.end_ns(number) >= other.start_ns(other_number)

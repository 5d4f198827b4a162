"""What each rank waited for in its collectives: from the start of its kernel to the start of the last rank's."""

from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kinetoscope_core.analysis.ranks.facts import Communications, RankFacts
from kinetoscope_core.analysis.ranks.matching import Match, Peers, Side, by_peers, matched
from kinetoscope_core.results.communication import Collectives


@dataclass(frozen=True, slots=True)
class Clock:
    """By how much a rank's clock is ahead of another's, and within what that is known."""

    ahead_ns: int
    uncertain_ns: int


@dataclass(slots=True)
class Waiting:
    """What the ranks of a job waited, by rank and recording.

    `waiting_ns` goes with the rank's `Communications`, -1 where it has no match; `last` has the rank that came last.
    `clocks` has the ranks whose clock is not that of the first rank. `missing` are ranks that communicated and of which
    there is no recording. `unclear` counts the sets of peers of which it is not certain which collective is which, and
    `unnamed` the collectives that name no group or no peer.
    """

    waiting_ns: dict[int, list["array[int]"]] = field(default_factory=dict[int, "list[array[int]]"])
    last: dict[int, list["array[int]"]] = field(default_factory=dict[int, "list[array[int]]"])
    clocks: dict[int, Clock] = field(default_factory=dict[int, Clock])
    missing: set[int] = field(default_factory=set[int])
    unclear: int = 0
    unnamed: int = 0


def waiting_of(ranks: Sequence[RankFacts]) -> Waiting:
    """What the ranks waited; each has as many recordings, which are of the same time on all ranks."""
    found = Waiting()
    for facts in ranks:
        rank = facts.place.rank
        found.waiting_ns[rank] = [array("q", [-1]) * len(each) for each in facts.communications]
        found.last[rank] = [array("q", [-1]) * len(each) for each in facts.communications]
    for number in range(len(ranks[0].communications)):
        _add_recordings(ranks, number, found)
    return found


def _add_recordings(ranks: Sequence[RankFacts], number: int, found: Waiting) -> None:
    hosts = {facts.place.rank: facts.place.host for facts in ranks}
    sides: defaultdict[Peers, list[Side]] = defaultdict(list)
    for facts in ranks:
        communications = facts.communications[number]
        of_rank = by_peers(facts.place.rank, communications, facts.place.groups)
        found.unnamed += len(communications) - sum(map(len, of_rank.values()))
        for peers, places in of_rank.items():
            sides[peers].append(Side(facts.place.rank, communications, places))
    same_clock: set[frozenset[int]] = set()
    # Groups first: they tell which ranks have one clock, which is asked of what is sent from one to another.
    for peers in sorted(sides, key=lambda peers: peers.sender >= 0):
        present = sides[peers]
        absent = set(peers.members) - hosts.keys()
        found.missing |= absent
        if absent or len(present) < len(set(peers.members)):
            found.unclear += not absent
            continue
        match = matched(present, is_one_clock=_is_one_clock(present, hosts, same_clock))
        if match is None:
            found.unclear += 1
            continue
        first = match.sides[0].rank
        for side, offset in zip(match.sides[1:], match.offsets[1:], strict=True):
            if offset.uncertain_ns is None:
                same_clock.add(frozenset((first, side.rank)))
            elif first == min(hosts):
                found.clocks.setdefault(side.rank, Clock(offset.clock_ns, offset.uncertain_ns))
        _add(match, number, found)


def _is_one_clock(
    sides: Sequence[Side], hosts: Mapping[int, str | None], same_clock: set[frozenset[int]]
) -> bool | None:
    """Whether these ranks have one clock, as far as that is known before their ends are compared."""
    names = {hosts[side.rank] for side in sides}
    if None not in names:
        return len(names) == 1
    return True if all(frozenset((sides[0].rank, each.rank)) in same_clock for each in sides[1:]) else None


def _add(match: Match, number: int, found: Waiting) -> None:
    for at in range(match.begin, match.end):
        starts: list[tuple[int, int]] = []
        for side, offset in zip(match.sides, match.offsets, strict=True):
            starts.append((side.start_ns(at - offset.steps) - offset.clock_ns, side.rank))
        last_ns, last = max(starts)
        for side, offset, (start_ns, _) in zip(match.sides, match.offsets, starts, strict=True):
            place = side.places[at - offset.steps]
            waiting_ns = min(last_ns - start_ns, side.communications.duration_ns[place])
            found.waiting_ns[side.rank][number][place] = waiting_ns
            found.last[side.rank][number][place] = last


def summed(
    communications: Sequence[Communications],
    waiting_ns: Sequence["array[int]"],
    wanted: Iterator[tuple[int, int]] | None = None,
) -> Collectives | None:
    """The sums over the collectives of a rank, or the wanted ones, as (recording, place); `None` without any."""
    if wanted is None:
        wanted = ((number, place) for number, each in enumerate(communications) for place in range(len(each)))
    count = matches = total_ns = waited_ns = unmatched_ns = exposed_ns = exposed_waiting_ns = 0
    for number, place in wanted:
        each, waits_ns = communications[number], waiting_ns[number][place]
        ns = each.duration_ns[place]
        count += 1
        total_ns += ns
        exposed_ns += each.exposed_ns(place)
        if waits_ns < 0:
            unmatched_ns += ns
            continue
        matches += 1
        waited_ns += waits_ns
        exposed_waiting_ns += each.exposed_ns(place, each.start_ns[place] + waits_ns)
    if not count:
        return None
    return Collectives(
        count=count,
        matched=matches,
        total_ns=total_ns,
        waiting_ns=waited_ns if matches else None,
        transfer_ns=total_ns - unmatched_ns - waited_ns if matches else None,
        unmatched_ns=unmatched_ns,
        exposed_ns=exposed_ns,
        exposed_waiting_ns=exposed_waiting_ns if matches else None,
    )

"""Which region of a text now is which region of the text that was measured."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from math import inf
from typing import Final, Protocol

from kinetoscope_core.source.regions import Kind, NamePattern


class Traits(Protocol):
    """What regions are recognised by. A fingerprint has it."""

    @property
    def pattern(self) -> NamePattern: ...
    @property
    def kind(self) -> Kind: ...
    @property
    def path(self) -> str: ...
    @property
    def own(self) -> str: ...
    @property
    def function(self) -> str: ...
    @property
    def above(self) -> str: ...
    @property
    def below(self) -> str: ...


Key = Callable[[Traits], Hashable]

# From the surest to the faintest. Where regions are alike, the code above or below tells them apart, as one edit
# leaves one of the two as it was. What the user calls a region counts for more than what is in it.
_KEYS: Final[tuple[Key, ...]] = (
    lambda t: (t.pattern.parts, t.kind, t.path, t.own, t.function, t.above),
    lambda t: (t.pattern.parts, t.kind, t.path, t.own, t.function),
    lambda t: (t.pattern.parts, t.kind, t.path, t.own, t.above),
    lambda t: (t.pattern.parts, t.kind, t.path, t.own, t.below),
    lambda t: (t.pattern.parts, t.kind, t.path, t.own),
    # The function was moved into or out of a class or a function.
    lambda t: (t.pattern.parts, t.kind, t.own, t.function, t.above),
    # Its own code changed.
    lambda t: (t.pattern.parts, t.kind, t.path, t.above),
    lambda t: (t.pattern.parts, t.kind, t.path, t.below),
    lambda t: (t.pattern.parts, t.kind, t.path),
    # It was renamed.
    lambda t: (t.kind, t.path, t.own, t.function, t.above),
    lambda t: (t.kind, t.path, t.own, t.above),
    lambda t: (t.kind, t.path, t.own, t.below),
    lambda t: (t.kind, t.path, t.own),
    # It was moved to another function, or its function was renamed.
    lambda t: (t.pattern.parts, t.kind, t.own),
    # It was renamed and rewritten where it stood, nothing else of its function was.
    lambda t: (t.kind, t.path, t.above, t.below),
    # It is entered in another way than before.
    lambda t: (t.pattern.parts, t.path),
)
_SMALL_ENOUGH: Final = 40_000


class Matching:
    """Pairs of measured and present regions, each in one pair at most; by index."""

    __slots__ = ("_lines", "_old_lines", "pairs")

    def __init__(self, old_lines: Sequence[int], lines: Sequence[int]) -> None:
        self.pairs: dict[int, int] = {}
        self._old_lines = old_lines
        self._lines = lines

    def pair_by(
        self, old: Mapping[Hashable, Sequence[int]], new: Iterable[tuple[int, Hashable]], *, only_unique: bool = False
    ) -> None:
        """Pair those with equal keys, in the order in which they stand; `old` by their keys."""
        groups: dict[Hashable, list[int]] = {}
        for index, key in new:
            if key in old:
                groups.setdefault(key, []).append(index)
        # Those that are clear first: they tell how far the others around them have moved.
        uneven: list[tuple[Sequence[int], Sequence[int]]] = []
        for key, news in groups.items():
            olds = old[key]
            if len(olds) == len(news) and (len(olds) == 1 or not only_unique):
                self.pairs.update(zip(olds, news, strict=True))
            elif not only_unique:
                uneven.append((olds, news))
        for olds, news in sorted(uneven):
            self.pairs.update(self._nearest(olds, news))

    def _nearest(self, olds: Sequence[int], news: Sequence[int]) -> list[tuple[int, int]]:
        """As many pairs as there can be, in order, with the least distance from where each is expected."""
        if len(olds) * len(news) > _SMALL_ENOUGH:
            return list(zip(olds, news, strict=False))
        expected = [self._expected_line(index) for index in olds]
        is_swapped = len(olds) > len(news)
        places = [self._lines[index] for index in news]
        few, many = (places, expected) if is_swapped else (expected, places)
        chosen = _in_order(few, many)
        if is_swapped:
            return [(olds[at], news[index]) for index, at in enumerate(chosen)]
        return [(olds[index], news[at]) for index, at in enumerate(chosen)]

    def _expected_line(self, old: int) -> int:
        """Where a region would stand if it had moved as the nearest one above it that is known."""
        for index in range(old - 1, -1, -1):
            if index in self.pairs:
                return self._old_lines[old] + self._lines[self.pairs[index]] - self._old_lines[index]
        return self._old_lines[old]


def match_traits(matching: Matching, old: Mapping[int, Traits], new: Mapping[int, Traits]) -> None:
    """Pair those that are not paired yet, by less and less."""
    for key in _KEYS:
        _pair_by(matching, old, new, key)
        taken = set(matching.pairs.values())
        old = {index: traits for index, traits in old.items() if index not in matching.pairs}
        new = {index: traits for index, traits in new.items() if index not in taken}
        if not old or not new:
            return
    # Renamed function, changed code: only the name is left, which must then be a name, and no other's.
    named = {index: traits for index, traits in old.items() if traits.pattern.literal_length}
    _pair_by(matching, named, new, lambda t: (t.pattern.parts, t.kind), only_unique=True)


def _pair_by(
    matching: Matching, old: Mapping[int, Traits], new: Mapping[int, Traits], key: Key, *, only_unique: bool = False
) -> None:
    olds, news = ([(index, key(traits)) for index, traits in side.items()] for side in (old, new))
    matching.pair_by(grouped(olds), news, only_unique=only_unique)


def grouped(keys: Iterable[tuple[int, Hashable]]) -> dict[Hashable, list[int]]:
    """The indices of each key."""
    groups: dict[Hashable, list[int]] = {}
    for index, key in keys:
        groups.setdefault(key, []).append(index)
    return groups


def _in_order(few: Sequence[int], many: Sequence[int]) -> list[int]:
    """For each of the few the index of one of the many, rising, with the least sum of distances.

    Of equals the first.
    """
    # cost[i][j]: the least for the first i of the few among the first j of the many.
    cost: list[list[float]] = [[0.0] * (len(many) + 1)]
    for i, place in enumerate(few):
        row = [inf] * (len(many) + 1)
        for j, other in enumerate(many):
            row[j + 1] = min(row[j], cost[i][j] + abs(place - other))
        cost.append(row)
    chosen: list[int] = []
    j = len(many)
    for i in range(len(few), 0, -1):
        while cost[i][j - 1] == cost[i][j]:
            j -= 1
        chosen.append(j - 1)
        j -= 1
    return chosen[::-1]

"""Where each measured region is now, and whether its times are still those of the code that stands there."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from kinetoscope_core.source.placement.digests import Code
from kinetoscope_core.source.placement.fingerprints import Fingerprint, file_digest
from kinetoscope_core.source.placement.match import Matching, grouped, match_traits
from kinetoscope_core.source.placement.outline import Outline
from kinetoscope_core.source.regions import Kind, NamePattern, Region, SourceRegions

Stale = Literal["own code changed", "renamed", "function changed"]
"""Why times are no longer those of the code; where several hold, the first of these."""


@dataclass(frozen=True, slots=True)
class Placement:
    """A measured region and the region that it is now; `None` if it is gone."""

    fingerprint: Fingerprint
    region: Region | None
    stale_because: Stale | None

    @property
    def is_stale(self) -> bool:
        """Whether it is still there, but not as it was measured."""
        return self.stale_because is not None

    @property
    def is_gone(self) -> bool:
        """Whether it is no longer there."""
        return self.region is None


class Placer:
    """Places the regions of one measured text in one document, again after each edit.

    The answer depends on the text alone, never on the edits that led to it. What was found out about parts of the text
    is kept for the next call, which costs little where they did not change; benchmarks/placing.py measures it.
    """

    __slots__ = ("_last", "_lines", "_whole", "fingerprints")

    def __init__(self, fingerprints: Iterable[Fingerprint]) -> None:
        self.fingerprints = tuple(fingerprints)
        self._whole = grouped(
            (index, (each.block, each.block_row, each.pattern.parts, each.kind, each.path))
            for index, each in enumerate(self.fingerprints)
            if each.block
        )
        self._lines = {each.name: None for each in self.fingerprints if each.kind == "statement"}
        self._last: tuple[bytes, list[Placement]] | None = None

    def place(self, source: SourceRegions | str | bytes) -> list[Placement]:
        """A placement for each fingerprint, in their order. No two have the same region."""
        source = source if isinstance(source, SourceRegions) else SourceRegions(source)
        if self._last is None or self._last[0] != source.data:
            self._last = source.data, self._placed(source)
        return list(self._last[1])

    def _statements_like_ours(self, source: SourceRegions) -> Iterator[Region]:
        """The lines that one of ours may be that the source tells nothing of: those that read the same."""
        for text in self._lines:
            yield from source.statements_reading(text)

    def _placed(self, source: SourceRegions) -> list[Placement]:
        regions = [*source.regions, *self._statements_like_ours(source)]
        if not self.fingerprints or not regions:
            return [Placement(each, None, None) for each in self.fingerprints]
        if self._is_the_measured_text(source.data, regions):
            return [Placement(each, region, None) for each, region in zip(self.fingerprints, regions, strict=True)]
        return self._matched(Outline(source), regions)

    def _is_the_measured_text(self, data: bytes, regions: Sequence[Region]) -> bool:
        first = self.fingerprints[0]
        return (
            len(data) == first.file_bytes
            and len(regions) == len(self.fingerprints)
            and all(
                each.file == first.file and _is_alike(each, region)
                for each, region in zip(self.fingerprints, regions, strict=True)
            )
            and file_digest(data) == first.file
        )

    def _matched(self, outline: Outline, regions: Sequence[Region]) -> list[Placement]:
        matching = Matching([each.line for each in self.fingerprints], [region.line for region in regions])
        # Where all the text of a function is what it was, nothing more needs to be known of it.
        whole = (
            (index, (*outline.whereabouts(region), region.pattern.parts, region.kind, region.path))
            for index, region in enumerate(regions)
        )
        matching.pair_by(self._whole, whole)
        unchanged = dict(matching.pairs)
        taken = set(unchanged.values())
        rest = [index for index in range(len(self.fingerprints)) if index not in unchanged]
        codes: dict[int, Code] = {}
        if rest:
            codes = outline.codes(regions, [index for index in range(len(regions)) if index not in taken])
            match_traits(
                matching,
                {index: self.fingerprints[index] for index in rest},
                {index: _traits(regions[index], code) for index, code in codes.items()},
            )
        found = [
            self._found(index, matching.pairs.get(index), regions, codes) for index in range(len(self.fingerprints))
        ]
        if self._last is None:
            return [Placement(each, *where) for each, where in zip(self.fingerprints, found, strict=True)]
        # Most are what they were before an edit.
        return [
            last if last.region is where[0] and last.stale_because == where[1] else Placement(last.fingerprint, *where)
            for last, where in zip(self._last[1], found, strict=True)
        ]

    def _found(
        self, index: int, found: int | None, regions: Sequence[Region], codes: Mapping[int, Code]
    ) -> tuple[Region | None, Stale | None]:
        if found is None:
            return None, None
        code = codes.get(found)
        return regions[found], None if code is None else _stale(self.fingerprints[index], regions[found], code)


def matched(old: Sequence[Fingerprint], new: Sequence[Fingerprint]) -> dict[int, int]:
    """Which regions of one measured text are which of another, by their places in both."""
    matching = Matching([each.line for each in old], [each.line for each in new])
    match_traits(matching, dict(enumerate(old)), dict(enumerate(new)))
    return matching.pairs


class _Traits(NamedTuple):
    """What `match_traits` looks at, of a region of the text."""

    pattern: NamePattern
    kind: Kind
    path: str
    own: str
    function: str
    above: str
    below: str


def _traits(region: Region, code: Code) -> _Traits:
    return _Traits(region.pattern, region.kind, region.path, code.own, code.function, code.above, code.below)


def _is_alike(each: Fingerprint, region: Region) -> bool:
    return (each.pattern, each.kind, each.path, each.line) == (region.pattern, region.kind, region.path, region.line)


def _stale(each: Fingerprint, region: Region, code: Code) -> Stale | None:
    if each.own != code.own or each.kind != region.kind:
        return "own code changed"
    if each.pattern != region.pattern:
        return "renamed"
    return "function changed" if each.function != code.function else None

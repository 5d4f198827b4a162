"""What the code of each region of a text is. What was found out is kept with its pieces, which never change."""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from hashlib import blake2b
from itertools import accumulate

from kinetoscope_core.source.placement.digests import Call, Code, RegionRows, digest_of, digests, run_by, without_calls
from kinetoscope_core.source.regions import Range, Region, SourceRegions
from kinetoscope_core.source.syntax.tree import Chunk

_Calls = dict[int, list[Range]]


class Outline:
    """The pieces of a source text as it now is, asked for the code of regions."""

    __slots__ = ("_pieces", "_rows")

    def __init__(self, source: SourceRegions) -> None:
        self._pieces = source.pieces
        self._rows = list(accumulate((piece.rows for piece in self._pieces), initial=0))[:-1]

    def whereabouts(self, region: Region) -> tuple[str, int]:
        """The digest of all text of the region's piece, and the region's row in it."""
        row = region.statement_line - 1
        at = self._at_row(row)
        piece = self._pieces[at]
        return piece.once("digest", lambda: digest_of(_text_of(piece))), row - self._rows[at]

    def codes(self, regions: Sequence[Region], wanted: Collection[int]) -> dict[int, Code]:
        """The code of the wanted ones of all the text's regions, by index."""
        at_piece = [self._at_row(region.statement_line - 1) for region in regions]
        members: dict[int, list[int]] = {at_piece[index]: [] for index in sorted(wanted)}
        for index, at in enumerate(at_piece):
            if at in members:
                members[at].append(index)
        calls = self._calls(regions)
        found: dict[int, Code] = {}
        for at, inside in members.items():
            spots = tuple(_spot(regions[index], self._rows[at]) for index in inside)
            found.update(zip(inside, _codes(self._pieces[at], self._calls_in(at, calls), spots), strict=True))
        codes = {index: found[index] for index in wanted}
        self._add_what_ran_before(codes, at_piece, calls)
        return codes

    def _at_row(self, row: int) -> int:
        return bisect_right(self._rows, row) - 1

    def _calls(self, regions: Iterable[Region]) -> _Calls:
        calls: _Calls = {}
        for region in regions:
            if region.kind != "statement":  # its line is what it is recognised by
                call = region.call
                calls.setdefault(self._at_row(call.start.row), []).append(call)
        return calls

    def _calls_in(self, at: int, calls: _Calls) -> tuple[Call, ...]:
        return tuple(sorted({_moved(call, -self._rows[at]) for call in calls.get(at, ())}))

    def _add_what_ran_before(self, codes: dict[int, Code], at_piece: Sequence[int], calls: _Calls) -> None:
        """For regions outside functions: the top-level statements before theirs, but for imports and definitions.

        Those after it have no part in its times, functions are not part of any caller's code either, and an import
        more or less is what an editor adds by itself.
        """
        places: dict[int, list[int]] = {}
        for index, code in codes.items():
            if code.before is not None:
                places.setdefault(at_piece[index], []).append(index)
        run = blake2b(digest_size=8)
        done = 0
        for place in sorted(places):
            for at in range(done, place):
                run.update(_run_by(self._pieces[at], self._calls_in(at, calls)))
            done = place
            for index in places[place]:
                code = codes[index]
                before = run.copy()
                before.update(code.before or b"")
                context = before.digest()
                function, above = (digest_of(context, part.encode()) for part in (code.function, code.above))
                codes[index] = code._replace(function=function, above=above)


def _spot(region: Region, first_row: int) -> RegionRows:
    end = None if region.body is None else (region.body.end.row - first_row, region.body.end.column)
    return RegionRows(region.statement_line - 1 - first_row, end, region.decorates is not None)


def _codes(piece: Chunk, calls: tuple[Call, ...], spots: tuple[RegionRows, ...]) -> list[Code]:
    return piece.once(("codes", calls, spots), lambda: digests(without_calls(_text_of(piece), calls), spots))


def _run_by(piece: Chunk, calls: tuple[Call, ...]) -> bytes:
    return piece.once(("run by", calls), lambda: run_by(without_calls(_text_of(piece), calls)))


def _text_of(piece: Chunk) -> bytes:
    return piece.data.replace(b"\r\n", b"\n")


def _moved(place: Range, rows: int) -> Call:
    (row, column), (end_row, end_column) = place
    return (row + rows, column), (end_row + rows, end_column)

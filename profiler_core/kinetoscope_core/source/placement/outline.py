"""What the code of each region of a text is, found again after an edit only where the text changed."""

from collections.abc import Collection, Iterable, Sequence
from hashlib import blake2b

from kinetoscope_core.source.placement.cut_text import CutText
from kinetoscope_core.source.placement.digests import Code, Spot, code_digest, digest_of, digests, without_calls
from kinetoscope_core.source.regions import Range, Region
from kinetoscope_core.source.syntax.tree import with_line_feeds

_Calls = dict[int, list[Range]]


class Outline:
    """A source text and what was found out about its blocks."""

    __slots__ = ("_cut", "_known")

    def __init__(self, data: bytes) -> None:
        self._cut = CutText(_normal(data))
        self._known: dict[tuple[bytes, tuple[Spot, ...]], list[Code]] = {}

    def update(self, data: bytes) -> None:
        """Take the text as it now is."""
        self._cut.update(_normal(data))

    def whereabouts(self, region: Region) -> tuple[str, int]:
        """The digest of all text of the region's block, and the region's row in it."""
        row = region.statement_line - 1
        at = self._cut.at_row(row)
        block = self._cut.blocks[at]
        if block.digest is None:
            block.digest = digest_of(block.data)
        return block.digest, row - self._cut.rows[at]

    def codes(self, regions: Sequence[Region], wanted: Collection[int]) -> dict[int, Code]:
        """The code of the wanted ones of all the text's regions, by index."""
        at_block = [self._cut.at_row(region.statement_line - 1) for region in regions]
        blocks = sorted({at_block[index] for index in wanted})
        members: dict[int, list[int]] = {block: [] for block in blocks}
        for index, block in enumerate(at_block):
            if block in members:
                members[block].append(index)
        calls = self._calls(regions)
        known: dict[tuple[bytes, tuple[Spot, ...]], list[Code]] = {}
        found: dict[int, Code] = {}
        for block in blocks:
            text = self._text_of(block, calls)
            spots = tuple(self._spot(regions[index], self._cut.rows[block]) for index in members[block])
            codes = known[text, spots] = self._known.get((text, spots)) or digests(text, spots)
            found.update(zip(members[block], codes, strict=True))
        self._known = known
        self._add_what_ran_before(found, at_block, calls)
        return {index: found[index] for index in wanted}

    def _calls(self, regions: Iterable[Region]) -> _Calls:
        calls: _Calls = {}
        for region in regions:
            if region.kind == "statement":  # its line is what it is recognised by
                continue
            calls.setdefault(self._cut.at_row(region.call.start.row), []).append(region.call)
        return calls

    def _text_of(self, at: int, calls: _Calls) -> bytes:
        block = self._cut.blocks[at]
        inside = sorted({_moved(call, -self._cut.rows[at]) for call in calls.get(at, ())})
        if block.without_calls is None or block.without_calls[0] != inside:
            block.without_calls = inside, without_calls(block.data, inside)
        return block.without_calls[1]

    def _spot(self, region: Region, first_row: int) -> Spot:
        end = None if region.body is None else (region.body.end.row - first_row, region.body.end.column)
        return Spot(region.statement_line - 1 - first_row, end, region.decorates is not None)

    def _add_what_ran_before(self, codes: dict[int, Code], at_block: Sequence[int], calls: _Calls) -> None:
        """For regions outside functions: the top-level statements before theirs, but for imports and definitions.

        Those after it have no part in its times, functions are not part of any caller's code either, and an import
        more or less is what an editor adds by itself.
        """
        places: dict[int, list[int]] = {}
        for index, code in codes.items():
            if code.is_module_level:
                places.setdefault(at_block[index], []).append(index)
        before = blake2b(digest_size=8)
        done = 0
        for place in sorted(places):
            for at in range(done, place):
                before.update(self._code_of(at, calls))
            done = place
            context = before.digest()
            for index in places[place]:
                code = codes[index]
                function, above = (digest_of(context, part.encode()) for part in (code.function, code.above))
                codes[index] = code._replace(function=function, above=above)

    def _code_of(self, at: int, calls: _Calls) -> bytes:
        block = self._cut.blocks[at]
        if block.code is not None and (at not in calls or block.code[0] is self._text_of(at, calls)):
            return block.code[1]
        text = self._text_of(at, calls)
        block.code = text, b"" if block.is_definition or block.is_import else code_digest(text)
        return block.code[1]


def _normal(data: bytes) -> bytes:
    return with_line_feeds(data).replace(b"\r\n", b"\n") if b"\r" in data else data


def _moved(place: Range, rows: int) -> tuple[tuple[int, int], tuple[int, int]]:
    (row, column), (end_row, end_column) = place
    return (row + rows, column), (end_row + rows, end_column)

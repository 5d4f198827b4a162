"""A source text under edits, and its regions after each.

What an edit costs does not depend on the length of the file but for copying its bytes and counting its lines: pieces
that did not change are neither cut, parsed nor searched again. benchmarks/regions.py measures it.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from kinetoscope_core.source.regions.finder import Finder
from kinetoscope_core.source.regions.region import Region
from kinetoscope_core.source.regions.statements import statement_at
from kinetoscope_core.source.syntax.bindings import Site
from kinetoscope_core.source.syntax.chunks import Border, Inside, borders, pieces_of
from kinetoscope_core.source.syntax.positions import (
    Encoding,
    Position,
    Range,
    byte_column,
    encoded,
    line_starts,
    units_before,
    without_line_end,
)
from kinetoscope_core.source.syntax.strings_and_comments import strings_and_comments
from kinetoscope_core.source.syntax.tree import Change, Chunk, with_line_feeds


@dataclass(frozen=True, slots=True)
class Edit:
    """`text` in place of the bytes from offset `start` up to `end`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class LineEdit:
    """`text` in place of what stands from `start` up to `end`, each a line and a column from 0, as in LSP."""

    start: tuple[int, int]
    end: tuple[int, int]
    text: str


class SourceRegions:
    """A Python source text and its regions.

    Takes any text, also broken or meaningless, and never raises for it. Bytes are taken as UTF-8; those that are not
    are each a character that no name holds. A lone surrogate is three bytes (see `encoded`).
    """

    __slots__ = ("_data", "_finder", "_lines", "_regions", "_starts", "_text")

    def __init__(self, source: str | bytes) -> None:
        self._data = encoded(source) if isinstance(source, str) else bytes(source)
        # The same bytes with \n for lone \r, so that tree-sitter sees the lines that editors see.
        self._text = with_line_feeds(self._data)
        self._lines = line_starts(self._data)
        cuts = [Border(0, None), *borders(self._text, 0)]
        self._starts = [cut.offset for cut in cuts]
        pieces = pieces_of(self._text, cuts, len(self._text))
        self._finder = Finder(Chunk(*piece) for piece in pieces)
        self._regions: Sequence[Region] | None = None

    @property
    def data(self) -> bytes:
        """The text as it now is, in UTF-8."""
        return self._data

    @property
    def regions(self) -> list[Region]:
        """The regions of the text as it now is, in the order in which they are entered in it."""
        if self._regions is None:
            self._regions = self._finder.regions()
        return list(self._regions)

    @property
    def pieces(self) -> Sequence[Chunk]:
        """The pieces of the text that parse alone, in their order; one that did not change is the same as before."""
        return self._finder.chunks

    def origins(self, node: Node, site: Site) -> set[str]:
        """The dotted names of other modules that an expression of one of the pieces can stand for."""
        return self._finder.origins(node, site)

    def statement_at(self, row: int) -> Region | None:
        """The statement whose head holds a row (from 0), as a region of kind "statement"; `None` if there is none."""
        if not 0 <= row < len(self._lines):
            return None
        at = bisect_right(self._starts, self._lines[row]) - 1
        first = self.position(self._starts[at]).row
        shape = statement_at(self._finder.chunks[at], row - first)
        return None if shape is None else Region(shape, first, first)

    def statements_reading(self, text: str) -> list[Region]:
        """The statements at all lines that read so but for their indent, from the first."""
        wanted = text.encode("utf-8", "replace")
        found: list[Region] = []
        at = self._data.find(wanted)
        while wanted and at >= 0:
            row = self.position(at).row
            region = self.statement_at(row) if self.line(row).strip() == wanted else None
            if region is not None:
                found.append(region)
            if row + 1 == len(self._lines):
                break
            at = self._data.find(wanted, self._lines[row + 1])
        return found

    def apply(self, edits: Iterable[Edit | LineEdit], encoding: Encoding = "utf-16") -> None:
        """Change the text: one edit after the other, each in places of the text that the one before it left.

        `encoding` is the unit of the columns of `LineEdit`. Places outside the text are moved to its nearest place,
        places inside a character to that character's start.
        """
        for edit in edits:
            if isinstance(edit, Edit):
                start, end = self._character_start(edit.start), self._character_start(edit.end)
            else:
                start, end = self.offset(*edit.start, encoding), self.offset(*edit.end, encoding)
            self._replace(min(start, end), max(start, end), encoded(edit.text))

    def offset(self, line: int, column: int, encoding: Encoding = "utf-16") -> int:
        """The byte offset of a line and column, both from 0, the column in units of `encoding`."""
        if line < 0:
            return 0
        if line >= len(self._lines):
            return len(self._data)
        return self._lines[line] + byte_column(self._line(line), column, encoding)

    def in_units(self, place: Range, encoding: Encoding = "utf-16") -> tuple[tuple[int, int], tuple[int, int]]:
        """A range of this text as (line, column) from 0, columns in units of `encoding`."""
        start, end = (
            (position.row, units_before(self._line(position.row), position.column, encoding)) for position in place
        )
        return start, end

    def line(self, row: int) -> bytes:
        """The text of a row without its line end; empty beyond the end."""
        return without_line_end(self._line(row)) if 0 <= row < len(self._lines) else b""

    def comment(self, row: int) -> bytes:
        """The comment on a row, from its # on; empty where there is none."""
        line = self.line(row)
        if b"#" not in line:
            return b""
        end = self._lines[row] + len(line)
        start, _ = self._string_or_comment(end)
        return self._data[start:end] if start >= self._lines[row] and self._data[start : start + 1] == b"#" else b""

    def is_code(self, offset: int) -> bool:
        """Whether a byte offset lies neither inside of a string nor of a comment."""
        return self._string_or_comment(offset)[1] <= offset

    def position(self, offset: int) -> Position:
        """The place of a byte offset."""
        row = bisect_right(self._lines, offset) - 1
        return Position(row, offset - self._lines[row])

    def _string_or_comment(self, before: int) -> tuple[int, int]:
        """Where the last one starts that starts before an offset, and where it ends; two offsets below 0 for none."""
        number = bisect_right(self._starts, max(before - 1, 0)) - 1
        piece, first = self._finder.chunks[number], self._starts[number]
        spans = piece.once("strings and comments", lambda: strings_and_comments(piece.data))
        at = bisect_left(spans, (before - first,)) - 1
        return (-1, -1) if at < 0 else (first + spans[at][0], first + spans[at][1])

    def _line(self, row: int) -> bytes:
        end = self._lines[row + 1] if row + 1 < len(self._lines) else len(self._data)
        return self._data[self._lines[row] : end]

    def _character_start(self, offset: int) -> int:
        offset = min(max(offset, 0), len(self._data))
        row = bisect_right(self._lines, offset) - 1
        return self._lines[row] + units_before(self._line(row), offset - self._lines[row], "utf-8")

    def _replace(self, start: int, end: int, new: bytes) -> None:
        old = self._data
        self._data = b"".join((old[:start], new, old[end:]))
        self._regions = None
        self._replace_lines(start, end, start + len(new))
        # A \r counts as a line end of its own or not by the byte after it: with it, the edit begins one byte earlier.
        if old[start - 1 : start] == b"\r":
            start -= 1
            new = b"\r" + new
        text = with_line_feeds(new + self._data[start + len(new) : start + len(new) + 1])[: len(new)]
        self._text = b"".join((self._text[:start], text, self._text[end:]))
        self._replace_chunks(Change(start, end, start + len(new)))

    def _replace_lines(self, start: int, end: int, new_end: int) -> None:
        # From the line with the byte before the edit, as that may be a \r, to the line after the one where it ends.
        first = bisect_right(self._lines, max(start - 1, 0)) - 1
        after = bisect_right(self._lines, end)
        after += after < len(self._lines)
        moved = new_end - end
        stop = self._lines[after] + moved if after < len(self._lines) else len(self._data)
        base = self._lines[first]
        made = [base + at for at in line_starts(self._data[base:stop])]
        if after < len(self._lines):
            made.pop()
        tail = self._lines[after:]
        self._lines[first:] = [*made, *([at + moved for at in tail] if moved else tail)]

    def _replace_chunks(self, change: Change) -> None:
        """Cut again from the piece before the edit until the cuts fall where they fell before."""
        moved = change.new_end - change.old_end
        # The border of the piece with the edit may depend on the edited text, the one before it does not.
        first = max(bisect_right(self._starts, change.start) - 2, 0)
        # From the first old border after the edit, old and new text are the same.
        last = bisect_right(self._starts, change.old_end)
        chunks = self._finder.chunks
        cuts = [Border(self._starts[first], chunks[first].inside)]
        after = len(self._starts)
        for cut in borders(self._text, *cuts[0]):
            at = bisect_right(self._starts, cut.offset - moved) - 1
            if at >= last and self._starts[at] == cut.offset - moved and chunks[at].inside == cut.inside:
                after = at
                break
            cuts.append(cut)
        stop = self._starts[after] + moved if after < len(self._starts) else len(self._text)
        pieces = pieces_of(self._text, cuts, stop)
        starts = [cut.offset for cut in cuts]
        made = _made_again(pieces, starts, chunks[first:after], self._starts[first:after], change)
        tail = self._starts[after:]
        self._starts[first:] = [*starts, *([at + moved for at in tail] if moved else tail)]
        self._finder.replace(first, after, made)


def _made_again(
    pieces: Sequence[tuple[bytes, Inside | None]],
    starts: Sequence[int],
    old: Sequence[Chunk],
    old_starts: Sequence[int],
    change: Change,
) -> list[Chunk]:
    """The chunks of the pieces: old ones where nothing changed, and the tree of the edited one used again."""
    known = {(chunk.data, chunk.inside): chunk for chunk in old}
    edited = bisect_right(old_starts, change.start) - 1
    before, begin = old[edited], old_starts[edited]
    made: list[Chunk] = []
    for piece, start in zip(pieces, starts, strict=True):
        # Taken out: a chunk stands in one place only.
        chunk = known.pop(piece, None)
        if chunk is None:
            data, inside = piece
            is_edited = start == begin and inside == before.inside and change.old_end <= begin + len(before.data)
            is_edited = is_edited and len(data) - len(before.data) == change.new_end - change.old_end
            within = Change(change.start - start, change.old_end - start, change.new_end - start)
            chunk = Chunk(data, inside, (before, within) if is_edited else None)
        made.append(chunk)
    return made


def find_regions(source: str | bytes) -> list[Region]:
    """The regions in a source text, in the order in which they are entered in it.

    Takes broken text and never raises for it; see `SourceRegions` for what counts as text.
    """
    return SourceRegions(source).regions

"""Which whole statements are meant: those of a selection, the one at the cursor, or those of a body.

A stretch is what can be put into a `with` by putting one line above it and indenting its lines.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from tree_sitter import Node

from kinetoscope_core.source.regions.edited_text import SourceRegions
from kinetoscope_core.source.syntax.tree import Chunk, Step, code_children

BLOCKS: Final = frozenset({"block", "module"})
_BOM: Final = b"\xef\xbb\xbf"


class Refusal(NamedTuple):
    """Why something is not done: a sentence for people."""

    reason: str


CUT: Final = Refusal("The selection cuts a statement. Select whole statements of one block.")
INCOMPLETE: Final = Refusal("The code here cannot be read. Complete it first.")
NOTHING: Final = Refusal("There is no statement here.")
_SHARES_A_LINE: Final = Refusal("The body stands on the line of its colon. Put it on lines of its own first.")


class Part(NamedTuple):
    """A part of the text that parses alone. Its nodes' offsets are `shift` less than those in the text."""

    source: SourceRegions
    chunk: Chunk
    shift: int

    def row(self, offset: int) -> int:
        """The row in the text of an offset of a node."""
        return self.source.position(offset + self.shift).row

    def rows(self, node: Node) -> tuple[int, int]:
        """The first row of a node and the last one with code of it."""
        last = self.row(node.end_byte - 1)
        while is_empty(self.source, last):
            last -= 1
        return self.row(node.start_byte), last

    def way_to_row(self, row: int) -> tuple[Step, ...]:
        """The way to the first character of a row."""
        start = self.source.offset(row, indent_span(self.source.line(row))[1], "utf-8") - self.shift
        return self.chunk.way_to(start, start + 1)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Whole statements of one block, which stand on lines of their own, with the comments that go with them.

    `first` and `last` are rows, `indent` is what stands before the statements.
    """

    part: Part
    block: Node
    statements: Sequence[Node]
    first: int
    last: int
    indent: bytes

    @property
    def start(self) -> int:
        """The offset of the first statement in the text."""
        return self.statements[0].start_byte + self.part.shift


def row_start(source: SourceRegions, row: int) -> int:
    """The offset at which a row starts, behind the mark of an encoding."""
    return len(_BOM) if row == 0 and source.data.startswith(_BOM) else source.offset(row, 0, "utf-8")


def is_empty(source: SourceRegions, row: int) -> bool:
    """Whether a row has no code: it is blank, or a comment."""
    line = source.line(row).strip()
    return not line or (line.startswith(b"#") and source.comment(row).strip() == line)


def is_first(source: SourceRegions, row: int) -> bool:
    """Whether there is no code above a row."""
    return all(is_empty(source, above) for above in range(row - 1, -1, -1))


def width(line: bytes) -> int:
    """The column at which a line begins, with tabs of 8."""
    return len(indent_of(line).expandtabs(8))


def indent_of(line: bytes) -> bytes:
    """The indent of a line."""
    start, end = indent_span(line)
    return line[start:end]


def indent_span(line: bytes) -> tuple[int, int]:
    """Where the indent of a line starts and ends. A form feed begins it anew, and so does the mark of an encoding."""
    mark = len(_BOM) if line.startswith(_BOM) else 0
    end = len(line) - len(line[mark:].lstrip(b" \t\f"))
    return max(mark, line.rfind(b"\f", 0, end) + 1), end


def part_at(source: SourceRegions, first: int, last: int) -> Part | None:
    """The part with these rows: the piece that holds them, else all pieces from the class or statement at column 0."""
    start, stop = source.offset(first, 0, "utf-8"), source.offset(last, len(source.line(last)), "utf-8")
    pieces = source.pieces
    begins: list[int] = [0]
    for piece in pieces:
        begins.append(begins[-1] + len(piece.data))
    begin = max(index for index in range(len(pieces)) if begins[index] <= start)
    end = begin + 1
    if stop <= begins[end]:
        chunk = pieces[begin]
    else:
        while pieces[begin].inside:
            begin -= 1
        while end < len(pieces) and (begins[end] < stop or pieces[end].inside):
            end += 1
        chunk = Chunk(b"".join(piece.data for piece in pieces[begin:end]))
    return Part(source, chunk, begins[begin] - chunk.head_bytes) if chunk.is_sound else None


def selected(source: SourceRegions, first: int, last: int) -> Stretch | Refusal:
    """The statements on these rows; with a single row, the innermost one there that has its lines for itself."""
    code, end = first, last
    while code < end and is_empty(source, end):
        end -= 1
    while code < end and is_empty(source, code):
        code += 1
    if is_empty(source, code):
        return NOTHING
    part = part_at(source, code, end)
    if part is None:
        return INCOMPLETE
    return _around(part, code) if first == last else _between(part, (code, end), (first, last))


def _around(part: Part, row: int) -> Stretch | Refusal:
    way = part.way_to_row(row)
    for at in range(len(way) - 1, 0, -1):
        block, node = way[at - 1].node, way[at].node
        if block.type in BLOCKS and node.type != "comment" and node.start_byte >= part.chunk.head_bytes:
            first, last = part.rows(node)
            stretch = _made(part, block, (first, last), (first, last))
            if isinstance(stretch, Stretch):
                return stretch
    return NOTHING


def _between(part: Part, code: tuple[int, int], asked: tuple[int, int]) -> Stretch | Refusal:
    ways = zip(part.way_to_row(code[0]), part.way_to_row(code[1]), strict=False)
    shared = [one.node for one, other in ways if one.node == other.node]
    for block in reversed(shared):
        stretch = _made(part, block, code, asked) if block.type in BLOCKS else CUT
        if isinstance(stretch, Stretch):
            return stretch
    return CUT


def _made(part: Part, block: Node, code: tuple[int, int], asked: tuple[int, int]) -> Stretch | Refusal:
    """The statements of the block from one row with code to another, and comments of the rows that are asked for."""
    first, last = code
    statements: list[Node] = []
    for node in code_children(block):
        begins, ends = part.rows(node)
        if first <= begins and ends <= last:
            statements.append(node)
        elif begins <= last and ends >= first:
            return CUT
    if not statements or statements[0].type == "case_clause":
        return CUT
    line, place = part.source.line(first), part.source.position(statements[0].start_byte + part.shift)
    if place != (first, indent_span(line)[1]):
        return CUT
    indent = indent_of(line)
    if block.type != "module" or not is_first(part.source, first):  # else they are those of the file
        first = with_comments_above(part.source, asked[0], first, indent)
    last = _with_comments_below(part.source, last, asked[1], indent)
    return Stretch(part, block, statements, first, last, indent)


def with_comments_above(source: SourceRegions, asked: int, first: int, indent: bytes) -> int:
    """The first row with the comments above it, up to the row that is asked for, that have its indent."""
    for row in range(first - 1, asked - 1, -1):
        line = source.line(row)
        if line.strip() and not (is_empty(source, row) and indent_of(line) == indent):
            break
        first = row if line.strip() else first
    return first


def _with_comments_below(source: SourceRegions, last: int, asked: int, indent: bytes) -> int:
    """Up to the last comment that was selected, or that stands deeper and so looks as if it belonged to the last
    statement.
    """
    wanted = len(indent.expandtabs(8))
    for row in rows_below(source, last):
        column = width(source.line(row))
        if column < wanted or (column == wanted and row > asked):
            break
        last = row
    return last


def rows_below(source: SourceRegions, row: int) -> Iterator[int]:
    """The rows of the comments below a row, up to the next code."""
    row += 1
    while row_start(source, row) < len(source.data) and is_empty(source, row):
        if source.line(row).strip():
            yield row
        row += 1


def body_of(part: Part, owner: Node) -> Stretch | Refusal:
    """The statements of a loop's or a function's body, with all of its comments."""
    body, head = owner.child_by_field_name("body"), last_row_of_head(part, owner)
    statements = [] if body is None else code_children(body)
    if body is None or not statements:
        return INCOMPLETE
    first, code = part.rows(statements[0])[0], part.rows(statements[-1])[1]
    last = code
    if first == head:
        return _SHARES_A_LINE
    indent = len(indent_of(part.source.line(first)).expandtabs(8))
    for row in rows_below(part.source, code):
        if width(part.source.line(row)) < indent:
            break
        last = row
    return _made(part, body, (first, code), (head + 1, last))


def last_row_of_head(part: Part, owner: Node) -> int:
    """The row of the colon before the body."""
    before = owner.child_by_field_name("body")
    while before is not None and before.type != ":":
        before = before.prev_sibling
    return part.row(owner.start_byte if before is None else before.start_byte)

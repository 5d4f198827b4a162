"""The statement at a line, as a region: for lines at which regions are entered in a way that the source does not tell.

A helper of another file enters its region for the line that calls it, and only a run can say so.
"""

from tree_sitter import Node

from kinetoscope_core.source.regions.entries import names_around
from kinetoscope_core.source.regions.name_patterns import NamePattern
from kinetoscope_core.source.regions.region import Shape
from kinetoscope_core.source.syntax.positions import Position, Range
from kinetoscope_core.source.syntax.tree import Chunk

_BLOCKS = frozenset({"block", "module"})


def statement_at(chunk: Chunk, row: int) -> Shape | None:
    """The innermost statement whose head holds the row (from 0 in the chunk); `None` for a row without code.

    It is named by the text of its row, stripped: what it is called when it runs, the source does not say.
    """
    return chunk.once(("statement", row), lambda: _found(chunk, row))


def _found(chunk: Chunk, row: int) -> Shape | None:
    start = chunk.offset_of(row)
    end = chunk.text.find(b"\n", start)
    line = chunk.text[start : len(chunk.text) if end < 0 else end]
    text = line.strip()
    if not text or text.startswith(b"#"):
        return None
    first = start + len(line) - len(line.lstrip())
    way = chunk.way_to(first, first + 1)
    at = next((index for index in range(len(way) - 1, 0, -1) if way[index - 1].node.type in _BLOCKS), None)
    if at is None or way[at].node.type in {"comment", "ERROR"}:
        return _by_indent(chunk, row, first, text)
    statement = way[at].node
    definition = statement.child_by_field_name("definition") or statement
    body = definition.child_by_field_name("body") or definition.child_by_field_name("consequence")
    colon = None if body is None else _colon_before(body)
    head = Range(
        chunk.position(statement.start_point),
        chunk.position(statement.end_point if colon is None else colon.start_point),
    )
    if not head.start.row <= row <= head.end.row:
        return _by_indent(chunk, row, first, text) if statement.has_error else None
    is_function = definition.type == "function_definition"
    return Shape(
        pattern=NamePattern((text.decode("utf-8", "replace"),)),
        kind="statement",
        call=head,
        item=head,
        body=None if body is None or colon is None else chunk.range_of(body),
        line=row + 1,
        statement_line=head.start.row + 1,
        path=".".join([*names_around(chunk, way[: at + 1]), *_own_name(chunk, definition, is_function=is_function)]),
        decorates="plain" if is_function else None,
    )


def _by_indent(chunk: Chunk, row: int, first: int, text: bytes) -> Shape:
    """The same in text that is broken for the moment: the line, and as its body those below that stand deeper."""
    way = chunk.way_to(first, first + 1)
    rows = chunk.data.split(b"\n")
    column = len(rows[row]) - len(rows[row].lstrip())
    last = row
    for number in range(row + 1, len(rows)):
        stripped = rows[number].strip()
        if stripped and len(rows[number]) - len(rows[number].lstrip()) <= column:
            break
        last = number if stripped else last
    line = Range(Position(row, column), Position(row, len(rows[row].rstrip())))
    body = None if last == row else Range(Position(row + 1, 0), Position(last, len(rows[last].rstrip())))
    path = ".".join(names_around(chunk, way))
    return Shape(
        NamePattern((text.decode("utf-8", "replace"),)), "statement", line, line, body, row + 1, row + 1, path, None
    )


def _colon_before(body: Node) -> Node | None:
    before = body.prev_sibling
    while before is not None and before.type == "comment":
        before = before.prev_sibling
    return before if before is not None and before.type == ":" else None


def _own_name(chunk: Chunk, definition: Node, *, is_function: bool) -> list[str]:
    name = definition.child_by_field_name("name") if is_function else None
    return [] if name is None else [chunk.content(name)]

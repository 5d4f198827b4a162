"""Lines one level deeper and back, with what is in strings as it is."""

from collections.abc import Iterator, Sequence
from typing import Final

from tree_sitter import Node

from kinetoscope_core.source.regions.edited_text import Edit, SourceRegions
from kinetoscope_core.source.syntax.tree import code_children
from kinetoscope_core.source.wrapping.stretch import BLOCKS, Stretch, indent_of, indent_span

DEFINITIONS: Final = frozenset({"function_definition", "class_definition", "decorated_definition"})
_DEFAULT: Final = b"    "


def deeper(stretch: Stretch) -> list[Edit]:
    """What puts the lines of a stretch one level deeper."""
    source, step = stretch.part.source, step_of(stretch)
    edits: list[Edit] = []
    for row in _rows_of_code(stretch):
        line = source.line(row)
        column, end = indent_span(line)
        indent = line[column:end]
        # Behind the indent of the block: a tab behind spaces would be another indent than spaces behind a tab.
        column += len(stretch.indent) if indent.startswith(stretch.indent) else 0
        at = source.offset(row, column, "utf-8")
        edits.append(Edit(at, at, step.decode()))
    return edits


def shallower(stretch: Stretch, outer: bytes) -> list[Edit]:
    """What takes the lines of a stretch back to the indent `outer`, as far as they are indented."""
    source = stretch.part.source
    step = stretch.indent[len(outer) :] if stretch.indent.startswith(outer) else b""
    edits: list[Edit] = []
    for row in _rows_of_code(stretch):
        line = source.line(row)
        column, end = indent_span(line)
        indent = line[column:end]
        if indent.startswith(stretch.indent):
            column += len(outer)
        elif not indent.startswith(step):
            continue
        at = source.offset(row, column, "utf-8")
        edits.append(Edit(at, at + len(step), ""))
    return edits


def begins_with_definition(stretch: Stretch) -> bool:
    """Whether its first row is that of a function or a class, above which ruff leaves a blank line."""
    node = stretch.statements[0]
    return node.type in DEFINITIONS and stretch.part.row(node.start_byte) == stretch.first


def step_of(stretch: Stretch) -> bytes:
    """By what one level of the file is deeper than the other: around the stretch, else in it, else anywhere."""
    owner = stretch.block.parent
    if owner is not None:
        outer = b""
        if owner.start_byte >= stretch.part.chunk.head_bytes:
            outer = indent_of(stretch.part.source.line(stretch.part.row(owner.start_byte)))
        if stretch.indent.startswith(outer) and stretch.indent != outer:
            return stretch.indent[len(outer) :]
    inner = next(_steps(stretch.statements, stretch.part.chunk.text), None)
    if inner is not None:
        return inner
    pieces = stretch.part.source.pieces
    return next((step for piece in pieces for step in _steps(piece.statements, piece.text)), _DEFAULT)


def _steps(statements: Sequence[Node], text: bytes) -> Iterator[bytes]:
    """The indents of blocks in statements at column 0."""
    for node in statements:
        body = node.child_by_field_name("body") or node.child_by_field_name("consequence")
        definition = node.child_by_field_name("definition")
        if definition is not None:
            body = definition.child_by_field_name("body")
        inner = code_children(body) if body is not None and body.type in BLOCKS else []
        if inner:
            start = inner[0].start_byte
            indent = text[text.rfind(b"\n", 0, start) + 1 : start]
            if indent and not indent.strip(b" \t"):
                yield indent


def _rows_of_code(stretch: Stretch) -> Iterator[int]:
    """The rows that an indent changes nothing on but the looks: not blank, and not begun inside a string."""
    inside: set[int] = set()
    nodes = list(stretch.statements)
    while nodes:
        node = nodes.pop()
        if node.start_point[0] != node.end_point[0]:
            if node.type == "string":
                start, end = stretch.part.row(node.start_byte), stretch.part.row(node.end_byte - 1)
                inside.update(range(start + 1, end + 1))
            else:
                nodes += node.children
    for row in range(stretch.first, stretch.last + 1):
        if row not in inside and stretch.part.source.line(row).strip():
            yield row


def line_end(source: SourceRegions) -> bytes:
    """The line end of the file."""
    data = source.data
    first = source.offset(1, 0, "utf-8")
    for end in (b"\r\n", b"\n", b"\r"):
        if data[:first].endswith(end):
            return end
    return b"\n"

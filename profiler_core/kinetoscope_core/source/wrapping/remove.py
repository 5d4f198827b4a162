"""Takes a region out of the code again: its `with`, its part of one, or its decorator, and the import with the last."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tree_sitter import Node

from kinetoscope_core.source.regions.edited_text import Edit, SourceRegions
from kinetoscope_core.source.regions.region import Region
from kinetoscope_core.source.syntax.positions import Range
from kinetoscope_core.source.syntax.scopes import mentions
from kinetoscope_core.source.syntax.tree import code_children
from kinetoscope_core.source.wrapping.callee import import_needed_before
from kinetoscope_core.source.wrapping.imports import NAME, applied, unimport_edit
from kinetoscope_core.source.wrapping.indents import begins_with_definition, line_end, shallower
from kinetoscope_core.source.wrapping.stretch import (
    INCOMPLETE,
    Part,
    Refusal,
    body_of,
    indent_of,
    indent_span,
    last_row_of_head,
    part_at,
    row_start,
)

_OURS: Final = re.compile(rb"#\s*kinetoscope:")
_CALLED: Final = re.compile(rb"[\w.]+")
_EXPORTED: Final = re.compile(rb"__all__[^=]*=\s*[\[(][^\])]*")
_STANDS_ELSEWHERE: Final = Refusal("The region is made at another line than it is entered at. Remove both by hand.")
_SETS_A_NAME: Final = Refusal("The region's name sets a variable with := that the code may use.")
_COMMENTED: Final = Refusal("There is a comment inside of the with statement that would be lost.")
_ODD_INDENT: Final = Refusal("The indent of the region mixes tabs and spaces.")


@dataclass(frozen=True, slots=True)
class Removed:
    """A region that can be taken out. `taken_out` are the edits for its statement, the last place first."""

    source: SourceRegions
    region: Region
    taken_out: list[Edit]
    callee: str

    def edits(self) -> list[Edit]:
        """What removes it, and the import if nothing else uses it; the last place of the text first."""
        if not self.callee.isidentifier() or self._is_used_elsewhere():
            return self.taken_out
        row = self.region.statement_line - 1
        start = self.source.offset(row, indent_span(self.source.line(row))[1], "utf-8")
        before = import_needed_before(self.source, start)
        left = SourceRegions(applied(self.source.data, self.taken_out))
        unimport = unimport_edit(left, before, None if self.callee == NAME else self.callee)
        return self.taken_out if unimport is None else [*self.taken_out, unimport]

    def _is_used_elsewhere(self) -> bool:
        name = self.callee.encode()
        if any(name in exported[0] for exported in _EXPORTED.finditer(self.source.data)):
            return True
        used = [mention for piece in self.source.pieces for mention in mentions(piece, name)]
        return sum(not each.is_attribute and each.binding is None and each.alias is None for each in used) > 1


def remove_region(source: SourceRegions, region: Region) -> Removed | Refusal | None:
    """What takes the region out; `None` for one that is entered in another way than by `with` or a decorator."""
    if region.kind not in {"with", "decorator"}:
        return None
    if not (region.item.start <= region.call.start and region.call.end <= region.item.end):
        return _STANDS_ELSEWHERE
    item = slice(_offset(source, region.item), source.offset(*region.item.end, "utf-8"))
    if b":=" in source.data[item]:
        return _SETS_A_NAME
    last = region.last_line - 1 if region.body is None else region.body.end.row
    part = part_at(source, region.statement_line - 1, max(last, region.last_line - 1))
    if part is None:
        return INCOMPLETE
    start, end = item.start - part.shift, item.stop - part.shift
    way = part.chunk.way_to(start, end)
    kind = "with_statement" if region.kind == "with" else "decorator"
    owner = next((step.node for step in reversed(way) if step.node.type == kind), None)
    if owner is None:
        return INCOMPLETE
    if region.kind == "decorator":
        edits: list[Edit] | Refusal = [_without_rows(part, owner)]
    else:
        edits = _without_item(part, owner, (start, end))
    if isinstance(edits, Refusal):
        return edits
    called = _CALLED.match(source.data, _offset(source, region.call))
    return Removed(source, region, edits, "" if called is None else called[0].decode())


def _offset(source: SourceRegions, place: Range) -> int:
    return source.offset(*place.start, "utf-8")


def _without_rows(part: Part, node: Node) -> Edit:
    first, last = part.rows(node)
    source = part.source
    return Edit(row_start(source, first), row_start(source, last + 1), "")


def _without_item(part: Part, statement: Node, place: tuple[int, int]) -> list[Edit] | Refusal:
    clause = next((child for child in code_children(statement) if child.type == "with_clause"), None)
    items = [] if clause is None else code_children(clause)
    item = next((each for each in items if (each.start_byte, each.end_byte) == place), None)
    if item is None:
        return INCOMPLETE
    kept = _kept_name(part, item)
    if kept is not None:
        return kept
    if len(items) == 1:
        return _unwrapped(part, statement)
    at = items.index(item)
    is_last = at + 1 == len(items)
    start, end = (items[at - 1].end_byte, item.end_byte) if is_last else (item.start_byte, items[at + 1].start_byte)
    if b"#" in part.chunk.text[start : item.start_byte] + part.chunk.text[item.end_byte : end]:
        return _COMMENTED
    return [Edit(start + part.shift, end + part.shift, "")]


def _kept_name(part: Part, item: Node) -> Refusal | None:
    """Why the item has to stay: the name that `as` gives it is used."""
    value = item.child_by_field_name("value")
    alias = value.child_by_field_name("alias") if value is not None and value.type == "as_pattern" else None
    if alias is None:
        return None
    name = part.chunk.content(alias)
    found = [each for piece in part.source.pieces for each in mentions(piece, name.encode()) if not each.is_attribute]
    if name.isidentifier() and len(found) == 1:
        return None
    return Refusal(f"The region is kept as {name}, which is used. Remove that first.")


def _unwrapped(part: Part, statement: Node) -> list[Edit] | Refusal:
    source = part.source
    body = statement.child_by_field_name("body")
    first, colon = part.row(statement.start_byte), last_row_of_head(part, statement)
    if body is None:
        return INCOMPLETE
    if code_children(body) and part.row(code_children(body)[0].start_byte) == colon:
        return [Edit(statement.start_byte + part.shift, body.start_byte + part.shift, "")]
    stretch = body_of(part, statement)
    if isinstance(stretch, Refusal):
        return stretch
    outer = indent_of(source.line(first))
    if not stretch.indent.startswith(outer):
        return _ODD_INDENT
    comments = b"".join(outer + comment + line_end(source) for comment in _comments(source, range(first, colon + 1)))
    after = colon + 1
    if begins_with_definition(stretch) and stretch.first == after + 1:
        after += 1  # the blank line above a definition
    head = Edit(row_start(source, first), row_start(source, after), comments.decode())
    return [*reversed(shallower(stretch, outer)), head]


def _comments(source: SourceRegions, rows: range) -> Iterator[bytes]:
    """The comments of the rows, without those that are for the region."""
    for row in rows:
        comment = source.comment(row)
        if comment and not _OURS.match(comment):
            yield comment

"""Puts a region around code: around statements, into a function or around it, around what a loop repeats."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tree_sitter import Node

from kinetoscope_core.source.regions.edited_text import Edit, SourceRegions
from kinetoscope_core.source.regions.entries import names_around, what_decorates
from kinetoscope_core.source.syntax.scopes import place_of
from kinetoscope_core.source.syntax.tree import Chunk, Step, code_children
from kinetoscope_core.source.wrapping.callee import callee_at
from kinetoscope_core.source.wrapping.imports import is_docstring
from kinetoscope_core.source.wrapping.indents import DEFINITIONS, begins_with_definition, deeper, line_end
from kinetoscope_core.source.wrapping.region_names import name_for, name_of_loop, unique
from kinetoscope_core.source.wrapping.stretch import (
    Part,
    Refusal,
    Stretch,
    body_of,
    indent_of,
    is_empty,
    is_first,
    last_row_of_head,
    part_at,
    row_start,
    selected,
    with_comments_above,
)

_FUNCTION: Final = "function_definition"
_DECORATED: Final = "decorated_definition"
_IMPORTS: Final = frozenset({"import_statement", "import_from_statement"})
_TAKES_NO_TIME: Final = DEFINITIONS | _IMPORTS | {"pass_statement", "global_statement"}
# A region inside of these would not be compiled, or would change what is.
_COMPILER: Final = re.compile(r"@\s*((?:\w+\.)*(?:jit|njit|script|compile))\b")

_A_REGION: Final = Refusal("This is a region already.")
_NO_BODY: Final = Refusal("The function has no body to measure.")
_ONLY_DEFINES: Final = Refusal("These lines only define and import. Measure a function, or where it is called.")
_DOCSTRING: Final = Refusal("This is a docstring.")
_FROM_FUTURE: Final = Refusal("An import from __future__ has to stay at the top of the file.")
_STAR: Final = Refusal("An import of * has to stay outside. Leave it out of the selection.")
_YIELDS: Final = Refusal(
    "The code yields, so other code would run inside of the region. Measure what uses the generator."
)


@dataclass(frozen=True, slots=True)
class Measured:
    """A region that can be put around a stretch, or by a decorator above the function that begins with it."""

    stretch: Stretch
    name: str
    is_decorator: bool = False

    def edits(self) -> list[Edit]:
        """What does it, the last place of the text first, so that each edit holds before and after the others."""
        stretch = self.stretch
        source = stretch.part.source
        callee = callee_at(source, stretch.start)
        at = row_start(source, stretch.first)
        called = f'{callee.text}("{self.name}")'
        end = line_end(source).decode()
        line = f"@{called}{end}" if self.is_decorator else f"with {called}:{end}{end * begins_with_definition(stretch)}"
        above = Edit(at, at, f"{stretch.indent.decode()}{line}")
        lines = [] if self.is_decorator else deeper(stretch)
        return sorted([*callee.edits, above, *lines], key=lambda edit: edit.start)[::-1]


def measure_block(source: SourceRegions, first: int, last: int) -> Measured | Refusal:
    """A region around the statements of the rows from `first` to `last`; with one row, the statement there."""
    stretch = selected(source, first, last)
    if isinstance(stretch, Refusal):
        return stretch
    stretch = _without_docstring(stretch)
    if isinstance(stretch, Refusal):
        return stretch
    return _measured(stretch, name_for(stretch.part.chunk, stretch.statements))


def measure_loop_body(source: SourceRegions, row: int) -> Measured | Refusal | None:
    """A region around the body of the loop whose head is on the row; `None` if no head of a loop is."""
    found = _owner_at(source, row, {"for_statement", "while_statement"})
    if found is None:
        return None
    part, loop, _ = found
    stretch = body_of(part, loop)
    if isinstance(stretch, Refusal):
        return stretch
    return _measured(stretch, name_of_loop(part.chunk, loop))


def measure_function(source: SourceRegions, row: int) -> Measured | Refusal | None:
    """A region for the function whose head is on the row; `None` if no head of a function is.

    It is a decorator, next to the function, where that measures each call. Where it would measure the making of a
    coroutine, or share one object between calls in one another, the body stands in a `with`.
    """
    found = _owner_at(source, row, {_FUNCTION})
    if found is None:
        return None
    part, function, way = found
    chunk = part.chunk
    if any(region.decorates and region.line - 1 in _rows_of_decorators(part, way) for region in source.regions):
        return _A_REGION
    statements = code_children(function.child_by_field_name("body") or function)
    if all(_is_stub(node, chunk.content(node)) for node in statements) or _is_overload(chunk, way):
        return _NO_BODY
    name = _name_of_function(part, function, way)
    decorates = what_decorates(chunk, function, place_of(way).scopes)
    if decorates == "generator":
        return _YIELDS
    if decorates == "plain":
        row = part.row(function.start_byte)
        stretch = Stretch(part, way[-2].node, [function], row, row, indent_of(source.line(row)))
        return _compiled(part, way) or Measured(stretch, name, is_decorator=True)
    stretch = body_of(part, function)
    if not isinstance(stretch, Refusal):
        stretch = _without_docstring(stretch)
    return stretch if isinstance(stretch, Refusal) else _measured(stretch, name)


def _measured(stretch: Stretch, name: str | None) -> Measured | Refusal:
    """A `with` around the stretch, if it leaves the meaning as it is and takes the time of these statements."""
    part, statements = stretch.part, stretch.statements
    if len(statements) == 1 and _is_region(stretch):
        return _A_REGION
    if any(node.type == "future_import_statement" for node in statements):
        return _FROM_FUTURE
    if any(node.type in _IMPORTS and part.chunk.content(node).endswith("*") for node in statements):
        return _STAR
    if all(node.type in _TAKES_NO_TIME for node in statements):
        return _ONLY_DEFINES
    start, end = statements[0].start_byte, statements[-1].end_byte
    way = _way_to(part, start, stretch.block)
    scopes = place_of(way).scopes
    for word in part.chunk.words(b"yield", start, end):
        inner = part.chunk.way_to(*word)
        if inner and inner[-1].node.type == "yield" and place_of(inner).scopes == scopes:
            return _YIELDS
    if (compiled := _compiled(part, way)) is not None:
        return compiled
    name = name or next(reversed(names_around(part.chunk, way)), "block")
    return Measured(stretch, unique(name, {region.name for region in part.source.regions}))


def _without_docstring(stretch: Stretch) -> Stretch | Refusal:
    """The stretch from behind the docstring on, which has to stay where it is."""
    owner = stretch.block.parent
    is_documented = stretch.block.type == "module" or (
        owner is not None and owner.type in {_FUNCTION, "class_definition"}
    )
    statements = stretch.statements
    children = code_children(stretch.block)
    if not (is_documented and statements[0] == children[0] and is_docstring(statements[0])):
        return stretch
    if stretch.block.type == "module" and not is_first(stretch.part.source, stretch.part.rows(statements[0])[0]):
        return stretch
    part = stretch.part
    end = part.rows(statements[0])[1]
    first = part.rows(statements[1])[0] if len(statements) > 1 else end
    if first == end:
        return _DOCSTRING
    first = with_comments_above(part.source, end + 1, first, stretch.indent)
    return Stretch(part, stretch.block, statements[1:], first, stretch.last, stretch.indent)


def _is_region(stretch: Stretch) -> bool:
    line = stretch.part.row(stretch.statements[0].start_byte) + 1
    return any(region.kind == "with" and region.statement_line == line for region in stretch.part.source.regions)


def _owner_at(source: SourceRegions, row: int, kinds: set[str]) -> tuple[Part, Node, tuple[Step, ...]] | None:
    """The innermost statement of these kinds whose head, with its decorators, is on the row, and the way to it."""
    if is_empty(source, row):
        return None
    part = part_at(source, row, row)
    if part is None:
        return None
    way = part.way_to_row(row)
    for at in range(len(way) - 1, 0, -1):
        node = way[at].node
        inner = node.child_by_field_name("definition") if node.type == _DECORATED else node
        if inner is None or inner.type not in kinds or node.start_byte < part.chunk.head_bytes:
            continue
        if inner.child_by_field_name("body") is not None and row <= last_row_of_head(part, inner):
            to_it = way[: at + 1] if inner == node else part.chunk.way_to(inner.start_byte, inner.end_byte)
            return part, inner, _up_to(to_it, inner)
    return None


def _up_to(way: tuple[Step, ...], node: Node) -> tuple[Step, ...]:
    return next((way[: at + 1] for at in range(len(way)) if way[at].node == node), way)


def _way_to(part: Part, start: int, block: Node) -> tuple[Step, ...]:
    """The way to the statement of the block that begins there."""
    way = part.chunk.way_to(start, start + 1)
    at = next((at for at, step in enumerate(way) if step.node == block), len(way) - 1)
    return way[: at + 2]


def _compiled(part: Part, way: tuple[Step, ...]) -> Refusal | None:
    for decorator in _decorators(way):
        found = _COMPILER.match(part.chunk.content(decorator))
        if found is not None:
            return Refusal(f"The function is compiled by @{found[1]}. Measure where it is called.")
    return None


def _decorators(way: tuple[Step, ...]) -> Iterator[Node]:
    for step in way:
        if step.node.type == _DECORATED:
            yield from (child for child in step.node.named_children if child.type == "decorator")


def _rows_of_decorators(part: Part, way: tuple[Step, ...]) -> range:
    return range(part.row(way[-2].node.start_byte), part.row(way[-1].node.start_byte))


def _is_overload(chunk: Chunk, way: tuple[Step, ...]) -> bool:
    return any(chunk.content(decorator).endswith("overload") for decorator in _decorators(way[-2:]))


def _is_stub(node: Node, text: str) -> bool:
    is_nothing = node.type == "pass_statement" or is_docstring(node) or text == "..."
    return is_nothing or text.startswith("raise NotImplementedError")


def _name_of_function(part: Part, function: Node, way: tuple[Step, ...]) -> str:
    chunk = part.chunk
    node = function.child_by_field_name("name")
    name = "function" if node is None else chunk.content(node)
    taken = {region.name for region in part.source.regions}
    owner = next((step.node for step in reversed(way[:-1]) if step.node.type == "class_definition"), None)
    class_name = None if owner is None else owner.child_by_field_name("name")
    if class_name is not None and (name in taken or name.startswith("__")):
        name = f"{chunk.content(class_name)}.{name}"
    return unique(name, taken)

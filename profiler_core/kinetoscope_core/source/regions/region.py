"""A region as it stands in the source."""

from typing import Literal, NamedTuple, Protocol

from kinetoscope_core.source.regions.name_patterns import NamePattern
from kinetoscope_core.source.syntax.positions import Position, Range

Kind = Literal["with", "decorator", "enter_context", "call", "statement"]
Decorates = Literal["plain", "async", "generator", "recursive", "class"]


class Shape(NamedTuple):
    """What a region keeps when it moves: all that `Region` has, with rows and lines counted from the piece it is in."""

    pattern: NamePattern
    kind: Kind
    call: Range
    item: Range
    body: Range | None
    line: int
    statement_line: int
    path: str
    decorates: Decorates | None


class _HasName(Protocol):
    @property
    def pattern(self) -> NamePattern: ...
    @property
    def kind(self) -> Kind: ...


class Named:
    """What has the name of a region, as far as the source tells it."""

    __slots__ = ()

    @property
    def name(self: _HasName) -> str:
        """The name to show: exact, or with `{…}` for what is only known at run time."""
        return self.pattern.text

    @property
    def is_exact(self: _HasName) -> bool:
        """Whether the source tells the whole name."""
        return self.kind != "statement" and self.pattern.exact is not None

    def matches(self: _HasName, runtime_name: str) -> bool:
        """Whether a name seen at run time can be this region's."""
        return self.kind == "statement" or self.pattern.matches(runtime_name)


class Region(Named):
    """One place where a `record_function` is entered.

    `call` is the `record_function(...)` expression. `item` is what enters it: the with-item, the decorator with its
    `@`, the `enter_context(...)` call or, for kind "call", the `….__enter__()` call. Where the object was made apart
    (`rf = record_function("x")`), `call` stands elsewhere than `item`; each place of entry is a region of its own.

    Of kind "statement" is a line at which a run entered regions of which the source tells nothing (statements.py): its
    pattern is the text of that line, `call` and `item` are the statement's head, and any name may be its own.

    `body` is what runs inside: the block of the `with`, the body of the decorated function. For "enter_context" it
    runs from the statement to the end of the `with` that made the stack, else of the function; for "call" to the
    `….__exit__(` of the same variable, else to the end of the function. At module level, where that end is not known,
    and for a decorated class, it is `None`.

    `line` is where the region is shown, `statement_line` where its statement starts (the `with` keyword, the first
    decorator), `last_line` where `item` ends; all from 1. `path` is the functions and classes around the body, such as
    `Model.forward.<lambda>`, a decorated function included, empty at module level.

    `decorates` says what a decorator wraps. Only around a "plain" function does it measure what one expects: with
    "async" and "generator" it measures the creation, with "recursive" each call ends the range of the one around it
    (facts/kineto.md), with "class" it measures the making of an instance.

    A value that never changes. A line put above moves all regions of a file, so each is but its shape and its rows, and
    places are made when they are asked for: 5,000 regions move in 3 ms, not in 30.
    """

    __slots__ = ("_call_row", "_row", "_shape")

    def __init__(self, shape: Shape, row: int, call_row: int) -> None:
        self._shape = shape
        self._row = row
        self._call_row = call_row

    @property
    def pattern(self) -> NamePattern:
        return self._shape.pattern

    @property
    def kind(self) -> Kind:
        return self._shape.kind

    @property
    def call(self) -> Range:
        return _moved(self._shape.call, self._call_row)

    @property
    def item(self) -> Range:
        return _moved(self._shape.item, self._row)

    @property
    def body(self) -> Range | None:
        body = self._shape.body
        return None if body is None else _moved(body, self._row)

    @property
    def line(self) -> int:
        return self._row + self._shape.line

    @property
    def statement_line(self) -> int:
        return self._row + self._shape.statement_line

    @property
    def last_line(self) -> int:
        return self._row + self._shape.item.end.row + 1

    @property
    def path(self) -> str:
        return self._shape.path

    @property
    def decorates(self) -> Decorates | None:
        return self._shape.decorates

    def _value(self) -> Shape:
        shape = self._shape
        lines = {"line": self.line, "statement_line": self.statement_line}
        return shape._replace(call=self.call, item=self.item, body=self.body, **lines)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Region) and (self is other or self._value() == other._value())

    def __hash__(self) -> int:
        return hash(self._value())

    def __repr__(self) -> str:
        return repr(self._value()).replace("Shape", "Region", 1)


def _moved(place: Range, rows: int) -> Range:
    (row, column), (end_row, end_column) = place
    return Range(Position(row + rows, column), Position(end_row + rows, end_column))

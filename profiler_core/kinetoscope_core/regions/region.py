"""A region as it stands in the source, and which one it was when a place and a name come back from a run."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from kinetoscope_core.regions.patterns import NamePattern
from kinetoscope_core.regions.positions import Range

Kind = Literal["with", "decorator", "enter_context", "call"]
Decorates = Literal["plain", "async", "generator", "recursive", "class"]


@dataclass(frozen=True, slots=True)
class Region:
    """One place where a `record_function` is entered.

    `call` is the `record_function(...)` expression. `item` is what enters it: the with-item, the decorator with its
    `@`, the `enter_context(...)` call or, for kind "call", the `….__enter__()` call. Where the object was made apart
    (`rf = record_function("x")`), `call` stands elsewhere than `item`; each place of entry is a region of its own.

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
    """

    pattern: NamePattern
    kind: Kind
    call: Range
    item: Range
    body: Range | None
    line: int
    statement_line: int
    last_line: int
    path: str
    decorates: Decorates | None

    @property
    def name(self) -> str:
        """The name to show: exact, or with `{…}` for what is only known at run time."""
        return self.pattern.text

    @property
    def is_exact(self) -> bool:
        """Whether the source tells the whole name."""
        return self.pattern.exact is not None

    def matches(self, runtime_name: str) -> bool:
        """Whether a name seen at run time can be this region's."""
        return self.pattern.matches(runtime_name)


def region_at(regions: Iterable[Region], line: int, name: str) -> Region | None:
    """The region that was entered at `line` (from 1) under `name`, or `None`.

    `line` is `frame.f_lineno` of the code that entered it, or `co_firstlineno` of the decorated function. CPython up
    to 3.12 reports the line of the `with` keyword for every item, 3.13 that of the item, and the line of a call spread
    over several lines differs as well: any line of the statement up to the end of the item is taken, the closest wins.
    """
    fitting = [region for region in regions if region.statement_line <= line <= region.last_line]
    fitting = [region for region in fitting if region.matches(name)]
    return min(fitting, key=lambda region: _strangeness(region, line), default=None)


def _strangeness(region: Region, line: int) -> tuple[bool, bool, int, int]:
    is_elsewhere = not region.item.start.row < line <= region.item.end.row + 1
    return is_elsewhere, not region.is_exact, -region.pattern.literal_length, abs(region.line - line)

"""Comments that say what a region may take: `# kinetoscope: expect cuda < 250us, launches <= 5, bound = compute`.

Terms stand between commas: a quantity, a comparison and a limit. Times need a unit, since a number without one would
be guessed. Any text is taken; what is wrong with it is a `Mistake` at its place.
"""

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal, get_args

from kinetoscope_core.source.comments import Comment, comments_in
from kinetoscope_core.source.regions import Position, Range, SourceRegions
from kinetoscope_core.text import cut, printable

Quantity = Literal["cuda", "cuda self", "cpu", "cpu self", "backward", "launches", "bound"]
Comparison = Literal["<", "<=", ">", ">=", "=", "!="]

QUANTITIES: Final[Sequence[Quantity]] = get_args(Quantity)
BOUNDS: Final = ("overhead", "compute", "communication", "copy", "mixed", "sync", "cpu-only")
"""As in the JSON of a result. What is shown of them ends in `-bound`, which may be written, too."""

EXAMPLE: Final = "cuda < 250us, launches <= 5, bound = compute"

_WORD: Final = "expect"
_LONGEST: Final = 60
_TERM: Final = re.compile(r"(?P<quantity>[^<>=!]*)(?P<comparison>[<>=!]+)(?P<limit>.*)", re.DOTALL)
_TIME: Final = re.compile(r"(?P<number>\d{1,15}(?:\.\d{1,15})?)\s*(?P<unit>\S*)", re.ASCII)
_COUNT: Final = re.compile(r"\d{1,15}", re.ASCII)
_UNITS: Final = {"ns": 1, "us": 1_000, "µs": 1_000, "μs": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
_NAMED: Final[dict[str, Quantity]] = {
    **{each: each for each in QUANTITIES},
    "cuda total": "cuda",
    "cpu total": "cpu",
}
_OF_TIMES: Final = ("<", "<=", ">", ">=")
_OF_COUNTS: Final = (*_OF_TIMES, "=", "!=")
_OF_WORDS: Final = ("=", "!=")


@dataclass(frozen=True, slots=True)
class Expectation:
    """One term. `limit` is in nanoseconds for a time, a number of launches, or a bound. `place` is that of `text`."""

    text: str
    place: Range
    quantity: Quantity
    comparison: Comparison
    limit: int | str


@dataclass(frozen=True, slots=True)
class Mistake:
    """What is wrong with a term, `text`, at the place of the part that is."""

    text: str
    place: Range
    message: str


def expectations_in(source: SourceRegions) -> Iterator[Expectation | Mistake]:
    """All terms of a text, in their order; a place has one row."""
    for comment in comments_in(source):
        yield from _terms(comment)


def _terms(comment: Comment) -> Iterator[Expectation | Mistake]:
    word = comment.word.decode("utf-8", "replace")
    if word.lower() != _WORD:
        if difflib.get_close_matches(word.lower(), [_WORD]):
            place = _place(comment.row, comment.word_column, comment.word)
            yield Mistake(word, place, f"There is no comment `{word}`. Write `# kinetoscope: expect {EXAMPLE}`.")
        return
    column = comment.rest_column
    is_empty = True
    for part in comment.rest.split(b","):
        written = part.strip()
        if written:
            is_empty = False
            yield _term(_Written(comment.row, column + part.index(written), written))
        column += len(part) + 1
    if is_empty:
        place = _place(comment.row, comment.word_column, comment.word)
        yield Mistake(word, place, f"Nothing is expected. Write for example `expect {EXAMPLE}`.")


@dataclass(frozen=True, slots=True)
class _Written:
    """A term as it stands in a row, from a column in bytes on."""

    row: int
    column: int
    data: bytes

    @property
    def text(self) -> str:
        # As many characters as bytes for what is not UTF-8: places are counted back in `part`.
        return self.data.decode("utf-8", "surrogateescape")

    def part(self, start: int, end: int) -> Range:
        """The place of some characters, without the blanks around them; if there are none, of the whole term."""
        found = self.text[start:end]
        stripped = found.strip()
        if not stripped:
            return _place(self.row, self.column, self.data)
        before = self.text[: start + found.index(stripped)].encode("utf-8", "surrogateescape")
        return _place(self.row, self.column + len(before), stripped.encode("utf-8", "surrogateescape"))


class _NotUnderstood(Exception):
    """With what is wrong, and the group of `_TERM` that it is about."""

    def __init__(self, message: str, group: str) -> None:
        super().__init__(message)
        self.group = group


def _term(written: _Written) -> Expectation | Mistake:
    text = written.text
    found = _TERM.fullmatch(text)
    if found is None:
        place = written.part(0, len(text))
        return Mistake(_shown(text), place, f"`{_shown(text)}` compares nothing. Write for example `cuda < 250us`.")
    try:
        quantity = _quantity(found["quantity"])
        comparison = _comparison(quantity, found["comparison"])
        limit = _limit(quantity, found["limit"].strip())
    except _NotUnderstood as error:
        return Mistake(_shown(text), written.part(*found.span(error.group)), str(error))
    return Expectation(_shown(text), written.part(0, len(text)), quantity, comparison, limit)


def _quantity(text: str) -> Quantity:
    name = " ".join(text.lower().split())
    if name not in _NAMED:
        said = f"There is no `{_shown(text)}` to expect" if name else "It is not said what is expected"
        raise _NotUnderstood(f"{said}. There are: {', '.join(QUANTITIES)}.", "quantity")
    return _NAMED[name]


def _comparison(quantity: Quantity, text: str) -> Comparison:
    text = "=" if text == "==" else text
    allowed = {"bound": _OF_WORDS, "launches": _OF_COUNTS}.get(quantity, _OF_TIMES)
    for each in get_args(Comparison):
        if text == each and each in allowed:
            return each
    what = {"bound": "A bound", "launches": "A number of launches"}.get(quantity, "A time")
    raise _NotUnderstood(f"{what} is compared with {', '.join(allowed[:-1])} or {allowed[-1]}.", "comparison")


def _limit(quantity: Quantity, text: str) -> int | str:
    if not text:
        raise _NotUnderstood(f"The limit is missing. Write for example `{EXAMPLE}`.", "limit")
    if quantity == "bound":
        bound = text.lower().removesuffix("-bound")
        if bound not in BOUNDS:
            raise _NotUnderstood(f"There is no bound `{_shown(text)}`. There are: {', '.join(BOUNDS)}.", "limit")
        return bound
    if quantity == "launches":
        if not _COUNT.fullmatch(text):
            raise _NotUnderstood(f"`{_shown(text)}` is not a number of launches, such as 5.", "limit")
        return int(text)
    found = _TIME.fullmatch(text)
    if found is None:
        raise _NotUnderstood(f"`{_shown(text)}` is not a time. Write for example 250us or 1.5 ms.", "limit")
    unit = found["unit"]
    if unit not in _UNITS:
        said = f"There is no unit `{_shown(unit)}`" if unit else f"{found['number']} has no unit"
        raise _NotUnderstood(f"{said}. Write ns, us, ms or s behind it.", "limit")
    return int(Decimal(found["number"]) * _UNITS[unit])


def _shown(text: str) -> str:
    return cut(printable(text.strip()), _LONGEST)


def _place(row: int, column: int, data: bytes) -> Range:
    return Range(Position(row, column), Position(row, column + len(data)))

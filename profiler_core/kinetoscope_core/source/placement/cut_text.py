"""A source text cut into its top-level statements, and cut again after an edit only where it changed.

Cut by long strings and by what stands in column 0. Brackets are not counted, so a line in column 0 inside of brackets
cuts a statement in two. Nobody writes that, and what comes of it is that less counts as the code around a region.
The methods of a long class at column 0 are cut as well, as syntax/chunks.py cuts them.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate

from kinetoscope_core.source.placement.normal_form import STRING
from kinetoscope_core.source.syntax.chunks import LONG_CLASS_BYTES, Border, Inside, class_at, pieces_of

_LINE = re.compile(
    rb"""
    \n (?: (?P<member> [ \t]+ ) (?= (?: async[ \t]+def | def | class ) \b | @ )
          | (?= [^\s\#)\]}] ) (?! (?: else | elif | except | finally ) \b ) )
    """,
    re.VERBOSE,
)
_TRIPLE_QUOTES = re.compile(rb"\"\"\"|'''")
_TOKEN = re.compile(STRING + rb"| \#[^\n]*", re.VERBOSE | re.DOTALL)
_LONGEST_WORD = len("finally") + 1
_DEFINITION = re.compile(rb"@|(?:async[ \t]+def|def|class)\b")
_IMPORT = re.compile(rb"(?:import|from)\b")

Call = tuple[tuple[int, int], tuple[int, int]]
"""Where a `record_function(...)` starts and ends: rows and columns in a block."""


class Block:
    """A top-level statement, or a part of a long class, with the blank lines and comments after it. It never changes.

    `inside` is the class in which it begins, if it does not begin at column 0.
    """

    __slots__ = ("code", "data", "digest", "inside", "rows", "without_calls")

    def __init__(self, data: bytes, inside: Inside | None) -> None:
        self.data = data
        self.inside = inside
        self.rows = data.count(b"\n")
        # Of what others find out about it, and keep here.
        self.digest: str | None = None
        self.code: tuple[bytes, bytes] | None = None
        self.without_calls: tuple[Sequence[Call], bytes] | None = None

    @property
    def is_definition(self) -> bool:
        return self.inside is not None or _DEFINITION.match(self.data) is not None

    @property
    def is_import(self) -> bool:
        return _IMPORT.match(self.data) is not None


class CutText:
    r"""A text in blocks. The text has \n for every line end."""

    __slots__ = ("_starts", "blocks", "rows", "text")

    def __init__(self, text: bytes) -> None:
        self.text = text
        cuts = [Border(0, None), *_cuts(text, 0, None)]
        self._starts = [cut.offset for cut in cuts]
        self.blocks = [Block(*piece) for piece in pieces_of(text, cuts, len(text))]
        self.rows = list(accumulate((block.rows for block in self.blocks), initial=0))[:-1]

    def at_row(self, row: int) -> int:
        """The index of the block that holds a row."""
        return bisect_right(self.rows, row) - 1

    def update(self, text: bytes) -> None:
        """Take the text as it now is; blocks that did not change stay the same objects."""
        old, starts = self.text, self._starts
        same = _same_start(old, text)
        if same == len(old) == len(text):
            return
        # A cut depends on the word after it, and the indent of a class on the line after its head.
        first = max(bisect_left(starts, same - _LONGEST_WORD) - 2, 0)
        moved = len(text) - len(old)
        limit = min(len(old), len(text)) - same
        unchanged = len(old) - _same_end(old, text, limit)
        cuts = [Border(starts[first], self.blocks[first].inside)]
        after = len(starts)
        for cut in _cuts(text, *cuts[0]):
            place = cut.offset - moved
            at = bisect_left(starts, place)
            is_known = place >= unchanged and at < len(starts) and starts[at] == place
            if is_known and self.blocks[at].inside == cut.inside:
                after = at
                break
            cuts.append(cut)
        stop = starts[after] + moved if after < len(starts) else len(text)
        known = {(block.data, block.inside): block for block in self.blocks[first:after]}
        blocks = [known.get(piece) or Block(*piece) for piece in pieces_of(text, cuts, stop)]
        moved_rows = sum(block.rows for block in blocks) - sum(block.rows for block in self.blocks[first:after])
        rows = accumulate((block.rows for block in blocks), initial=self.rows[first])
        self._starts[first:] = [*(cut.offset for cut in cuts), *_moved(starts[after:], moved)]
        self.rows[first:] = [*list(rows)[:-1], *_moved(self.rows[after:], moved_rows)]
        self.blocks[first:after] = blocks
        self.text = text


def _moved(places: list[int], by: int) -> list[int]:
    return [place + by for place in places] if by else places


def _cuts(text: bytes, start: int, inside: Inside | None) -> Iterator[Border]:
    """Where the statements after the one at `start` begin. Decorators belong to what they decorate."""
    around = inside or class_at(text, start)
    members_from = start if inside else start + LONG_CLASS_BYTES
    line, is_member = start + len(inside.indent if inside else b""), inside is not None
    strings = _long_strings(text, start)
    string = next(strings, None)
    for match in _LINE.finditer(text, start):
        cut, indent = match.start() + 1, match["member"]
        if indent is not None and (around is None or indent != around.indent):
            continue
        while string is not None and string[1] <= cut:
            string = next(strings, None)
        if string is not None and string[0] < cut:
            continue
        is_decorated = text[line : line + 1] == b"@" and is_member == (indent is not None)
        line, is_member = match.end(), indent is not None
        if indent is None:
            around, members_from = None if is_decorated else class_at(text, cut), cut + LONG_CLASS_BYTES
        if not is_decorated and (indent is None or cut >= members_from):
            yield Border(cut, around if is_member else None)


def _long_strings(text: bytes, start: int) -> Iterator[tuple[int, int]]:
    """The strings with three quotes. Only lines that have three quotes are read: that takes a fifth of the time."""
    done = start
    while quotes := _TRIPLE_QUOTES.search(text, done):
        at = quotes.start()
        line = max(text.rfind(b"\n", done, at) + 1, done)
        for token in _TOKEN.finditer(text, line):
            done = token.end()
            if done > at:
                if token.start() == at:
                    yield at, done
                break


def _same_start(one: bytes, other: bytes) -> int:
    """The length of the common start, found by halving, as bytes compare fast."""
    low, high = 0, min(len(one), len(other))
    if one[:high] == other[:high]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low


def _same_end(one: bytes, other: bytes, limit: int) -> int:
    """The length of the common end, at most `limit`."""
    low, high = 0, limit
    if one[len(one) - high :] == other[len(other) - high :]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if one[len(one) - middle : len(one) - low] == other[len(other) - middle : len(other) - low]:
            low = middle
        else:
            high = middle
    return low

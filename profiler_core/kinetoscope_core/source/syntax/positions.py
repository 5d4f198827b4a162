r"""Places in a source text, and how to count them in each unit that editors use.

A place is a row and a column in UTF-8 bytes, both from 0. Lines end at \n, \r\n or \r and nowhere else, as in the
Language Server Protocol: not at a form feed and not at U+2028. This module knows nothing of Python.
"""

import re
from typing import Literal, NamedTuple

Encoding = Literal["utf-8", "utf-16", "utf-32"]

_LINE_END = re.compile(rb"\r\n|\n|\r")


class Position(NamedTuple):
    """A place: row from 0, column from 0 in UTF-8 bytes."""

    row: int
    column: int


class Range(NamedTuple):
    """From `start` up to, not including, `end`."""

    start: Position
    end: Position


def line_starts(data: bytes) -> list[int]:
    """The byte offset at which each line starts; at least one, since an empty text has an empty line."""
    return [0, *(match.end() for match in _LINE_END.finditer(data))]


def without_line_end(line: bytes) -> bytes:
    r"""The line without its \n, \r\n or \r."""
    if line.endswith(b"\r\n"):
        return line[:-2]
    return line[:-1] if line.endswith((b"\n", b"\r")) else line


def units_before(line: bytes, column: int, encoding: Encoding) -> int:
    """How many units of `encoding` stand before the byte column: an LSP `character`.

    A column past the end of the line counts as its end; a column inside a character counts as that character's start.
    """
    column = min(max(column, 0), len(line))
    if encoding == "utf-8":
        return _character_start(line, column)
    if line.isascii():
        return column
    return _units(decoded(line[: _character_start(line, column)]), encoding)


def byte_column(line: bytes, units: int, encoding: Encoding) -> int:
    """The byte column of an LSP `character` in the units of `encoding`; the inverse of `units_before`.

    Beyond the end of the line it is the end of the line; between the halves of a surrogate pair, or inside the bytes
    of one character, it is that character's start.
    """
    line = without_line_end(line)
    units = max(units, 0)
    if encoding == "utf-8":
        return _character_start(line, min(units, len(line)))
    if line.isascii():
        return min(units, len(line))
    text, errors = _decoded(line)
    before = _cut_to_utf16_units(text, units) if encoding == "utf-16" else text[:units]
    return len(before.encode("utf-8", errors))


def encoded(text: str) -> bytes:
    """The text as UTF-8. A lone surrogate, which UTF-8 forbids, becomes the three bytes it would have there, so that
    every text has a place for every character; it counts as one UTF-16 unit and one code point.
    """
    return text.encode("utf-8", "surrogatepass")


def _character_start(line: bytes, column: int) -> int:
    # A character has at most four bytes: never walk further back in bytes that are not UTF-8 at all.
    for back in range(4):
        if column - back <= 0 or column >= len(line) or line[column - back] & 0xC0 != 0x80:
            return max(column - back, 0)
    return column


def decoded(data: bytes) -> str:
    """The text of the bytes; whatever `encoded` made comes back, and a byte that is not UTF-8 is one surrogate."""
    return _decoded(data)[0]


def _decoded(data: bytes) -> tuple[str, str]:
    """The text, and how it becomes the same bytes again."""
    try:
        return data.decode("utf-8", "surrogatepass"), "surrogatepass"
    except UnicodeDecodeError:
        return data.decode("utf-8", "surrogateescape"), "surrogateescape"


def _units(text: str, encoding: Encoding) -> int:
    if encoding == "utf-16" and not text.isascii():
        return len(text) + sum(character > "\uffff" for character in text)
    return len(text)


def _cut_to_utf16_units(text: str, units: int) -> str:
    for index, character in enumerate(text):
        units -= 2 if character > "\uffff" else 1
        if units < 0:
            return text[:index]
    return text

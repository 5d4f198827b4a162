"""Where a text can be cut into pieces that parse alone: between statements at column 0, and between the methods of
long classes there.

Why pieces: tree-sitter's answer for broken text depends on the edits that led there, and one stray bracket can swallow
the rest of a file. Pieces are cut by the text alone, so the answer is the same after any edits, and a bracket damages
its own piece only. This module knows strings, comments, brackets and a few words, and no grammar.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kinetoscope_core.source.syntax.strings_and_comments import COMMENT, STRING

# A statement at column 0 that begins with one of the words of `statement` can't be inside brackets, so it is a border
# even when a bracket is still open there; one with a word of `opening` can, and is a border where none is open.
# `if __name__` is no law of the grammar, but nobody breaks a line there in an expression.
_TOKEN = re.compile(
    COMMENT
    + b"|"
    + STRING
    + rb"""
    | \n (?<! \\\n ) (?<! \\\r\n )
      (?:
        (?P<definition> (?: def | class | async [ \t]+ def ) \b )
        | (?P<statement> (?: with | try | while | import | if [ \t]+ __name__ ) \b )
        | (?P<opening> (?: from | if | for ) \b )
        | (?P<decorator> @ )
        | (?P<member> [ \t]+ (?= (?: def | class | async [ \t]+ def ) \b | @ ) )
        | (?= (?P<other> [^\s\#)\]}] ) )
      )
    """,
    re.VERBOSE | re.DOTALL,
)


# The head of a class and the indent of its body. Bases with calls in them are rare, and such a class stays whole.
_CLASS = re.compile(
    rb"""
    class [ \t]+ (?P<name> [A-Za-z_\x80-\xff] [\w\x80-\xff]* ) [ \t]*
    (?: \[ [^\[\]]* \] [ \t]* )? (?: \( [^()]* \) [ \t]* )? : [ \t]* (?: \#[^\n]* )? \r?\n
    (?: [ \t\f]* (?: \#[^\n]* )? \r?\n )*
    (?P<indent> [ \t]+ ) [^\s\#]
    """,
    re.VERBOSE,
)
# The methods of a class are pieces from this many bytes after its start on: some 200 lines, which parse in 1 ms.
LONG_CLASS_BYTES = 8_000


class Inside(NamedTuple):
    """The class at column 0 in which a piece begins, known by its name and the indent of its body."""

    name: bytes
    indent: bytes


class Border(NamedTuple):
    """Where a piece begins, and the class that it begins in, if it does not begin at column 0."""

    offset: int
    inside: Inside | None


def class_at(text: bytes, offset: int) -> Inside | None:
    """The class whose head stands there, if its body has lines of its own."""
    match = _CLASS.match(text, offset)
    return None if match is None else Inside(match["name"], match["indent"])


def borders(text: bytes, start: int, inside: Inside | None = None) -> Iterator[Border]:
    """The borders after the one at `start` and `inside`; 0 is one.

    `text` must have no lone carriage return. What follows a border never depends on what stands before it, so cutting
    can begin again at any border.
    """
    code = _Code(text, start)
    first_code = start + len(inside.indent) if inside else start
    decorators: int | None = start if text[first_code : first_code + 1] == b"@" else None
    # A line that starts with @ inside an open bracket: a matrix product if the text is sound, but a decorator if a
    # definition follows while the bracket is still open.
    doubtful: int | None = decorators
    are_members = inside is not None
    around = inside or class_at(text, start)
    members_from = start if inside else start + LONG_CLASS_BYTES
    for match in _TOKEN.finditer(text, start):
        kind = match.lastgroup
        if kind is None:
            code.skip(match.start(), match.end())
            continue
        at = match.start() + 1
        is_member = kind == "member"
        if is_member:
            if around is None or match["member"] != around.indent:
                continue
            kind = "decorator" if text[match.end() : match.end() + 1] == b"@" else "definition"
        elif around is not None and not code.is_open(at):
            around = None
        if is_member != are_members:
            decorators, doubtful, are_members = None, None, is_member
        if kind == "decorator":
            doubtful = at if doubtful is None else doubtful
            if decorators is None and not code.is_open(at):
                decorators = at
        elif kind == "other" or (kind == "opening" and code.is_open(at)):
            doubtful = None
            if decorators is not None and not code.is_open(at):
                decorators = None
        else:
            if kind == "definition" and not (doubtful is None and decorators is None):
                before = doubtful if code.is_open(at) else decorators
                at = at if before is None else before
            decorators, doubtful = None, None
            if is_member and start < at < members_from:
                continue
            if at > start:
                yield Border(at, around if is_member else None)
            if not is_member:
                around, members_from = class_at(text, at), at + LONG_CLASS_BYTES
            code = _Code(text, match.end())


def pieces_of(text: bytes, cuts: Sequence[Border], stop: int) -> list[tuple[bytes, Inside | None]]:
    """The text of each piece up to the next one, of the last up to `stop`, and the class that it begins in."""
    ends = [*(cut.offset for cut in cuts[1:]), stop]
    return [(text[start:end], inside) for (start, inside), end in zip(cuts, ends, strict=True)]


class _Code:
    """The code of a piece without its strings and comments, for the one question whether a bracket is open.

    Counted only when asked: cutting 5,000 lines takes 9.4 ms so, and 14.8 ms with each bracket as a token.
    """

    __slots__ = ("_depth", "_spans", "_start", "_text")

    def __init__(self, text: bytes, start: int) -> None:
        self._text = text
        self._start = start
        self._spans: list[tuple[int, int]] = []
        self._depth = 0

    def skip(self, start: int, end: int) -> None:
        self._spans.append((self._start, start))
        self._start = end

    def is_open(self, offset: int) -> bool:
        self.skip(offset, offset)
        count = self._text.count
        for span in self._spans:
            self._depth += sum(count(bracket, *span) for bracket in (b"(", b"[", b"{"))
            self._depth -= sum(count(bracket, *span) for bracket in (b")", b"]", b"}"))
        self._spans.clear()
        return self._depth > 0

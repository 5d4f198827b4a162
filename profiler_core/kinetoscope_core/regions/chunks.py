"""Where a text can be cut into pieces that parse alone: between statements at column 0.

Why pieces: tree-sitter's answer for broken text depends on the edits that led there, and one stray bracket can swallow
the rest of a file. Pieces are cut by the text alone, so the answer is the same after any edits, and a bracket damages
its own piece only. This module knows strings, comments, brackets and a few words, and no grammar.
"""

import re
from collections.abc import Iterator

# A statement at column 0 that begins with one of the words of `statement` can't be inside brackets, so it is a border
# even when a bracket is still open there; one with a word of `opening` can, and is a border where none is open.
# `if __name__` is no law of the grammar, but nobody breaks a line there in an expression.
_TOKEN = re.compile(
    rb"""
    \#[^\n]*
    | \"{3} (?: [^"\\]+ | \\. | "(?!"") )* (?: \"{3} | \\?\Z )
    | '{3} (?: [^'\\]+ | \\. | '(?!'') )* (?: '{3} | \\?\Z )
    | " (?: [^"\\\n]+ | \\. )* "?
    | ' (?: [^'\\\n]+ | \\. )* '?
    | (?<! \\ ) (?<! \\\r ) \n
      (?:
        (?P<definition> (?: def | class | async [ \t]+ def ) \b )
        | (?P<statement> (?: with | try | while | import | if [ \t]+ __name__ ) \b )
        | (?P<opening> (?: from | if | for ) \b )
        | (?P<decorator> @ )
        | (?= (?P<other> [^\s\#)\]}] ) )
      )
    """,
    re.VERBOSE | re.DOTALL,
)


def borders(text: bytes, start: int) -> Iterator[int]:
    """The offsets after `start`, itself 0 or a border, at which a new piece begins.

    `text` must have no lone carriage return. What follows a border never depends on what stands before it, so cutting
    can begin again at any border.
    """
    code = _Code(text, start)
    decorators: int | None = start if text[start : start + 1] == b"@" else None
    # A line that starts with @ inside an open bracket: a matrix product if the text is sound, but a decorator if a
    # definition follows while the bracket is still open.
    doubtful: int | None = decorators
    for match in _TOKEN.finditer(text, start):
        kind = match.lastgroup
        if kind is None:
            code.skip(match.start(), match.end())
            continue
        at = match.start() + 1
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
            if at > start:
                yield at
            code = _Code(text, match.end())
            decorators, doubtful = None, None


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

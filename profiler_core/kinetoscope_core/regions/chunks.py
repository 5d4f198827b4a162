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
    | (?P<open> [(\[{] )
    | (?P<close> [)\]}] )
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
    depth = 0
    decorators: int | None = start if text[start : start + 1] == b"@" else None
    # A line that starts with @ inside an open bracket: a matrix product if the text is sound, but a decorator if a
    # definition follows while the bracket is still open.
    doubtful: int | None = decorators
    for match in _TOKEN.finditer(text, start):
        kind = match.lastgroup
        if kind is None:
            continue
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth = max(depth - 1, 0)
        elif kind == "decorator":
            at = match.start() + 1
            doubtful = at if doubtful is None else doubtful
            if depth == 0 and decorators is None:
                decorators = at
        elif kind == "other" or (kind == "opening" and depth):
            doubtful = None
            if depth == 0:
                decorators = None
        else:
            at = match.start() + 1
            if kind == "definition":
                before = decorators if depth == 0 else doubtful
                at = at if before is None else before
            if at > start:
                yield at
            depth, decorators, doubtful = 0, None, None

"""Our comments in a source text, `# kinetoscope: WORD …`, and which of them count for a region: one rule for all.

A comment counts for the regions that are entered on its line. Alone on its line, it counts for what is below: the
region or the statement that begins on the next line of code.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from kinetoscope_core.source.regions import Region, SourceRegions

OURS: Final = re.compile(rb"#\s*kinetoscope:\s*(?P<word>[\w-]+)(?P<rest>[^#]*)", re.IGNORECASE)
"""One of our comments in a comment of Python's, which may hold several."""

_MOST_ABOVE: Final = 20
"""Lines of comments above a region that may have one for it."""

_MARK: Final = re.compile(rb"kinetoscope:", re.IGNORECASE)


class Comment(NamedTuple):
    """What stands behind `# kinetoscope:` up to the next `#`: a word and the rest, with the columns in bytes where they
    start.
    """

    row: int
    word: bytes
    word_column: int
    rest: bytes
    rest_column: int


def rows_at(region: Region, source: SourceRegions) -> Iterator[int]:
    """The rows (from 0) whose comments count for a region.

    Those of its own item alone, since a `with` may have one of another region on each line; and those right above it or
    above its statement that hold nothing but a comment.
    """
    start, end = region.item
    if region.decorates is not None and region.kind == "decorator":
        # A decorator's item may hold comments below it, too; its call may stand elsewhere.
        end = region.call.end if region.call.start >= start else start
    yield from range(start.row, end.row + 1)
    for top in {start.row, region.statement_line - 1}:
        for row in range(top - 1, max(top - 1 - _MOST_ABOVE, -1), -1):
            if not (source.line(row).lstrip().startswith(b"#") and source.comment(row)):
                break
            yield row


def comments_in(source: SourceRegions) -> Iterator[Comment]:
    """All comments of ours in a text, in their order."""
    rows = {source.position(found.start()).row: None for found in _MARK.finditer(source.data)}
    for row in rows:
        comment = source.comment(row)
        before = len(source.line(row)) - len(comment)
        for found in OURS.finditer(comment):
            yield Comment(row, found["word"], before + found.start("word"), found["rest"], before + found.start("rest"))

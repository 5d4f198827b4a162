"""Lines that seem to enter a region by a helper of the same file: a guess from the text, good enough to offer a run.

Where a region stands that a helper enters, only the run tells; what it measured is then shown by its line.
"""

import re
from typing import Final

from kinetoscope_core.source.regions.edited_text import SourceRegions
from kinetoscope_core.source.regions.region import Region

_RECORD: Final = rb"(?:\w+\.)*record_function\b"
_DECORATED: Final = rb"[ \t]*@[^\n]*\n"
_HELPERS: Final = (
    # A generator that is made a context manager; that a region stands in it is looked up.
    re.compile(
        rb"^[ \t]*@(?:\w+\.)*(?:async)?contextmanager\b[^\n]*\n(?:" + _DECORATED + rb")*[ \t]*(?:async +)?def +(\w+)",
        re.MULTILINE,
    ),
    re.compile(rb"^[ \t]*class +(\w+)\([^)\n]*" + _RECORD, re.MULTILINE),
    re.compile(rb"^[ \t]*def +(\w+)\([^)\n]*\)[^:\n]*:[ \t]*\n[ \t]+return +" + _RECORD + rb"\(", re.MULTILINE),
)


def helped_statements(source: SourceRegions) -> list[Region]:
    """The statements that enter what a helper of the text makes, by `with` or as a decorator, in their order."""
    text = source.data
    if b"record_function" not in text:
        return []
    managers, classes, functions = (
        {match[1] for match in pattern.finditer(text) if source.is_code(match.start(1))} for pattern in _HELPERS
    )
    if managers:
        managers &= {region.path.rpartition(".")[2].encode() for region in source.regions}
    names = managers | classes | functions
    if not names:
        return []
    called = rb"^[ \t]*(?:async +)?(?:with\b[^\n#]*|@[\w.]*)\b(?:" + b"|".join(map(re.escape, sorted(names))) + rb")\("
    known = {region.line for region in source.regions}
    ends = [match.end() for match in re.finditer(called, text, re.MULTILINE)]
    rows = [source.position(end).row for end in ends if source.is_code(end)]
    found = (source.statement_at(row) for row in rows if row + 1 not in known)
    return [each for each in found if each is not None]

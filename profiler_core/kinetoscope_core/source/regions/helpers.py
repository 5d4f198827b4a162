"""Lines that seem to enter a region by a helper of the same file: a guess from the text, good enough to offer a run.

Where a region stands that a helper enters, only the run tells; what it measured is then shown by its line.
"""

import re
from collections.abc import Collection
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

_CLASS: Final = re.compile(rb"^class +(\w+)[^\n]*:[^\n]*\n((?:[ \t]+[^\n]*(?:\n|\Z)|[ \t]*\n)+)", re.MULTILINE)
_MADE: Final = re.compile(_RECORD + rb"\(")
_RETURNED: Final = rb"^[ \t]+return +%s[ \t]*(?:#|$)"


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
    # One that holds a region from its own `__enter__` on.
    bodies = ((match[1], match[2]) for match in _CLASS.finditer(text) if source.is_code(match.start(1)))
    classes |= {name for name, body in bodies if b"def __enter__(" in body and _MADE.search(body)}
    # A decorator, whose wrapper has the region.
    inner = [region.path.encode().split(b".")[-2:] for region in source.regions]
    decorators = {
        path[0] for path in inner if len(path) == 2 and re.search(_RETURNED % re.escape(path[1]), text, re.MULTILINE)
    }
    names = managers | classes | functions
    called = [rb"(?:with\b[^\n#]*|@[\w.]*)\b(?:%s)\(" % _any_of(names)] if names else []
    called += [rb"@(?:%s)\b(?=[ \t]*(?:[#\r\n(]|$))" % _any_of(decorators)] if decorators else []
    if not called:
        return []
    pattern = rb"^[ \t]*(?:async +)?(?:" + b"|".join(called) + rb")"
    known = {region.line for region in source.regions}
    ends = [match.end() for match in re.finditer(pattern, text, re.MULTILINE)]
    rows = [source.position(end).row for end in ends if source.is_code(end)]
    found = (source.statement_at(row) for row in rows if row + 1 not in known)
    return [each for each in found if each is not None]


def _any_of(names: Collection[bytes]) -> bytes:
    return b"|".join(map(re.escape, sorted(names)))

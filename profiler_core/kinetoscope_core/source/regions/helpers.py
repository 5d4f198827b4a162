"""Lines that seem to enter a region by a helper: a guess from the texts, good enough to offer a run.

Where a region stands that a helper enters, only the run tells; what it measured is then shown by its line.
"""

import re
from collections.abc import Collection
from typing import Final, NamedTuple

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
_ENTERED: Final = re.compile(rb"^[ \t]*(?:(?:async +)?with\b|@)[^\n#]*", re.MULTILINE)
_WORD: Final = re.compile(rb"[^\W\d]\w*")
_IMPORT: Final = re.compile(
    rb"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import\b[ \t]*(\([^)]*|[^\n]*)|import[ \t]+([^\n]*))", re.MULTILINE
)
_IMPORTED: Final = re.compile(rb"([^\W\d][\w.]*)(?:[ \t]+as[ \t]+(\w+))?")
_RETURNED: Final = rb"^[ \t]+return +%s[ \t]*(?:#|$)"


class Helpers(NamedTuple):
    """Names of what makes or enters a region: what `with` or a decorator calls, and decorators that nothing calls."""

    called: frozenset[bytes] = frozenset()
    decorators: frozenset[bytes] = frozenset()


class Import(NamedTuple):
    """A module that a text imports, in dots as it is written there. `name` is what it takes of that, `None` where it is
    the module itself, and `alias` is what that is called there.
    """

    module: str
    name: bytes | None
    alias: bytes


def helpers_of(source: SourceRegions) -> Helpers:
    """The helpers that a text defines."""
    text = source.data
    if b"record_function" not in text:
        return Helpers()
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
    return Helpers(frozenset(managers | classes | functions), frozenset(decorators))


def imports_entered(source: SourceRegions) -> list[Import]:
    """What a text imports and names after a `with` or an `@`."""
    text = source.data
    entered = {name for match in _ENTERED.finditer(text) for name in _WORD.findall(match[0])}
    found: list[Import] = []
    for match in _IMPORT.finditer(text) if entered else ():
        if not source.is_code(match.start(3) if match[2] is None else match.start(2)):
            continue
        for name, alias in _IMPORTED.findall(re.sub(rb"#[^\n]*", b"", match[2] or match[3])):
            if (alias or name.partition(b".")[0]) not in entered:
                continue
            if match[2] is None:
                found.append(Import(name.decode(errors="replace"), None, alias or name))
                continue
            module = match[1].decode(errors="replace")
            found.append(Import(module, name, alias or name))
            found.append(Import(f"{module.rstrip('.')}.{name.decode(errors='replace')}", None, alias or name))
    return found


def helped_statements(source: SourceRegions, imported: Helpers | None = None) -> list[Region]:
    """The statements that enter what a helper of the text, or one that it imports, makes, by `with` or as a decorator,
    in their order.
    """
    own, others, text = helpers_of(source), imported or Helpers(), source.data
    names, decorators = own.called | others.called, own.decorators | others.decorators
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

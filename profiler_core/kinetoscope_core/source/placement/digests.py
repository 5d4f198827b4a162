"""Digests of the code of regions and of what stands around them."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from itertools import accumulate, pairwise
from operator import sub
from typing import Final, NamedTuple

from kinetoscope_core.source.placement.normal_form import CodeLines, code_lines

_NOT_RUN: Final = (b"@", b"def ", b"async def ", b"class ", b"import ", b"from ")
_GOING_ON: Final = frozenset({b"else", b"elif", b"except", b"finally"})  # a statement above
_DEFINITION: Final = re.compile(rb"[ \t]*(?:@|(?:async[ \t]+def|def|class)\b)")
_BESIDE_IT: Final = re.compile(rb"\n(?=[^\s#)\]}@])(?!(?:async[ \t]+def|def|class)\b)")

Call = tuple[tuple[int, int], tuple[int, int]]
"""Where a `record_function(...)` starts and ends: rows and columns in a piece."""


class RegionRows(NamedTuple):
    """Where a region stands in a piece: the row of its statement and, if it is known, where what runs inside ends."""

    row: int
    end: tuple[int, int] | None
    is_decorator: bool


class Code(NamedTuple):
    """What a region's code was, each as a digest.

    `own` is the statement with all that runs inside, for a decorator the whole definition. `function` is the function
    around it, `above` and `below` are that function's lines before and after `own`; they tell identical regions apart.
    At module level the function is the region's own top-level statement, and what ran before it is still to be added:
    `before` has the digests of the top-level statements before it in its piece. It is `None` inside of functions.
    """

    own: str
    function: str
    above: str
    below: str
    before: bytes | None = None


class _Stretch(NamedTuple):
    """Lines of a piece by index: of a region and of its function."""

    start: int
    end: int
    function_start: int
    function_end: int
    is_module_level: bool = False


def digest_of(*parts: bytes) -> str:
    """A digest that is the same on every machine and in every version of Python."""
    digest = blake2b(digest_size=8)
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def without_calls(text: bytes, calls: Sequence[Call]) -> bytes:
    """A piece with a mark for each `record_function(...)`, so that a new name is no change of the code.

    Rows stay the same.
    """
    if not calls:
        return text
    starts = [0, *accumulate(map((1).__add__, map(len, text.split(b"\n"))))]
    pieces: list[bytes] = []
    done = 0
    for (row, column), (end_row, end_column) in calls:
        if end_row >= len(starts) - 1:
            continue
        start, end = starts[row] + column, starts[end_row] + end_column
        if done <= start < end <= len(text):
            pieces += (text[done:start], b"\x01", b"\\\n" * (end_row - row))
            done = end
    return b"".join([*pieces, text[done:]])


def run_by(text: bytes) -> bytes:
    """The digests of what a piece does when its module is run: of its top-level statements but imports, definitions."""
    if _DEFINITION.match(text) and not _BESIDE_IT.search(text):
        return b""
    lines = code_lines(text)
    return b"".join(_statement_digests(lines, _statements(lines)))


def digests(text: bytes, spots: Sequence[RegionRows]) -> list[Code]:
    """The code of each spot of a piece, in which `without_calls` has been at work."""
    lines = code_lines(text)
    if not lines.forms:
        return [Code("", "", "", "", b"") for _ in spots]
    ends = _ends(lines.depths)
    statements = _statements(lines)
    stretches = [_stretch(lines, ends, statements, spot) for spot in spots]
    functions: dict[tuple[int, int], list[_Stretch]] = {}
    for stretch in stretches:
        functions.setdefault((stretch.function_start, stretch.function_end), []).append(stretch)
    found: dict[_Stretch, Code] = {}
    for (start, end), inside in functions.items():
        found.update(_codes(lines, inside, start, end))
    if any(stretch.is_module_level for stretch in stretches):
        run = _statement_digests(lines, statements)
        for stretch in stretches:
            if stretch.is_module_level:
                before = b"".join(run[: bisect_left(statements, stretch.function_start)])
                found[stretch] = found[stretch]._replace(before=before)
    return [found[stretch] for stretch in stretches]


def _statements(lines: CodeLines) -> list[int]:
    """The index of the first line of each top-level statement, decorators before what they decorate."""
    starts: list[int] = []
    is_decorated = False
    for index, ((_, column), form) in enumerate(zip(lines.places, lines.forms, strict=True)):
        if index == 0 or (column == 0 and not is_decorated and form.partition(b" ")[0] not in _GOING_ON):
            starts.append(index)
        if column == 0:
            is_decorated = form.startswith(b"@")
    return starts


def _statement_digests(lines: CodeLines, statements: Sequence[int]) -> list[bytes]:
    """For each top-level statement the digest of its code, empty for imports and definitions."""
    return [
        b"" if lines.forms[start].startswith(_NOT_RUN) else digest_of(b"".join(_coded(lines, start, end))).encode()
        for start, end in pairwise([*statements, len(lines.forms)])
    ]


def _ends(depths: Sequence[int]) -> list[int]:
    """For each line the index of the next one that stands no deeper."""
    ends = [len(depths)] * len(depths)
    pending: list[int] = []
    for index, depth in enumerate(depths):
        while pending and depths[pending[-1]] >= depth:
            ends[pending.pop()] = index
        pending.append(index)
    return ends


def _stretch(lines: CodeLines, ends: Sequence[int], statements: Sequence[int], spot: RegionRows) -> _Stretch:
    forms, depths = lines.forms, lines.depths
    start = max(bisect_left(lines.places, (spot.row + 1, 0)) - 1, 0)
    if spot.is_decorator:
        definition = start
        while definition + 1 < len(forms) and forms[definition].startswith(b"@"):
            definition += 1
        return _Stretch(start, ends[definition], start, ends[definition])
    end = start + 1 if spot.end is None else max(bisect_left(lines.places, spot.end), start + 1)
    head = lines.functions[start]
    if head < 0:
        at = bisect_right(statements, start)
        after = statements[at] if at < len(statements) else len(forms)
        return _Stretch(start, end, statements[at - 1], max(after, end), is_module_level=True)
    first = head
    while first > 0 and depths[first - 1] == depths[head] and forms[first - 1].startswith(b"@"):
        first -= 1
    return _Stretch(start, end, first, max(ends[head], end))


def _codes(lines: CodeLines, stretches: Sequence[_Stretch], start: int, end: int) -> Iterable[tuple[_Stretch, Code]]:
    """The code of all regions of one function: each of its lines is read once for all of them."""
    coded = _coded(lines, start, end)
    function = digest_of(b"".join(coded))
    above = _running_digests(coded, (stretch.start - start for stretch in stretches))
    below = _running_digests(coded[::-1], (end - stretch.end for stretch in stretches))
    for stretch in stretches:
        own = digest_of(b"".join(_coded(lines, stretch.start, stretch.end)))
        yield stretch, Code(own, function, above[stretch.start - start], below[end - stretch.end])


def _running_digests(coded: Sequence[bytes], counts: Iterable[int]) -> dict[int, str]:
    """The digests of so many of the first lines."""
    running = blake2b(digest_size=8)
    done = 0
    found: dict[int, str] = {}
    for count in sorted(set(counts)):
        running.update(b"".join(coded[done:count]))
        done = count
        found[count] = running.hexdigest()
    return found


def _coded(lines: CodeLines, start: int, end: int) -> list[bytes]:
    """The lines' forms, each with how much deeper it stands than the one before it; the first may stand anywhere."""
    depths = lines.depths[start:end]
    deeper = map(sub, depths, [*depths[:1], *depths])
    return [b"%d %s\n" % coded for coded in zip(deeper, lines.forms[start:end], strict=False)]

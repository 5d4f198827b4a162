"""What is kept of each region when it is measured, so that it can be found again in edited text."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from kinetoscope_core.source.placement.digests import digest_of
from kinetoscope_core.source.placement.outline import Outline
from kinetoscope_core.source.regions import Kind, Named, NamePattern, Region, SourceRegions


@dataclass(frozen=True, slots=True)
class Fingerprint(Named):
    """A region as it stood in the measured text.

    Name, kind, path and `ordinal` (from 0, among those with the same three) name it within its file. `line` is where
    it was shown, from 1. `own` is the digest of its own code, `function` of the function around it; `above` and `below`
    of that function's code before and after it. Names of regions are no part of any of them. `block` is the digest of
    all text of the piece it stands in (syntax/chunks.py cuts them), comments included, and empty for a region outside
    functions; `block_row` is the region's row in it, from 0. `file` and `file_bytes` are the digest and the length of
    the whole text.
    """

    pattern: NamePattern
    kind: Kind
    path: str
    ordinal: int
    line: int
    own: str
    function: str
    above: str
    below: str
    block: str
    block_row: int
    file: str
    file_bytes: int


def fingerprints_of(source: SourceRegions | str | bytes, lines: Iterable[int] = ()) -> list[Fingerprint]:
    """The fingerprints of a text's regions, in the order of its regions, and of the statements at further `lines`
    (from 1), where a run entered regions that the text does not tell of.
    """
    source = source if isinstance(source, SourceRegions) else SourceRegions(source)
    statements = [found for line in sorted(set(lines)) if (found := source.statement_at(line - 1)) is not None]
    regions = [*source.regions, *statements]
    outline = Outline(source)
    codes = outline.codes(regions, range(len(regions)))
    file = file_digest(source.data)
    seen: Counter[tuple[NamePattern, Kind, str]] = Counter()
    fingerprints: list[Fingerprint] = []
    for index, region in enumerate(regions):
        code = codes[index]
        block, row = outline.whereabouts(region) if code.before is None else ("", 0)
        identity = (region.pattern, region.kind, region.path)
        fingerprints.append(
            Fingerprint(
                *identity,
                ordinal=_alike_before(source, region) if region.kind == "statement" else seen[identity],
                line=region.line,
                own=code.own,
                function=code.function,
                above=code.above,
                below=code.below,
                block=block,
                block_row=row,
                file=file,
                file_bytes=len(source.data),
            )
        )
        seen[identity] += 1
    return fingerprints


def _alike_before(source: SourceRegions, statement: Region) -> int:
    """Counted in the text, as another run may measure others of the lines that read the same."""
    alike = source.statements_reading(statement.name)
    return sum(each.path == statement.path and each.line < statement.line for each in alike)


def file_digest(data: bytes) -> str:
    """The digest of a whole text."""
    return digest_of(data)

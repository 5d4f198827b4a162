"""What is kept of each region when it is measured, so that it can be found again in edited text."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from kinetoscope_core.source.placement.digests import Code, digest_of
from kinetoscope_core.source.placement.outline import Outline
from kinetoscope_core.source.regions import Kind, NamePattern, Region, SourceRegions


@dataclass(frozen=True, slots=True)
class RegionPrint:
    """A region as it stood in the measured text.

    Name, kind, path and `ordinal` (from 0, among those with the same three) name it within its file. `line` is where
    it was shown, from 1. `own` is the digest of its own code, `function` of the function around it; `above` and `below`
    of that function's code before and after it. Names of regions are no part of any of them. `block` is the digest of
    all text of its top-level statement, in a long class of its method, comments included, and empty for a region
    outside functions; `block_row` is the region's row in it, from 0. `file` and `file_bytes` are the digest and the
    length of the whole text.
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

    @property
    def name(self) -> str:
        """The name to show, as `Region.name`."""
        return self.pattern.text

    @property
    def is_exact(self) -> bool:
        """Whether the source told the whole name."""
        return self.pattern.exact is not None and self.kind != "statement"

    def matches(self, runtime_name: str) -> bool:
        """Whether a name seen at run time can be this region's."""
        return self.kind == "statement" or self.pattern.matches(runtime_name)

    def to_dict(self) -> dict[str, Any]:
        """For JSON. The name's parts are strings, with null for what the source did not tell."""
        return {
            "name": list(self.pattern.parts),
            "kind": self.kind,
            "path": self.path,
            "ordinal": self.ordinal,
            "line": self.line,
            "own": self.own,
            "function": self.function,
            "above": self.above,
            "below": self.below,
            "block": self.block,
            "block_row": self.block_row,
            "file": self.file,
            "file_bytes": self.file_bytes,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> "RegionPrint":
        """The print that `to_dict` gave. Raises `ValueError` for anything else."""
        expected = {
            "kind": str, "path": str, "ordinal": int, "line": int, "own": str, "function": str, "above": str,
            "below": str, "block": str, "block_row": int, "file": str, "file_bytes": int,
        }  # fmt: skip
        for field, type_ in expected.items():
            if type(values.get(field)) is not type_:
                raise ValueError(f"The print of a region has no {field}: {values!r}")
        parts: Any = values.get("name")
        if not isinstance(parts, list) or not all(part is None or isinstance(part, str) for part in parts):  # pyright: ignore[reportUnknownVariableType]
            raise ValueError(f"The print of a region has no name: {values!r}")
        if values["kind"] not in get_args(Kind):
            raise ValueError(f"The print of a region is of an unknown kind: {values['kind']!r}")
        return cls(NamePattern.of(parts), **{field: values[field] for field in expected})  # pyright: ignore[reportUnknownArgumentType]


def region_prints(source: SourceRegions | str | bytes, lines: Iterable[int] = ()) -> list[RegionPrint]:
    """The prints of a text's regions, in the order of its regions, and of the statements at further `lines` (from 1),
    where a run entered regions that the text does not tell of.
    """
    source = source if isinstance(source, SourceRegions) else SourceRegions(source)
    statements = [found for line in sorted(set(lines)) if (found := source.statement_at(line - 1)) is not None]
    regions = [*source.regions, *statements]
    outline = Outline(source.data)
    codes = outline.codes(regions, range(len(regions)))
    file = file_digest(source.data)
    seen: Counter[tuple[NamePattern, Kind, str]] = Counter()
    prints: list[RegionPrint] = []
    for index, region in enumerate(regions):
        code: Code = codes[index]
        block, row = ("", 0) if code.is_module_level else outline.whereabouts(region)
        identity = (region.pattern, region.kind, region.path)
        prints.append(
            RegionPrint(
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
    return prints


def _alike_before(source: SourceRegions, statement: Region) -> int:
    """Counted in the text, as another run may measure others of the lines that read the same."""
    alike = source.statements_reading(statement.name)
    return sum(each.path == statement.path and each.line < statement.line for each in alike)


def file_digest(data: bytes) -> str:
    """The digest of a whole text."""
    return digest_of(data)


def print_at(prints: Iterable[RegionPrint], line: int | None, name: str) -> RegionPrint | None:
    """The print that measures with this line and name belong to. Where two would do, one that the source
    names goes first, and of these an exact name.
    """
    fitting: Sequence[RegionPrint] = [each for each in prints if each.line == line and each.matches(name)]
    return min(fitting, key=_strangeness, default=None)


def _strangeness(each: RegionPrint) -> tuple[bool, bool, int]:
    return each.kind == "statement", not each.is_exact, -each.pattern.literal_length

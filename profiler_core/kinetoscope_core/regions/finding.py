"""Where the regions of a file are: calls of torch's `record_function`, and what enters what they make."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import is_
from typing import Final, NamedTuple

from tree_sitter import Node

from kinetoscope_core.regions.entering import Entry, Held, entry_of, held_names
from kinetoscope_core.regions.naming import name_of
from kinetoscope_core.regions.patterns import NamePattern
from kinetoscope_core.regions.positions import Position, Range
from kinetoscope_core.regions.region import Region
from kinetoscope_core.regions.resolving import Answer, Names, Question, Site, values_of
from kinetoscope_core.regions.scopes import Mention, Place, mentions
from kinetoscope_core.regions.syntax import Chunk, Step

_NAME: Final = b"record_function"


class _Call(NamedTuple):
    """A call that may be one of `record_function`, and what becomes of its value."""

    node: Node
    function: Node
    place: Place
    use: Entry | Held | None


class _Find(NamedTuple):
    """A region before its rows are known: the call, the chunk it stands in, and where its object is entered."""

    chunk: Chunk
    call: Range
    pattern: NamePattern
    entry: Entry


@dataclass(frozen=True, slots=True)
class _Findings:
    """What a chunk holds, as long as the names it was looked up with are the same and mean the same."""

    names: frozenset[bytes]
    answers: tuple[tuple[Question, Answer | None], ...]
    finds: tuple[_Find, ...]
    holders: frozenset[bytes]


@dataclass(frozen=True, slots=True)
class _Placed:
    """The regions of a chunk at a row."""

    row: int
    findings: tuple[_Findings, _Findings]
    regions: tuple[Region, ...]


def regions_of(chunks: Sequence[Chunk]) -> list[Region]:
    """The regions of a file given in chunks, in the order in which they are entered in the text."""
    return _Finder(chunks).regions()


class _Finder:
    __slots__ = ("_chunks", "_names")

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._chunks = chunks
        self._names = Names(chunks)

    def regions(self) -> list[Region]:
        aliases = frozenset(self._aliases())
        called = [self._kept("called", index, aliases, self._called) for index in range(len(self._chunks))]
        holders = frozenset[bytes]().union(*(findings.holders for findings in called))
        held = [self._kept("held", index, holders, self._held) for index in range(len(self._chunks))]
        rows = [0]
        for chunk in self._chunks:
            rows.append(rows[-1] + chunk.rows)
        first_rows = dict(zip(self._chunks, rows, strict=False))
        found: list[Region] = []
        for chunk, row, findings in zip(self._chunks, rows, zip(called, held, strict=True), strict=False):
            if findings[0].finds or findings[1].finds:
                found += _placed(chunk, row, findings, first_rows)
        return found

    def _aliases(self) -> list[bytes]:
        """Every name in the file that may mean `record_function`; which of them do is decided at each call."""
        names = [_NAME]
        for name in names:
            for chunk in self._chunks:
                names += (alias for alias in _aliases(chunk, name) if alias not in names)
        return names

    def _kept(
        self, key: str, index: int, names: frozenset[bytes], find: Callable[[int, frozenset[bytes]], _Findings]
    ) -> _Findings:
        """What was found before, if it still holds. Looking up every name again took most of the time of an edit."""
        kept = self._chunks[index].kept
        before = kept.get(key)
        if (
            isinstance(before, _Findings)
            and before.names == names
            and all(self._names.answer(question) == answer for question, answer in before.answers)
        ):
            return before
        self._names.asked.clear()
        found = kept[key] = find(index, names)
        return found

    def _answers(self) -> tuple[tuple[Question, Answer | None], ...]:
        return tuple((question, self._names.answer(question)) for question in self._names.asked)

    def _called(self, index: int, aliases: frozenset[bytes]) -> _Findings:
        """Calls of `record_function` whose value is entered at once, and the variables that keep one."""
        chunk = self._chunks[index]
        finds: list[_Find] = []
        holders: set[bytes] = set()
        for name in aliases:
            for call in _calls(chunk, name):
                site = Site(index, call.place)
                if call.use is None or not self._names.is_record_function(call.function, site):
                    continue
                if isinstance(call.use, Held):
                    holders.update(call.use.names)
                else:
                    finds += self._find(call.node, site, call.use)
        return _Findings(aliases, self._answers(), tuple(finds), frozenset(holders))

    def _held(self, index: int, holders: frozenset[bytes]) -> _Findings:
        """Where variables that keep a region are entered."""
        finds: list[_Find] = []
        for name in holders:
            for entry in _entries(self._chunks[index], name):
                for call, site in self._made(name, Site(index, entry.place)):
                    finds += self._find(call, site, entry)
        return _Findings(holders, self._answers(), tuple(finds), frozenset())

    def _made(self, name: bytes, site: Site) -> Iterator[tuple[Node, Site]]:
        """The `record_function(...)` calls whose object the variable can hold at the site."""
        for index, binding in self._names.reaching(name, site).bindings:
            values = [] if binding.value is None else [binding.value]
            while values:
                value = values.pop()
                values += values_of(value)
                function = value.child_by_field_name("function") if value.type == "call" else None
                made = Site(index, binding.place._replace(offset=value.start_byte))
                if function is not None and self._names.is_record_function(function, made):
                    yield value, made

    def _find(self, call: Node, site: Site, entry: Entry) -> Iterator[_Find]:
        pattern = name_of(call, site, self._names)
        if pattern is not None:
            chunk = self._chunks[site.chunk]
            yield _Find(chunk, chunk.range_of(call), pattern, entry)


def _placed(
    chunk: Chunk, row: int, findings: tuple[_Findings, _Findings], first_rows: Mapping[Chunk, int]
) -> tuple[Region, ...]:
    """The regions entered in a chunk; the same as before where nothing has changed or moved."""
    before = chunk.kept.get("placed")
    if isinstance(before, _Placed) and before.row == row and all(map(is_, before.findings, findings)):
        return before.regions
    finds = findings[0].finds + findings[1].finds
    found = [_region(find, first_rows[find.chunk], row) for find in finds]
    regions = tuple(sorted(found, key=lambda region: (region.item.start, region.call.start)))
    if all(find.chunk is chunk for find in finds):
        chunk.kept["placed"] = _Placed(row, findings, regions)
    return regions


def _calls(chunk: Chunk, name: bytes) -> tuple[_Call, ...]:
    return chunk.once(("calls", name), lambda: tuple(_found_calls(chunk, name)))


def _found_calls(chunk: Chunk, name: bytes) -> Iterator[_Call]:
    for mention, way in _expressions(chunk, name):
        parent = way[-2].node
        if parent.type == "call" and way[-1].field == "function":
            place = mention.place._replace(offset=parent.start_byte)
            yield _Call(parent, way[-1].node, place, entry_of(chunk, way[:-1]))


def _aliases(chunk: Chunk, name: bytes) -> tuple[bytes, ...]:
    return chunk.once(("aliases", name), lambda: tuple(_found_aliases(chunk, name)))


def _found_aliases(chunk: Chunk, name: bytes) -> Iterator[bytes]:
    for mention in mentions(chunk, name):
        if mention.alias is not None:
            yield mention.alias
    for _, way in _expressions(chunk, name):
        yield from held_names(chunk, way)


def _expressions(chunk: Chunk, name: bytes) -> Iterator[tuple[Mention, tuple[Step, ...]]]:
    """Where the name is used, and the way to the dotted expression that ends with it."""
    for mention in mentions(chunk, name):
        if mention.is_attribute and name == _NAME:
            yield mention, mention.way[:-1]
        elif not mention.is_attribute and not (mention.binding or mention.declares or mention.alias):
            yield mention, mention.way


def _entries(chunk: Chunk, name: bytes) -> tuple[Entry, ...]:
    """Where a variable of this name is entered."""
    return chunk.once(("entries", name), lambda: tuple(_found_entries(chunk, name)))


def _found_entries(chunk: Chunk, name: bytes) -> Iterator[Entry]:
    for mention in mentions(chunk, name):
        use = None if mention.is_attribute or mention.binding else entry_of(chunk, mention.way)
        if isinstance(use, Entry):
            yield use


def _region(find: _Find, call_row: int, row: int) -> Region:
    entry = find.entry
    item = _moved(entry.item, row)
    return Region(
        pattern=find.pattern,
        kind=entry.kind,
        call=_moved(find.call, call_row),
        item=item,
        body=None if entry.body is None else _moved(entry.body, row),
        line=row + entry.line,
        statement_line=row + entry.statement_line,
        last_line=item.end.row + 1,
        path=entry.path,
        decorates=entry.decorates,
    )


def _moved(place: Range, rows: int) -> Range:
    (row, column), (end_row, end_column) = place
    return Range(Position(row + rows, column), Position(end_row + rows, end_column))

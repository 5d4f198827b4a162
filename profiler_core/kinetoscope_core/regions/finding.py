"""Where the regions of a file are: calls of torch's `record_function`, and what enters what they make."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from tree_sitter import Node

from kinetoscope_core.regions.entering import Entry, Held, entry_of, held_name
from kinetoscope_core.regions.naming import name_of
from kinetoscope_core.regions.patterns import NamePattern
from kinetoscope_core.regions.positions import Position, Range
from kinetoscope_core.regions.region import Region
from kinetoscope_core.regions.resolving import Names, Site, values_of
from kinetoscope_core.regions.scopes import Mention, Place, mentions
from kinetoscope_core.regions.syntax import Chunk, Step

_NAME: Final = b"record_function"


class _Call(NamedTuple):
    """A call that may be one of `record_function`, and what becomes of its value."""

    node: Node
    function: Node
    place: Place
    use: Entry | Held | None


def regions_of(chunks: Sequence[Chunk]) -> list[Region]:
    """The regions of a file given in chunks, in the order in which they are entered in the text."""
    return _Finder(chunks).regions()


class _Finder:
    __slots__ = ("_chunks", "_names")

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._chunks = chunks
        self._names = Names(chunks)

    def regions(self) -> list[Region]:
        found: dict[tuple[Position, Position], Region] = {}
        holders: set[bytes] = set()
        rows = self._first_rows()
        for name in self._aliases():
            for index, chunk in enumerate(self._chunks):
                for call in _calls(chunk, name):
                    if call.use is None or not self._names.is_record_function(call.function, Site(index, call.place)):
                        continue
                    if isinstance(call.use, Held):
                        holders.add(call.use.name)
                    else:
                        self._add(found, rows, (index, call.node, call.place), (index, call.use))
        for name in holders:
            for index, chunk in enumerate(self._chunks):
                for entry in _entries(chunk, name):
                    for made_in, call, place in self._made(name, Site(index, entry.place)):
                        self._add(found, rows, (made_in, call, place), (index, entry))
        return [found[key] for key in sorted(found)]

    def _first_rows(self) -> list[int]:
        rows = [0]
        for chunk in self._chunks:
            rows.append(rows[-1] + chunk.rows)
        return rows

    def _aliases(self) -> Iterator[bytes]:
        """Every name in the file that may mean `record_function`; which of them do is decided at each call."""
        names = [_NAME]
        for name in names:
            yield name
            for chunk in self._chunks:
                names += (alias for alias in _aliases(chunk, name) if alias not in names)

    def _made(self, name: bytes, site: Site) -> Iterator[tuple[int, Node, Place]]:
        """The `record_function(...)` calls whose object the variable can hold at the site."""
        for index, binding in self._names.reaching(name, site).bindings:
            values = [] if binding.value is None else [binding.value]
            while values:
                value = values.pop()
                values += values_of(value)
                function = value.child_by_field_name("function") if value.type == "call" else None
                place = binding.place._replace(offset=value.start_byte)
                if function is not None and self._names.is_record_function(function, Site(index, place)):
                    yield index, value, place

    def _add(
        self,
        found: dict[tuple[Position, Position], Region],
        rows: list[int],
        made: tuple[int, Node, Place],
        entered: tuple[int, Entry],
    ) -> None:
        made_in, call, place = made
        index, entry = entered
        pattern = name_of(call, Site(made_in, place), self._names)
        if pattern is None:
            return
        chunk = self._chunks[index]
        call_range = _moved(self._chunks[made_in].range_of(call), rows[made_in])
        # An unchanged piece in its old place gives the region it gave before.
        kept = chunk.placed.get((call_range, entry.item))
        if isinstance(kept, Region) and kept.line == rows[index] + entry.line and kept.pattern == pattern:
            region = kept
        else:
            region = _region(call_range, entry, pattern, rows[index])
            chunk.placed[call_range, entry.item] = region
        found[region.item.start, call_range.start] = region


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
        held = held_name(chunk, way)
        if held is not None:
            yield held


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


def _region(call: Range, entry: Entry, pattern: NamePattern, row: int) -> Region:
    item = _moved(entry.item, row)
    return Region(
        pattern=pattern,
        kind=entry.kind,
        call=call,
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

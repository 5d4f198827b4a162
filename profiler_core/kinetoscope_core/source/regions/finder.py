"""Where the regions of a file are: calls of torch's `record_function`, and what enters what they make."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from tree_sitter import Node

from kinetoscope_core.source.regions.entries import Entry, Held, entry_of, held_names
from kinetoscope_core.source.regions.names import name_of
from kinetoscope_core.source.regions.region import Region, Shape
from kinetoscope_core.source.syntax.bindings import Asked, Names, Site, values_of
from kinetoscope_core.source.syntax.scopes import CodePlace, Mention, mentions
from kinetoscope_core.source.syntax.tree import Chunk, Step

_NAME: Final = b"record_function"


class _Call(NamedTuple):
    """A call that may be one of `record_function`, and what becomes of its value."""

    node: Node
    function: Node
    place: CodePlace
    use: Entry | Held | None


class _Find(NamedTuple):
    """A region before its rows are known. `elsewhere` is the part of the file with the call, if that is not the part
    where it is entered.
    """

    shape: Shape
    elsewhere: "_Part | None"


@dataclass(frozen=True, slots=True)
class _Findings:
    """What a chunk holds, as long as the names in `asked` mean the same."""

    finds: tuple[_Find, ...] = ()
    asked: frozenset[Asked] = frozenset()
    holders: frozenset[bytes] = frozenset()


_NOTHING: Final = _Findings()


@dataclass(slots=True, eq=False)
class _Part:
    """A chunk in its place in the file, and what was found in it. `None`: not known, or no longer."""

    chunk: Chunk
    row: int = 0
    called: _Findings | None = None
    held: _Findings | None = None
    regions: tuple[Region, ...] | None = None
    is_hung_on: bool = False
    """Whether another part may have a region whose call stands in this one."""

    def hangs_on(self, parts: Collection["_Part"]) -> bool:
        return any(
            find.elsewhere in parts for findings in (self.called, self.held) if findings for find in findings.finds
        )


class Finder:
    """The regions of a file given in chunks.

    After a change only chunks are searched that are new or use a name that has a new meaning. Each of the others still
    costs a look at it: 10,000 of them 2 ms.
    """

    __slots__ = ("_aliases", "_are_aliases_known", "_changed", "_holders", "_most_names", "_names", "_new", "_parts")

    def __init__(self, chunks: Iterable[Chunk]) -> None:
        self._names = Names(chunks)
        self._parts = [_Part(chunk) for chunk in self._names.chunks]
        self._aliases = frozenset[bytes]()
        self._are_aliases_known = False
        self._holders = frozenset[bytes]()
        # Names with a new meaning since the regions were last found.
        self._changed: set[Asked] = set()
        # All parts that nothing is known of are from the first of these numbers up to the second.
        self._new = (0, len(self._parts))
        self._most_names = 100

    @property
    def chunks(self) -> Sequence[Chunk]:
        """The chunks of the file as it now is."""
        return self._names.chunks

    def origins(self, node: Node, site: Site) -> set[str]:
        """As `Names.origins`."""
        found = self._names.origins(node, site)
        self._names.asked.clear()
        return found

    def replace(self, first: int, after: int, made: Sequence[Chunk]) -> None:
        """Put chunks in place of those from number `first` up to `after`."""
        if self._are_aliases_known:
            self._are_aliases_known = self._links(self.chunks[first:after]) == self._links(made)
        self._changed |= self._names.replace(first, after, made)
        # Also where the new chunks read as the old ones did: what hangs on a part has to hang on the one that is there.
        gone = {part for part in self._parts[first:after] if part.is_hung_on}
        self._parts[first:after] = map(_Part, made)
        moved = first + len(made) - after
        begin, end = self._new
        self._new = (min(begin, first), max(end, after) + moved) if begin < end else (first, after + moved)
        for part in self._parts if gone else ():
            if part.hangs_on(gone):
                part.called = part.held = part.regions = None
                self._new = (0, len(self._parts))

    def regions(self) -> list[Region]:
        """The regions in the order in which they are entered in the text."""
        self._find_called()
        self._find_held()
        self._changed.clear()
        self._new = (0, 0)
        self._forget_names()
        row = 0
        for part in self._parts:
            if part.row != row:
                part.row = row
                if part.regions:
                    part.regions = None
            row += part.chunk.rows
        found: list[Region] = []
        for part in self._parts:
            found += _regions(part) if part.regions is None else part.regions
        return found

    def _find_called(self) -> None:
        if not self._are_aliases_known:
            self._are_aliases_known = True
            aliases = frozenset(self._all_aliases())
            if aliases != self._aliases:
                self._aliases = aliases
                self._new = (0, len(self._parts))
                for part in self._parts:
                    part.called = None
        for index in self._in_doubt():
            part = self._parts[index]
            if part.called is None or not self._changed.isdisjoint(part.called.asked):
                part.called, part.regions = self._called(index), None

    def _find_held(self) -> None:
        holding = [part.called.holders for part in self._parts if part.called and part.called.holders]
        holders = frozenset[bytes]().union(*holding)
        if holders != self._holders:
            self._holders = holders
            self._new = (0, len(self._parts))
            for part in self._parts:
                part.held = None
        for index in self._in_doubt():
            part = self._parts[index]
            if part.held is None or not self._changed.isdisjoint(part.held.asked):
                part.held, part.regions = self._held(index), None

    def _in_doubt(self) -> range:
        return range(len(self._parts)) if self._changed else range(*self._new)

    def _forget_names(self) -> None:
        """So that names which were looked up once, while they were typed, do not pile up."""
        if len(self._names) > self._most_names:
            findings = {each for part in self._parts for each in (part.called, part.held) if each}
            self._names.forget_all_but(frozenset[Asked]().union(*(each.asked for each in findings)))
            self._most_names = 2 * len(self._names) + 100

    def _all_aliases(self) -> list[bytes]:
        """Every name in the file that may mean `record_function`; which of them do is decided at each call."""
        names = [_NAME]
        for name in names:
            for chunk in self.chunks:
                names += (alias for alias in _aliases(chunk, name) if alias not in names)
        return names

    def _links(self, chunks: Iterable[Chunk]) -> set[tuple[bytes, bytes]]:
        return {(name, alias) for chunk in chunks for name in self._aliases for alias in _aliases(chunk, name)}

    def _findings(self, finds: Sequence[_Find], holders: Collection[bytes] = ()) -> _Findings:
        asked = frozenset(self._names.asked)
        self._names.asked.clear()
        return _Findings(tuple(finds), asked, frozenset(holders)) if finds or asked or holders else _NOTHING

    def _called(self, index: int) -> _Findings:
        """Calls of `record_function` whose value is entered at once, and the variables that keep one."""
        chunk = self.chunks[index]
        finds: list[_Find] = []
        holders: set[bytes] = set()
        for name in self._aliases:
            for call in _calls(chunk, name):
                site = Site(index, call.place)
                if call.use is None or not self._names.is_record_function(call.function, site):
                    continue
                if isinstance(call.use, Held):
                    holders.update(call.use.names)
                else:
                    finds += self._find(call.node, site, index, call.use)
        return self._findings(finds, holders)

    def _held(self, index: int) -> _Findings:
        """Where variables that keep a region are entered."""
        finds: list[_Find] = []
        for name in self._holders:
            for entry in _entries(self.chunks[index], name):
                for call, site in self._made(name, Site(index, entry.place)):
                    finds += self._find(call, site, index, entry)
        return self._findings(finds)

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

    def _find(self, call: Node, site: Site, index: int, entry: Entry) -> Iterator[_Find]:
        pattern = name_of(call, site, self._names)
        if pattern is not None:
            shape = entry.shape._replace(pattern=pattern, call=self.chunks[site.chunk].range_of(call))
            if site.chunk == index:
                yield _Find(shape, None)
            else:
                self._parts[site.chunk].is_hung_on = True
                yield _Find(shape, self._parts[site.chunk])


def _regions(part: _Part) -> tuple[Region, ...]:
    """The regions entered in a part, kept until it moves, unless they also hang on the place of another one."""
    found: list[Region] = []
    is_alone = True
    for findings in (part.called, part.held):
        for shape, elsewhere in findings.finds if findings else ():
            found.append(Region(shape, part.row, part.row if elsewhere is None else elsewhere.row))
            is_alone = is_alone and elsewhere is None
    if len(found) > 1:
        found.sort(key=lambda region: (region.item.start, region.call.start))
    regions = tuple(found)
    if is_alone:
        part.regions = regions
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

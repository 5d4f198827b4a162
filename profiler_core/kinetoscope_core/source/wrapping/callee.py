"""What `record_function` is called at a place: as it is imported there already, else by an import that is added."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import Final, NamedTuple

from kinetoscope_core.source.regions.edited_text import Edit, SourceRegions
from kinetoscope_core.source.syntax.bindings import RECORD_FUNCTION, Names, Site
from kinetoscope_core.source.syntax.scopes import Binding, mentions, place_of
from kinetoscope_core.source.wrapping.imports import import_edit
from kinetoscope_core.source.wrapping.stretch import BLOCKS

_NAME: Final = b"record_function"
_OTHER_NAME: Final = b"torch_record_function"
_PROFILERS: Final = frozenset({"torch.profiler", "torch.autograd.profiler"})
_WHOLE_MODULE: Final = re.compile(rb"^import[ \t]+torch\.profiler[ \t]*(?:\#.*)?\r?$", re.MULTILINE)


class Callee(NamedTuple):
    """The expression that is called, and the edits that import it."""

    text: str
    edits: tuple[Edit, ...] = ()


def callee_at(source: SourceRegions, offset: int) -> Callee:
    """What to call in a statement that begins at the offset."""
    names = _NamesAt(source, offset)
    for name in names.known():
        return Callee(name.decode())
    if any(names.is_of(binding, {"torch"}) for binding in names.reaching(b"torch")) and (
        names.is_local(b"torch") or _WHOLE_MODULE.search(source.data)
    ):
        return Callee("torch.profiler.record_function")
    if any(names.is_of(binding, _PROFILERS) for binding in names.reaching(b"profiler")):
        return Callee("profiler.record_function")
    name = _OTHER_NAME if names.is_taken(_NAME) else _NAME
    return Callee(name.decode(), (import_edit(source, names.needed_before, None if name == _NAME else name.decode()),))


def import_needed_before(source: SourceRegions, offset: int) -> int | None:
    """Above which offset an import has to stand that is used in a statement there; `None` if that does not matter."""
    return _NamesAt(source, offset).needed_before


class _NamesAt:
    """What names mean in a statement that begins at an offset."""

    def __init__(self, source: SourceRegions, offset: int) -> None:
        starts = [0, *accumulate(len(piece.data) for piece in source.pieces)]
        index = min(bisect_right(starts, offset), len(source.pieces)) - 1
        piece = source.pieces[index]
        at = offset - starts[index] + piece.head_bytes
        way = piece.way_to(at, at + 1)
        depth = max((at for at in range(1, len(way)) if way[at - 1].node.type in BLOCKS), default=0)
        self._names = Names(source.pieces)
        self._site = Site(index, place_of(way[: depth + 1])._replace(offset=at))
        is_run_later = any(scope.kind == "function" for scope in self._site.place.scopes)
        self.needed_before = None if is_run_later else offset
        """Where an import has to stand that is needed here, if it matters."""

    def reaching(self, name: bytes) -> list[tuple[int, Binding]]:
        """The bindings of the name that count here, without those for type checkers alone."""
        found = self._names.reaching(name, self._site).bindings
        return [(index, binding) for index, binding in found if not self._is_for_types(index, binding)]

    def known(self) -> Iterator[bytes]:
        """The names that mean `record_function` here."""
        aliases = (mention.alias for piece in self._names.chunks for mention in mentions(piece, _NAME) if mention.alias)
        for name in dict.fromkeys([_NAME, *aliases]):
            found = self.reaching(name)
            is_bound = any(not binding.place.branches for _, binding in found) or len(found) > 1
            if is_bound and any(self._is_record_function(each) for each in found):
                yield name

    def is_of(self, found: tuple[int, Binding], origins: "set[str] | frozenset[str]") -> bool:
        """Whether it is an import of one of these that always happens."""
        return found[1].origin in origins and not found[1].place.branches

    def is_local(self, name: bytes) -> bool:
        """Whether the name is bound inside of a function."""
        return any(binding.place.scopes for _, binding in self.reaching(name))

    def is_taken(self, name: bytes) -> bool:
        """Whether the name is something else anywhere in the file, so that importing it would disturb."""
        for index, piece in enumerate(self._names.chunks):
            for mention in mentions(piece, name):
                binding = mention.binding
                if mention.declares or (binding is not None and not self._is_record_function((index, binding))):
                    return True
        return False

    def _is_record_function(self, found: tuple[int, Binding]) -> bool:
        index, binding = found
        if binding.value is not None:
            place = binding.place._replace(offset=binding.value.start_byte)
            return self._names.is_record_function(binding.value, Site(index, place))
        origin = binding.origin or ""
        return origin in RECORD_FUNCTION or (origin.endswith(".record_function") and not origin.startswith("torch."))

    def _is_for_types(self, index: int, binding: Binding) -> bool:
        text = self._names.chunks[index].text
        heads = (text[branch.start : text.find(b":", branch.start)] for branch in binding.place.branches)
        return any(b"TYPE_CHECKING" in head for head in heads)

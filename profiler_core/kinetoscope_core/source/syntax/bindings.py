"""What a name means at a place: the bindings that can have reached it, and whether it is torch's `record_function`.

Follows plain aliases through assignments and imports of the one file; it opens no other file and imports nothing.
"""

from bisect import bisect_left
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from tree_sitter import Node

from kinetoscope_core.source.syntax.scopes import Binding, CodePlace, Scope, bindings
from kinetoscope_core.source.syntax.tree import Chunk, code_children

RECORD_FUNCTION: Final = frozenset({"torch.profiler.record_function", "torch.autograd.profiler.record_function"})
# Aliases of aliases end somewhere, and so do names that are bound to each other.
_DEPTH: Final = 16
# The class that starts its chunk, the only one whose body goes on in the next one.
_CUT_CLASS: Final = (Scope(0, "class"),)


class Site(NamedTuple):
    """A place in the file: the number of its chunk, and the place there."""

    chunk: int
    place: CodePlace


class Asked(NamedTuple):
    """A name that was looked up in a scope that can reach over several chunks: the module, or a class cut in pieces."""

    name: bytes
    scopes: tuple[Scope, ...]


class Reached(NamedTuple):
    """The bindings that can have reached a place. `is_single` says that there is one, whatever has run before."""

    bindings: tuple[tuple[int, Binding], ...]
    is_single: bool


class Names:
    """The names of one file, given in chunks.

    `asked` notes what was looked up beyond a chunk, so that what was found so can be kept until `replace` says that it
    has changed.
    """

    __slots__ = ("_bound", "asked", "chunks")

    def __init__(self, chunks: Iterable[Chunk]) -> None:
        self.chunks = list(chunks)
        self.asked: set[Asked] = set()
        self._bound: dict[Asked, list[tuple[int, Binding]]] = {}

    def __len__(self) -> int:
        return len(self._bound)

    def replace(self, first: int, after: int, made: Sequence[Chunk]) -> set[Asked]:
        """Puts chunks in place of those from `first` up to `after`. The names that now mean something else."""
        is_class_cut_anew = any(chunk.inside is None for chunk in (*self.chunks[first:after], *made))
        self.chunks[first:after] = made
        moved = first + len(made) - after
        changed: set[Asked] = set()
        for asked, held in self._bound.items():
            begin, end = bisect_left(held, first, key=_index), bisect_left(held, after, key=_index)
            new = list(_bound_in(made, asked, first))
            is_class_other = bool(asked.scopes) and is_class_cut_anew and bool(held)
            if is_class_other or [binding for _, binding in held[begin:end]] != [binding for _, binding in new]:
                changed.add(asked)
            tail = held[end:]
            held[begin:] = [*new, *([(index + moved, binding) for index, binding in tail] if moved else tail)]
        return changed

    def forget_all_but(self, asked: Container[Asked]) -> None:
        """No longer says when other names mean something else."""
        self._bound = {each: held for each, held in self._bound.items() if each in asked}

    def reaching(self, name: bytes, site: Site) -> Reached:
        """The bindings that give the name its meaning at the site; none if it is not bound, or not known where."""
        scopes = site.place.scopes
        local = bindings(self.chunks[site.chunk], name)
        is_direct = True
        for depth in range(len(scopes), -1, -1):
            if depth < len(scopes):
                is_direct = is_direct and scopes[depth].kind != "function"
            is_class = depth > 0 and scopes[depth - 1].kind == "class"
            if is_class and depth < len(scopes):
                continue
            if depth == 0:
                inner = self._beyond(Asked(name, ()))
            elif scopes[:depth] == _CUT_CLASS and len(pieces := self._pieces_of_class(site.chunk)) > 1:
                inner = [pair for pair in self._beyond(Asked(name, _CUT_CLASS)) if pair[0] in pieces]
            else:
                inner = [(site.chunk, binding) for binding in local.get(scopes[:depth], ())]
            if not inner:
                continue
            if not is_direct:
                reached = _at_the_end(inner)
                return Reached(reached, len(inner) == 1)
            reached = _before(inner, site._replace(place=_seen_from(site.place, scopes[:depth])))
            if reached or not is_class:
                return Reached(reached, len(reached) == 1)
        return Reached((), is_single=False)

    def is_record_function(self, node: Node, site: Site) -> bool:
        """Whether the expression is torch's `record_function`, or what another module hands on under that name."""
        return any(
            origin in RECORD_FUNCTION or (origin.endswith(".record_function") and not origin.startswith("torch."))
            for origin in self.origins(node, site)
        )

    def origins(self, node: Node, site: Site) -> set[str]:
        """The dotted names of other modules that the expression can stand for."""
        return self._origins(node, site, _DEPTH)

    def _origins(self, node: Node, site: Site, depth: int) -> set[str]:
        if depth == 0:
            return set()
        chunk = self.chunks[site.chunk]
        kind = node.type
        if kind == "attribute":
            inner, name = node.child_by_field_name("object"), node.child_by_field_name("attribute")
            if inner is None or name is None:
                return set()
            last = chunk.content(name)
            return {f"{origin}.{last}" for origin in self._origins(inner, site, depth - 1)}
        if kind != "identifier":
            found: set[str] = set()
            return found.union(*(self._origins(value, site, depth - 1) for value in values_of(node)))
        found = set()
        here = site._replace(place=site.place._replace(offset=node.start_byte))
        for index, binding in self.reaching(chunk.text[node.start_byte : node.end_byte], here).bindings:
            if binding.origin is not None:
                found.add(binding.origin)
            elif binding.value is not None:
                place = binding.place._replace(offset=binding.value.start_byte)
                found |= self._origins(binding.value, Site(index, place), depth - 1)
        return found

    def _beyond(self, asked: Asked) -> list[tuple[int, Binding]]:
        self.asked.add(asked)
        held = self._bound.get(asked)
        if held is None:
            held = self._bound[asked] = list(_bound_in(self.chunks, asked, 0))
        return held

    def _pieces_of_class(self, index: int) -> range:
        """The numbers of the chunks of the class at column 0 that the chunk is part of."""
        first, after = index, index + 1
        while first and self.chunks[first].inside:
            first -= 1
        while after < len(self.chunks) and self.chunks[after].inside:
            after += 1
        return range(first, after)


def _bound_in(chunks: Iterable[Chunk], asked: Asked, first: int) -> Iterator[tuple[int, Binding]]:
    """The bindings of a name in a scope, each with the number of its chunk; that of the first chunk is `first`."""
    for index, chunk in enumerate(chunks, first):
        for binding in bindings(chunk, asked.name).get(asked.scopes, ()):
            yield index, binding


def _index(held: tuple[int, Binding]) -> int:
    return held[0]


def values_of(node: Node) -> list[Node]:
    """The expressions one of which is the value of this one: branches of a conditional, an operand of `or`."""
    kind = node.type
    if kind in {"parenthesized_expression", "as_pattern"}:
        return code_children(node)[:1]
    if kind == "conditional_expression":
        values = code_children(node)
        return [values[0], values[2]] if len(values) == 3 else []
    if kind == "boolean_operator":
        return [child for child in map(node.child_by_field_name, ("left", "right")) if child is not None]
    if kind == "named_expression":
        value = node.child_by_field_name("value")
        return [] if value is None else [value]
    return []


def _seen_from(place: CodePlace, scopes: tuple[object, ...]) -> CodePlace:
    return place if len(scopes) == len(place.scopes) else place._replace(branches=())


def _at_the_end(held: list[tuple[int, Binding]]) -> tuple[tuple[int, Binding], ...]:
    """What a name may mean once its scope has run: the last binding that always happens, and those after it."""
    certain = [at for at, (_, binding) in enumerate(held) if not binding.place.branches and not binding.is_anytime]
    first = certain[-1] if certain else 0
    return tuple(pair for at, pair in enumerate(held) if at >= first or pair[1].is_anytime)


def _before(held: list[tuple[int, Binding]], site: Site) -> tuple[tuple[int, Binding], ...]:
    """What a name may mean at the site itself, in the scope of the bindings."""
    reached: list[tuple[int, Binding]] = []
    for index, binding in held:
        if binding.is_anytime:
            reached.append((index, binding))
            continue
        is_same_chunk = index == site.chunk
        is_earlier = index < site.chunk or (is_same_chunk and binding.place.offset <= site.place.offset)
        if is_earlier:
            branches = binding.place.branches
            if not branches or (is_same_chunk and site.place.branches[: len(branches)] == branches):
                reached = [pair for pair in reached if pair[1].is_anytime]
            reached.append((index, binding))
        elif is_same_chunk and any(
            branch.is_loop and branch in site.place.branches for branch in binding.place.branches
        ):
            reached.append((index, binding))
    return tuple(reached)

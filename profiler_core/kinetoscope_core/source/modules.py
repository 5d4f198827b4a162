"""The classes of a text that derive from `torch.nn.Module`, as far as it tells: by imports, or by each other."""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Final, NamedTuple

from tree_sitter import Node

from kinetoscope_core.source.regions import SourceRegions
from kinetoscope_core.source.syntax.bindings import Site
from kinetoscope_core.source.syntax.scopes import CodePlace, place_of
from kinetoscope_core.source.syntax.tree import Chunk, code_children

_MODULE: Final = re.compile(
    r"(?:torch|lightning|pytorch_lightning|transformers)\..*(?:(?<!Data)Module|PreTrainedModel)"
    r"|torch\.nn\.(?!\w*(?:Parameter|Buffer)$)[A-Z]\w*"
)
"""A class of a known library that is one by its name, or a layer of torch's."""
_CALLED: Final = re.compile(rb"\b([^\W\d]\w*)[ \t]*\(")


class ModuleClass(NamedTuple):
    """A class of modules. `line` is that of its `class`, from 1. `is_part`: another one of the text makes it."""

    name: str
    line: int
    is_part: bool


class _Class(NamedTuple):
    name: str
    row: int
    place: CodePlace
    bases: tuple[Node, ...]


def module_classes(source: SourceRegions) -> list[ModuleClass]:
    """Those classes, in the order of the text. After an edit only what changed is parsed and searched again."""
    if b"torch" not in source.data and b"lightning" not in source.data and b"transformers" not in source.data:
        return []
    classes: list[tuple[int, int, _Class]] = []
    first_row = 0
    for index, chunk in enumerate(source.pieces):
        classes += ((index, first_row, each) for each in chunk.once("classes", lambda chunk=chunk: _classes(chunk)))
        first_row += chunk.rows
    derived = _derived(source, classes)
    if not derived:
        return []
    parts = _parts(source, classes, derived)
    return [
        ModuleClass(each.name, row + each.row + 1, each.name in parts)
        for number, (_, row, each) in enumerate(classes)
        if number in derived
    ]


def _classes(chunk: Chunk) -> list[_Class]:
    """The classes that have bases."""
    found: list[_Class] = []
    for start, end in chunk.words(b"class"):
        way = chunk.way_to(start, end)
        node = way[-2].node if len(way) > 1 and way[-1].node.type == "class" else None
        name = None if node is None else node.child_by_field_name("name")
        bases = None if node is None else node.child_by_field_name("superclasses")
        if node is not None and name is not None and bases is not None:
            place = place_of(way[:-1])
            row = chunk.position(node.start_point).row
            found.append(_Class(chunk.content(name), row, place, tuple(map(_plain, code_children(bases)))))
    return found


def _plain(base: Node) -> Node:
    """`Base` of `Base[T]`."""
    value = base.child_by_field_name("value") if base.type == "subscript" else None
    return base if value is None else value


def _derived(source: SourceRegions, classes: list[tuple[int, int, _Class]]) -> set[int]:
    """The numbers of those that derive from a module of a library, or from one that does."""
    derived: set[int] = set()
    heirs: defaultdict[str, list[int]] = defaultdict(list)
    for number, (index, _, each) in enumerate(classes):
        for base in each.bases:
            origins = source.origins(base, Site(index, each.place._replace(offset=base.start_byte)))
            if any(map(_MODULE.fullmatch, origins)):
                derived.add(number)
            elif not origins and base.type == "identifier":
                heirs[source.pieces[index].content(base)].append(number)
    waiting = [*derived]
    for number in waiting:
        new = [each for each in heirs[classes[number][2].name] if each not in derived]
        derived.update(new)
        waiting += new
    return derived


def _parts(source: SourceRegions, classes: list[tuple[int, int, _Class]], derived: set[int]) -> set[str]:
    """The names of those that another of these classes calls."""
    names = {classes[number][2].name for number in derived}
    owner: str | None = None
    owners = {classes[number][0]: classes[number][2].name for number in derived}
    found: set[str] = set()
    for index, chunk in enumerate(source.pieces):
        if not chunk.inside:
            owner = owners.get(index)
        if owner is not None:
            found.update(_called(chunk) & names - {owner})
    return found


def _called(chunk: Chunk) -> frozenset[str]:
    return chunk.once("called", lambda: frozenset(_names_called(chunk)))


def _names_called(chunk: Chunk) -> Iterator[str]:
    for match in _CALLED.finditer(chunk.data):
        yield match[1].decode("utf-8", "replace")

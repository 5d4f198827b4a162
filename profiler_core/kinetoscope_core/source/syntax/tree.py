"""Pieces of Python as trees: parsing, repairing, and the way from the root to a place.

tree-sitter is the one parser, behind this module. A piece never changes; what was found out about it is kept with it.
"""

import re
from collections.abc import Callable, Hashable, Iterator
from typing import Final, NamedTuple, TypeVar

import tree_sitter_python
from tree_sitter import Language, Node, Parser, Tree

from kinetoscope_core.source.syntax.chunks import Inside
from kinetoscope_core.source.syntax.depth import bearable
from kinetoscope_core.source.syntax.positions import Position, Range, decoded
from kinetoscope_core.source.syntax.repair import repairs

_LANGUAGE: Final = Language(tree_sitter_python.language())
_LONE_CR = re.compile(rb"\r(?!\n)")

# A hundred levels of blocks are 200 steps. Without a limit, a nest of n mentions takes n * n steps.
_LONGEST_WAY: Final = 500

_T = TypeVar("_T")


class Step(NamedTuple):
    """A node on the way from the root, and the field of its parent that it fills."""

    node: Node
    field: str | None


class Change(NamedTuple):
    """How a piece came from an older one: bytes of the old `start` to `old_end` are now `start` to `new_end`."""

    start: int
    old_end: int
    new_end: int


def with_line_feeds(data: bytes) -> bytes:
    r"""The text with each lone \r as \n: of the same length, and with lines where tree-sitter sees them too."""
    return _LONE_CR.sub(b"\n", data) if b"\r" in data else data


def code_children(node: Node) -> list[Node]:
    """The named children that are code: no comments, and nothing that could not be parsed."""
    return [child for child in node.named_children if child.type not in {"comment", "ERROR"}]


class Chunk:
    """A piece of a source text that parses alone, from the start of a line to the end of one.

    `text` is what the tree belongs to: the piece, repaired if it was broken, without what tree-sitter cannot
    bear, and below the head of a class if it begins `inside` one. Rows count from the piece's first line.
    """

    __slots__ = ("_code", "_found", "_head", "_insertions", "_plain", "_tree", "data", "inside", "rows", "text")

    def __init__(self, data: bytes, inside: Inside | None = None, older: "tuple[Chunk, Change] | None" = None) -> None:
        self.data = data
        self.inside = inside
        self.rows = data.count(b"\n")
        self._head = b"class %b:\n" % inside.name if inside else b""
        self._code = bearable(data)
        self.text = self._head + self._code
        self._insertions: dict[int, list[tuple[int, int]]] = {}
        self._found: dict[Hashable, object] = {}
        if older is not None and (older[0]._code is not older[0].data or self._code is not data):  # noqa: SLF001
            older = None  # what became blank may lie outside of the edit
        self._plain = _parsed(self.text) if older is None else older[0].parsed_again(self.text, older[1])
        self._tree = self._plain
        if self._plain.root_node.has_error:
            self._repair(is_fresh=older is None)

    def parsed_again(self, text: bytes, change: Change) -> Tree:
        """The tree of a changed piece's text below the same head, made from this piece's own."""
        tree = self._plain.copy()
        old = self._head + self.data
        start, old_end, new_end = (len(self._head) + offset for offset in change)
        tree.edit(start, old_end, new_end, _point(text, start), _point(old, old_end), _point(text, new_end))
        return Parser(_LANGUAGE).parse(text, tree)

    def _repair(self, *, is_fresh: bool) -> None:
        # A tree with errors depends on the edits that led to it, and the answer must not: it is made anew.
        insertions = repairs(self._code)
        if not insertions:
            self._tree = self._plain if is_fresh else _parsed(self.text)
            return
        pieces: list[bytes] = []
        done = 0
        length = 0
        for offset, added in insertions:
            pieces += (self._code[done:offset], added)
            length += offset - done
            row, column = _point(self._code, offset)
            self._insertions.setdefault(row, []).append((column, len(added)))
            done = offset
        self.text = b"".join([self._head, *pieces, self._code[done:]])
        self._tree = _parsed(self.text)

    def once(self, key: Hashable, find: Callable[[], _T]) -> _T:
        """What `find` returns, found once for each key and kept, as the piece never changes."""
        try:
            return self._found[key]  # pyright: ignore[reportReturnType]  # a key always stands for one type
        except KeyError:
            found = self._found[key] = find()
            return found

    def has_found(self, key: Hashable) -> bool:
        """Whether `once` has the answer."""
        return key in self._found

    @property
    def is_sound(self) -> bool:
        """Whether all of it could be parsed as it stands."""
        return self._tree is self._plain and not self._plain.root_node.has_error and self._code == self.data

    @property
    def head_bytes(self) -> int:
        """How much of `text` stands before the piece."""
        return len(self._head)

    @property
    def statements(self) -> list[Node]:
        """The statements at the top level of the piece."""
        return code_children(self._tree.root_node)

    def words(self, word: bytes, start: int = 0, stop: int | None = None) -> Iterator[tuple[int, int]]:
        """Where the word stands in `text`, as a whole word: in code, comments and strings alike.

        Nowhere for the empty word, which is what tree-sitter puts where a name is missing.
        """
        if not word:
            return
        at = self.text.find(word, max(start, len(self._head)), stop)
        while at >= 0:
            end = at + len(word)
            if not _is_word_byte(self.text[at - 1 : at]) and not _is_word_byte(self.text[end : end + 1]):
                yield at, end
            at = self.text.find(word, end, stop)

    def offset_of(self, row: int) -> int:
        """Where a row of the piece starts in `text`."""
        at = len(self._head)
        for _ in range(row):
            at = self.text.find(b"\n", at) + 1
        return at

    def way_to(self, start: int, end: int) -> tuple[Step, ...]:
        """The nodes from the root to the smallest one around these bytes; none where it is too deep."""
        cursor = self._tree.walk()
        steps: list[Step] = []
        node = cursor.node
        while node is not None and node.start_byte <= start and node.end_byte >= end:
            if len(steps) == _LONGEST_WAY:
                return ()
            steps.append(Step(node, cursor.field_name))
            if cursor.goto_first_child_for_byte(start) is None:
                break
            node = cursor.node
        return tuple(steps)

    def content(self, node: Node) -> str:
        """The node's text."""
        return decoded(self.text[node.start_byte : node.end_byte])

    def range_of(self, node: Node) -> Range:
        """From the start of a node to its end, in places of the unrepaired piece."""
        return Range(self.position(node.start_point), self.position(node.end_point))

    def line_of(self, node: Node) -> int:
        """The line on which a node starts, from 1 in the unrepaired piece."""
        return self.position(node.start_point).row + 1

    def position(self, point: tuple[int, int]) -> Position:
        """The place in the unrepaired piece."""
        row, column = point
        row -= bool(self._head)
        for at, length in self._insertions.get(row, ()):
            if column > at:
                column = max(column - length, at)
        return Position(row, column)


def _parsed(data: bytes) -> Tree:
    return Parser(_LANGUAGE).parse(data)


def _point(data: bytes, offset: int) -> tuple[int, int]:
    start = data.rfind(b"\n", 0, offset) + 1
    return data.count(b"\n", 0, offset), offset - start


def _is_word_byte(character: bytes) -> bool:
    return character.isalnum() or character == b"_" or character >= b"\x80"

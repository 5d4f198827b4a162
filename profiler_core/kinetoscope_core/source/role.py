"""What a source file is for: a script, a module for others, or tests. Found out without running it."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, Literal

from tree_sitter import Node

from kinetoscope_core.source.regions import SourceRegions
from kinetoscope_core.source.syntax.tree import Chunk, code_children

Role = Literal["script", "module", "tests"]

_DEFINITIONS: Final = frozenset({
    "import_statement",
    "import_from_statement",
    "future_import_statement",
    "function_definition",
    "class_definition",
    "decorated_definition",
    "type_alias_statement",
    "pass_statement",
})  # fmt: skip
_BRANCHES: Final = frozenset({"if_statement", "try_statement"})
_TEXTS: Final = frozenset({"string", "concatenated_string", "ellipsis"})
_IMPORTS_PYTEST: Final = re.compile(rb"^[ \t]*(?:import|from)[ \t]+pytest\b", re.MULTILINE)


def role_of(source: SourceRegions, path: str) -> Role:
    """A module has nothing at its top level but imports, definitions, and assignments that call none of its own
    functions and variables. With `if __name__ == "__main__"` it is a script. Tests are files that pytest collects by
    their name, or that import it, and that define a test.
    """
    statements = [(piece, node) for piece in source.pieces for node in piece.statements]
    if any(_is_main_guard(piece, node) for piece, node in statements):
        return "script"
    names = [name for piece, node in statements for name in _defined(piece, node)]
    if any(name.startswith(("test", "Test")) for name in names) and (
        _is_collected(path) or _IMPORTS_PYTEST.search(source.data) is not None
    ):
        return "tests"
    own = {name for piece, node in statements for name in (*_functions(piece, node), *_assigned(piece, node))}
    return "module" if all(_only_defines(piece, node, own) for piece, node in statements) else "script"


def pytest_id(path: str) -> str | None:
    """The test that a region lies in, as pytest calls it, by the functions and classes around it; `None` if in none."""
    names = path.split(".")
    if names[0].startswith("test"):
        return names[0]
    return "::".join(names[:2]) if len(names) > 1 and names[1].startswith("test") else None


def importers(path: str, among: Iterable[str]) -> list[str]:
    """The files whose text seems to import a module, then those that import these; the nearest first."""
    texts = {each: text for each in among if each != path and (text := _text(each)) is not None}
    found: list[str] = []
    wanted = [path]
    while wanted:
        stems = {re.escape(_name_in_imports(each)) for each in wanted}
        line = re.compile(rf"^[ \t]*(?:from|import)\b[^\n#]*\b(?:{'|'.join(stems)})\b".encode(), re.MULTILINE)
        wanted = [each for each, text in texts.items() if line.search(text)]
        for each in wanted:
            del texts[each]
        found += wanted
    return found


def _text(path: str) -> bytes | None:
    try:
        return Path(path).read_bytes()
    except OSError:
        return None


def _name_in_imports(path: str) -> str:
    stem = Path(path).stem
    return Path(path).parent.name if stem == "__init__" else stem


def _is_collected(path: str) -> bool:
    name = Path(path).name
    return name.startswith("test_") or name.endswith("_test.py")


def _is_main_guard(piece: Chunk, node: Node) -> bool:
    condition = node.child_by_field_name("condition") if node.type == "if_statement" else None
    text = "" if condition is None else piece.content(condition)
    return "__name__" in text and "__main__" in text


def _only_defines(piece: Chunk, node: Node, own: set[str]) -> bool:
    if node.type in _BRANCHES:
        return all(_only_defines(piece, each, own) for each in _in_blocks(node))
    if node.type != "expression_statement":
        return node.type in _DEFINITIONS
    inner = code_children(node)
    if all(each.type in _TEXTS for each in inner):
        return True
    is_assignment = all(each.type == "assignment" for each in inner)
    return is_assignment and not any(_root_name(piece, each) in own for each in _below(node) if each.type == "call")


def _in_blocks(node: Node) -> Iterator[Node]:
    for child in code_children(node):
        if child.type == "block":
            yield from code_children(child)
        elif child.type.endswith("_clause"):
            yield from _in_blocks(child)


def _below(node: Node) -> Iterator[Node]:
    for child in node.named_children:
        if child.type != "lambda":
            yield child
            yield from _below(child)


def _root_name(piece: Chunk, call: Node) -> str:
    """`model` of `model.layers(x)`."""
    node = call.child_by_field_name("function")
    while node is not None and node.type == "attribute":
        node = node.child_by_field_name("object")
    return "" if node is None else piece.content(node)


def _definition(node: Node) -> Node:
    return node.child_by_field_name("definition") or node


def _defined(piece: Chunk, node: Node) -> Iterator[str]:
    name = _definition(node).child_by_field_name("name")
    if name is not None:
        yield piece.content(name)


def _functions(piece: Chunk, node: Node) -> Iterator[str]:
    if _definition(node).type == "function_definition":
        yield from _defined(piece, node)


def _assigned(piece: Chunk, node: Node) -> Iterator[str]:
    if node.type == "expression_statement":
        for each in code_children(node):
            left = each.child_by_field_name("left") if each.type == "assignment" else None
            if left is not None:
                yield piece.content(left)

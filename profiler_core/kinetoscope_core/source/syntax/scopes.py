"""What a name is where it is mentioned: the scope it stands in, and whether it is bound there, used, or neither.

Scopes are Python's: modules, classes, functions, lambdas and comprehensions. Only mentions of names that matter are
looked at, found by their bytes; no tree is ever walked as a whole.
"""

import re
from bisect import bisect_left
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from tree_sitter import Node

from kinetoscope_core.source.syntax.tree import Chunk, Step

ScopeKind = Literal["class", "function", "comprehension"]


class Scope(NamedTuple):
    """A scope other than the module, known by the offset in its chunk at which it starts."""

    start: int
    kind: ScopeKind


class Branch(NamedTuple):
    """A block that may be passed by, known by its offset; a loop's block may also run again."""

    start: int
    is_loop: bool


class CodePlace(NamedTuple):
    """Where code stands: the scopes around it from the outermost, and the branches inside the innermost of them."""

    offset: int
    scopes: tuple[Scope, ...]
    branches: tuple[Branch, ...]


@dataclass(frozen=True, slots=True)
class Binding:
    """One statement that gives a name a meaning, from `place.offset` on.

    `origin` is the dotted name that an import gives it, `value` the expression that an assignment gives it; neither
    is known for parameters, loop variables, definitions and the like. `is_anytime` marks a binding from another
    scope (`global`, `nonlocal`), which may run before or after anything.
    """

    place: CodePlace
    origin: str | None = None
    value: Node | None = None
    is_anytime: bool = False


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in code: an identifier, or the last part of a dotted expression (`is_attribute`).

    `way` leads to the identifier. `binding` is set where the name is bound here, `declares` where it is declared
    global or nonlocal. An imported name that gets another one (`import record_function as rf`) has that as `alias`.
    """

    way: tuple[Step, ...]
    place: CodePlace
    is_attribute: bool = False
    binding: Binding | None = None
    declares: Literal["global", "nonlocal"] | None = None
    alias: bytes | None = None


STAR_EXPORTS: Final = {
    # `from torch import *` brings neither torch.profiler nor torch.autograd (torch 2.13).
    "torch.profiler": frozenset({b"record_function"}),
    "torch.autograd.profiler": frozenset({b"record_function"}),
    "torch.nn": frozenset({b"Module"}),
}

_STAR_IMPORT: Final = re.compile(rb"\bimport[\s\\(]*\*")
_COMPREHENSIONS: Final = frozenset(
    {"list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression"}
)
_BRANCHES: Final = frozenset({"elif_clause", "else_clause", "except_clause", "except_group_clause", "case_clause"})
_STRUCTURE: Final = (
    _COMPREHENSIONS
    | _BRANCHES
    | {"function_definition", "lambda", "class_definition"}
    | {"for_statement", "while_statement", "if_statement", "try_statement"}
)
_PATTERNS: Final = frozenset({"pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern", "expression_list"})
_PARAMETERS: Final = frozenset({"parameters", "lambda_parameters"})


def mentions(chunk: Chunk, name: bytes) -> tuple[Mention, ...]:
    """Every mention of the name in the chunk's code, in the order of the text."""
    return chunk.once(("mentions", name), lambda: _found_mentions(chunk, name))


def mentions_between(chunk: Chunk, name: bytes, start: int, end: int) -> tuple[Mention, ...]:
    """Those of the mentions that stand from `start` up to `end`."""
    found = mentions(chunk, name)
    first = bisect_left(found, start, key=lambda mention: mention.place.offset)
    return found[first : bisect_left(found, end, lo=first, key=lambda mention: mention.place.offset)]


def bindings(chunk: Chunk, name: bytes) -> dict[tuple[Scope, ...], list[Binding]]:
    """Every binding of the name in the chunk, by the scope it holds in."""
    return chunk.once(("bindings", name), lambda: _found_bindings(chunk, name))


def place_of(way: tuple[Step, ...]) -> CodePlace:
    """The scopes and branches around the last node of the way."""
    scopes: list[Scope] = []
    branches: list[Branch] = []
    for at in range(len(way) - 1):
        node = way[at].node
        kind = node.type
        if kind not in _STRUCTURE:
            continue
        inner, field = way[at + 1]
        if kind in {"function_definition", "lambda", "class_definition"}:
            if field == "body":
                scopes.append(Scope(node.start_byte, "class" if kind == "class_definition" else "function"))
                branches = []
        elif kind in _COMPREHENSIONS:
            # The first iterable is evaluated outside.
            is_first = inner.type == "for_in_clause" and inner.prev_named_sibling == node.child_by_field_name("body")
            if not (is_first and at + 2 < len(way) and way[at + 2].field == "right"):
                scopes.append(Scope(node.start_byte, "comprehension"))
                branches = []
        elif kind in {"for_statement", "while_statement"} and field == "body":
            branches.append(Branch(inner.start_byte, is_loop=True))
        elif kind in _BRANCHES or (kind == "if_statement" and field == "consequence"):
            branches.append(Branch(node.start_byte, is_loop=False))
        elif kind == "try_statement" and field == "body":
            branches.append(Branch(inner.start_byte, is_loop=False))
    return CodePlace(way[-1].node.start_byte, tuple(scopes), tuple(branches))


def _found_mentions(chunk: Chunk, name: bytes, *, is_for_binding: bool = False) -> tuple[Mention, ...]:
    found: list[Mention] = []
    for start, end in chunk.words(name):
        if is_for_binding and _is_only_looked_into(chunk.text, start, end):
            continue
        way = chunk.way_to(start, end)
        if way and way[-1].node.type == "identifier" and way[-1].node.byte_range == (start, end):
            mention = _mention(chunk, way)
            if mention is not None:
                found.append(mention)
    return tuple(found)


def _found_bindings(chunk: Chunk, name: bytes) -> dict[tuple[Scope, ...], list[Binding]]:
    found: dict[tuple[Scope, ...], list[Binding]] = {}
    declared: dict[tuple[Scope, ...], str] = {}
    is_read = chunk.has_found(("mentions", name))
    named = mentions(chunk, name) if is_read else _found_mentions(chunk, name, is_for_binding=True)
    for mention in named:
        if mention.declares is not None:
            declared[mention.place.scopes] = mention.declares
    for binding in [*_starred(chunk, name), *(m.binding for m in named if m.binding is not None)]:
        scopes = binding.place.scopes
        kept = binding
        if scopes in declared:
            outer = _outer_function(scopes) if declared[scopes] == "nonlocal" else ()
            kept = Binding(binding.place._replace(scopes=outer), binding.origin, binding.value, is_anytime=True)
            scopes = outer
        found.setdefault(scopes, []).append(kept)
    for held in found.values():
        held.sort(key=lambda binding: binding.place.offset)
    return found


def _is_only_looked_into(text: bytes, start: int, end: int) -> bool:
    """Whether a name before a dot can't be bound by it. Most mentions of `torch` are such: it saves half of the time
    of reading a file.
    """
    line = text.rfind(b"\n", 0, start) + 1
    is_continued = text[max(line - 3, 0) : line].rstrip(b"\r\n").endswith(b"\\")
    return text[end : end + 1] == b"." and not is_continued and b"import" not in text[line:start]


def _outer_function(scopes: tuple[Scope, ...]) -> tuple[Scope, ...]:
    outer = scopes[:-1]
    while outer and outer[-1].kind != "function":
        outer = outer[:-1]
    return outer


def _starred(chunk: Chunk, name: bytes) -> list[Binding]:
    return [
        Binding(place, origin=f"{module}.{name.decode()}")
        for module, place in chunk.once("star imports", lambda: _found_star_imports(chunk))
        if name in STAR_EXPORTS.get(module, ())
    ]


def _found_star_imports(chunk: Chunk) -> list[tuple[str, CodePlace]]:
    found: list[tuple[str, CodePlace]] = []
    for match in _STAR_IMPORT.finditer(chunk.text):
        way = chunk.way_to(match.end() - 1, match.end())
        statement = next((step.node for step in way if step.node.type == "import_from_statement"), None)
        module = None if statement is None else statement.child_by_field_name("module_name")
        if statement is not None and module is not None and way[-1].node.type in {"wildcard_import", "*"}:
            found.append((_dotted(chunk, module), place_of(way)._replace(offset=statement.end_byte)))
    return found


def _mention(chunk: Chunk, way: tuple[Step, ...]) -> Mention | None:
    field, parent = way[-1].field, way[-2].node
    kind = parent.type
    place = place_of(way)
    if kind == "attribute" and field == "attribute":
        return Mention(way, place, is_attribute=True)
    if kind == "keyword_argument" and field == "name":
        return None
    if kind == "dotted_name" or (kind == "aliased_import" and field == "alias"):
        return _import_mention(chunk, way, place)
    if kind in {"global_statement", "nonlocal_statement"}:
        return Mention(way, place, declares="global" if kind == "global_statement" else "nonlocal")
    at = len(way) - 1
    is_parameter = _parameter_function(way)
    if is_parameter is not None:
        function = way[is_parameter].node
        outer = place_of(way[: is_parameter + 1])
        inside = CodePlace(way[-1].node.start_byte, (*outer.scopes, Scope(function.start_byte, "function")), ())
        return Mention(way, inside, binding=Binding(inside))
    while at > 1 and way[at - 1].node.type in _PATTERNS:
        at -= 1
    binding = _binding(way, at, place)
    return Mention(way, place, binding=binding)


def _binding(way: tuple[Step, ...], at: int, place: CodePlace) -> Binding | None:
    """The binding made by the parent of `way[at]`, which is the name itself or a pattern with the name in it."""
    field, parent = way[at].field, way[at - 1].node
    kind = parent.type
    is_plain = at == len(way) - 1
    if kind == "assignment" and field == "left":
        return Binding(place._replace(offset=parent.end_byte), value=_assigned(parent) if is_plain else None)
    if kind == "named_expression" and field == "name":
        scopes = place.scopes
        while scopes and scopes[-1].kind == "comprehension":
            scopes = scopes[:-1]
        outside = CodePlace(parent.end_byte, scopes, place.branches if scopes == place.scopes else ())
        return Binding(outside, value=parent.child_by_field_name("value"))
    if kind == "type_alias_statement" and field == "left":
        return Binding(place)
    if field == "left" and kind in {"augmented_assignment", "for_statement", "for_in_clause"}:
        return Binding(place)
    if field == "name" and kind in {"function_definition", "class_definition"}:
        return Binding(place)
    if kind in {"as_pattern_target", "delete_statement", "splat_pattern"}:
        return Binding(place)
    return None


def _assigned(assignment: Node) -> Node | None:
    value = assignment.child_by_field_name("right")
    while value is not None and value.type == "assignment":
        value = value.child_by_field_name("right")
    return value


def _parameter_function(way: tuple[Step, ...]) -> int | None:
    """The index of the function or lambda whose parameter the name is, if it is one and the function is whole."""
    at = len(way) - 1
    while at > 1 and way[at - 1].node.type not in _PARAMETERS:
        step, parent = way[at], way[at - 1].node.type
        is_name = (
            parent in {"list_splat_pattern", "dictionary_splat_pattern", "tuple_pattern", "keyword_separator"}
            or (parent in {"default_parameter", "typed_default_parameter"} and step.field == "name")
            or (parent == "typed_parameter" and step.field != "type")
        )
        if not is_name:
            return None
        at -= 1
    function = at - 2
    return function if function >= 0 and way[function].node.type in {"function_definition", "lambda"} else None


def _import_mention(chunk: Chunk, way: tuple[Step, ...], place: CodePlace) -> Mention | None:
    """A name in an import, or in a `case` that captures it."""
    at = len(way) - 1
    name = way[at].node
    alias: bytes | None = None
    imported: Node | None = None
    if way[at - 1].node.type == "dotted_name":
        at -= 1
        imported = way[at].node
        if way[at - 1].node.type == "case_pattern":
            is_capture = imported.named_child_count == 1
            return Mention(way, place, binding=Binding(place) if is_capture else None)
    if way[at - 1].node.type == "aliased_import":
        aliased = way[at - 1].node
        new = aliased.child_by_field_name("alias")
        alias = None if imported is None or new is None else chunk.content(new).encode()
        imported = aliased.child_by_field_name("name")
        at -= 1
    statement = way[at - 1].node
    if imported is None or way[at].field != "name":
        return None
    origin = _dotted(chunk, imported)
    after = place._replace(offset=statement.end_byte)
    if statement.type == "import_from_statement":
        module = statement.child_by_field_name("module_name")
        origin = f"{'' if module is None else _dotted(chunk, module)}.{origin}"
    elif statement.type == "import_statement":
        if way[at].node.type == "dotted_name":
            # `import torch.profiler` binds `torch`, and only its first part.
            origin = origin.partition(".")[0]
            if name.start_byte != imported.start_byte:
                return None
    else:
        return None
    if alias is not None:
        return Mention(way, place, alias=alias)
    return Mention(way, place, binding=Binding(after, origin=origin))


def _dotted(chunk: Chunk, node: Node) -> str:
    return "".join(chunk.content(node).split())

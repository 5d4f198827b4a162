"""What enters the value of an expression: a `with`, a decorator, an `enter_context(...)`, a `….__enter__()`.

Works on the way from the root to the expression, and knows nothing of `record_function`.
"""

from itertools import pairwise
from typing import Final, NamedTuple

from tree_sitter import Node

from kinetoscope_core.source.regions.name_patterns import UNKNOWN
from kinetoscope_core.source.regions.region import Decorates, Kind, Shape
from kinetoscope_core.source.syntax.bindings import values_of
from kinetoscope_core.source.syntax.positions import Range
from kinetoscope_core.source.syntax.scopes import CodePlace, Scope, bindings, mentions_between, place_of
from kinetoscope_core.source.syntax.tree import Chunk, Step, code_children

Way = tuple[Step, ...]

_BLOCKS: Final = frozenset({"block", "module"})


class Entry(NamedTuple):
    """Where a context manager is entered. The shape's pattern and call are still those of no call."""

    shape: Shape
    place: CodePlace


class Held(NamedTuple):
    """The value is kept in variables of these names."""

    names: tuple[bytes, ...]


def entry_of(chunk: Chunk, way: Way) -> Entry | Held | None:
    """What becomes of the value of the expression at the end of the way; `None` if nothing that is understood."""
    at = len(way) - 1
    while at > 0:
        step, parent = way[at], way[at - 1].node
        kind = parent.type
        if kind == "with_item" and step.field == "value":
            return _with_entry(chunk, way, at - 1)
        if kind == "decorator":
            return _decorator_entry(chunk, way, at - 1)
        if kind == "argument_list":
            return _enter_context_entry(chunk, way, at)
        if kind == "attribute" and step.field == "object":
            return _call_entry(chunk, way, at)
        if kind == "assignment" and step.field == "right":
            return _held(chunk, [step.node.child_by_field_name("left") for step in _assignments(way, at - 1)])
        if step.node not in values_of(parent):
            return None
        if kind == "named_expression" and not _is_entered_on(way, at - 1):
            return _held(chunk, [parent.child_by_field_name("name")])
        at -= 1
    return None


def held_names(chunk: Chunk, way: Way) -> tuple[bytes, ...]:
    """The variables that are given the value of the expression at the end of the way."""
    use = entry_of(chunk, way)
    return use.names if isinstance(use, Held) else ()


def _held(chunk: Chunk, targets: list[Node | None]) -> Held | None:
    names = [node for node in targets if node is not None and node.type == "identifier"]
    return Held(tuple(chunk.text[name.start_byte : name.end_byte] for name in names)) if names else None


def _assignments(way: Way, at: int) -> list[Step]:
    """The assignment at `way[at]` and those it is the value of: `a = b = value`."""
    first = at
    while first > 0 and way[first].field == "right" and way[first - 1].node.type == "assignment":
        first -= 1
    return list(way[first : at + 1])


def _is_entered_on(way: Way, at: int) -> bool:
    """Whether a `(name := value)` is itself entered."""
    while at > 0 and way[at].node in values_of(way[at - 1].node):
        at -= 1
    return at > 0 and way[at - 1].node.type in {"with_item", "decorator", "argument_list", "attribute"}


def _entry(
    chunk: Chunk, way: Way, item: Node, statement: Node, body: Range | None, *, kind: Kind, line_of: Node
) -> Entry:
    place, path = chunk.range_of(item), ".".join(names_around(chunk, way))
    shape = Shape(UNKNOWN, kind, place, place, body, chunk.line_of(line_of), chunk.line_of(statement), path, None)
    return Entry(shape, place_of(way))


def names_around(chunk: Chunk, way: Way) -> list[str]:
    """The functions and classes whose bodies the way leads through, from the outermost."""
    names: list[str] = []
    for (node, _), (_, field) in pairwise(way):
        if field == "body" and node.type in {"function_definition", "class_definition", "lambda"}:
            name = node.child_by_field_name("name")
            names.append("<lambda>" if name is None else chunk.content(name))
    return names


def _block(chunk: Chunk, owner: Node) -> Range | None:
    body = owner.child_by_field_name("body")
    return None if body is None or body.start_byte == body.end_byte else chunk.range_of(body)


def _with_entry(chunk: Chunk, way: Way, at: int) -> Entry | None:
    statement = next((step.node for step in reversed(way[:at]) if step.node.type == "with_statement"), None)
    if statement is None:
        return None
    # The value, not the item: where brackets stand around it alone, it is shown on its own line.
    value = way[-1].node
    return _entry(chunk, way, way[at].node, statement, _block(chunk, statement), kind="with", line_of=value)


def _decorator_entry(chunk: Chunk, way: Way, at: int) -> Entry | None:
    decorated = way[at - 1].node
    definition = decorated.child_by_field_name("definition")
    if decorated.type != "decorated_definition" or definition is None:
        return None
    is_class = definition.type == "class_definition"
    body = None if is_class else _block(chunk, definition)
    entry = _entry(chunk, way, way[at].node, decorated, body, kind="decorator", line_of=way[-1].node)
    name = definition.child_by_field_name("name")
    names = [*names_around(chunk, way), *([] if name is None else [chunk.content(name)])]
    decorates = "class" if is_class else what_decorates(chunk, definition, entry.place.scopes)
    return entry._replace(shape=entry.shape._replace(path=".".join(names), decorates=decorates))


def _enter_context_entry(chunk: Chunk, way: Way, at: int) -> Entry | None:
    arguments, call = way[at - 1].node, way[at - 2].node
    function = call.child_by_field_name("function") if call.type == "call" else None
    method = function.child_by_field_name("attribute") if function is not None else None
    first = next(iter(code_children(arguments)), None)
    if method is None or function is None or chunk.content(method) != "enter_context" or first != way[at].node:
        return None
    body = _rest(chunk, way, at - 2, _stack_end(chunk, way, function.child_by_field_name("object")))
    return _entry(chunk, way, call, _statement(way, at), body, kind="enter_context", line_of=way[-1].node)


def _call_entry(chunk: Chunk, way: Way, at: int) -> Entry | None:
    attribute, call = way[at - 1], way[at - 2].node
    method = attribute.node.child_by_field_name("attribute")
    if method is None or chunk.content(method) != "__enter__" or call.type != "call" or attribute.field != "function":
        return None
    body = _rest(chunk, way, at - 2, _exit_of(chunk, way))
    return _entry(chunk, way, call, _statement(way, at), body, kind="call", line_of=way[-1].node)


def _statement(way: Way, at: int) -> Node:
    while at > 0 and way[at - 1].node.type not in _BLOCKS:
        at -= 1
    return way[at].node


def _rest(chunk: Chunk, way: Way, at: int, end: tuple[int, int] | None) -> Range | None:
    """From the end of the statement at `way[at]` to `end`, else to the end of the function around it."""
    if end is None:
        for (node, _), (inner, field) in zip(reversed(way[:at]), reversed(way[1 : at + 1]), strict=False):
            if field == "body" and node.type in {"function_definition", "lambda", "class_definition"}:
                end = inner.end_point if node.type == "function_definition" else None
                break
    start = _statement(way, at).end_point
    return None if end is None or end <= start else Range(chunk.position(start), chunk.position(end))


def _stack_end(chunk: Chunk, way: Way, stack: Node | None) -> tuple[int, int] | None:
    """The end of the `with ... as stack` in the same function, if there is one."""
    if stack is None or stack.type != "identifier":
        return None
    name = chunk.content(stack)
    for step in reversed(way):
        if step.node.type in {"function_definition", "lambda", "class_definition"}:
            return None
        is_with = step.node.type == "with_statement" and step.node.named_child_count > 0
        for item in step.node.named_child(0).named_children if is_with else []:
            value = item.child_by_field_name("value")
            alias = value.child_by_field_name("alias") if value is not None else None
            if alias is not None and chunk.content(alias) == name:
                return step.node.end_point
    return None


def _exit_of(chunk: Chunk, way: Way) -> tuple[int, int] | None:
    """Where the first `….__exit__` of the same variable after the way's end stands, in the same scope."""
    variable = way[-1].node
    if variable.type != "identifier":
        return None
    scopes = place_of(way).scopes
    name = chunk.text[variable.start_byte : variable.end_byte]
    for mention in mentions_between(chunk, name, variable.end_byte, len(chunk.text)):
        if mention.place.scopes == scopes:
            method = mention.way[-2].node.child_by_field_name("attribute")
            if method is not None and not mention.is_attribute and chunk.content(method) == "__exit__":
                return mention.way[-2].node.start_point
    return None


def what_decorates(chunk: Chunk, function: Node, outside: tuple[Scope, ...]) -> Decorates:
    """What kind of function it is, which stands in the scopes `outside`."""
    inside = (*outside, Scope(function.start_byte, "function"))
    first = function.child(0) if function.child_count else None
    if first is not None and first.type == "async":
        return "async"
    if _is_generator(chunk, function, inside):
        return "generator"
    return "recursive" if _is_recursive(chunk, function, inside) else "plain"


def _is_generator(chunk: Chunk, function: Node, inside: tuple[Scope, ...]) -> bool:
    for start, end in chunk.words(b"yield", function.start_byte, function.end_byte):
        way = chunk.way_to(start, end)
        if way and way[-1].node.type == "yield" and place_of(way).scopes == inside:
            return True
    return False


def _is_recursive(chunk: Chunk, function: Node, inside: tuple[Scope, ...]) -> bool:
    name = function.child_by_field_name("name")
    if name is None:
        return False
    word = chunk.text[name.start_byte : name.end_byte]
    is_method = len(inside) > 1 and inside[-2].kind == "class"
    held = bindings(chunk, word)
    for mention in mentions_between(chunk, word, function.start_byte, function.end_byte):
        scopes = mention.place.scopes
        if scopes[: len(inside)] != inside or mention.binding is not None:
            continue
        callee = mention.way[-2] if mention.is_attribute else mention.way[-1]
        call = mention.way[-3 if mention.is_attribute else -2].node
        if call.type != "call" or callee.field != "function":
            continue
        if mention.is_attribute:
            if is_method and _is_own(chunk, function, callee.node):
                return True
        elif not is_method and not any(scopes[:depth] in held for depth in range(len(inside), len(scopes) + 1)):
            return True
    return False


def _is_own(chunk: Chunk, method: Node, callee: Node) -> bool:
    """Whether `x.method` in a method is the method itself: of its first parameter, or of its class by name."""
    owner = callee.child_by_field_name("object")
    if owner is None or owner.type != "identifier":
        return False
    parameters = method.child_by_field_name("parameters")
    first = parameters.named_child(0) if parameters is not None and parameters.named_child_count else None
    owners = {"" if first is None else chunk.content(first).partition(":")[0].strip()}
    around = method.parent
    while around is not None and around.type != "class_definition":
        around = around.parent
    name = None if around is None else around.child_by_field_name("name")
    if name is not None:
        owners.add(chunk.content(name))
    return chunk.content(owner) in owners

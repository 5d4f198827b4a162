"""A name for a region, from the code that it measures: what is called there, and else what is made."""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from tree_sitter import Node

from kinetoscope_core.source.syntax.tree import Chunk, code_children

_LONGEST: Final = 40
# They say little without what they are called on.
_OF_SOMETHING: Final = frozenset(
    {"step", "zero_grad", "update", "run", "apply", "call", "to", "item", "get", "put", "append", "extend", "add",
     "load", "save", "read", "write", "send", "next", "close", "start", "stop", "wait", "join", "result", "all_reduce"}
)  # fmt: skip
_BESIDES: Final = frozenset(
    {"print", "len", "range", "enumerate", "zip", "isinstance", "int", "float", "str", "list", "dict", "tuple", "set",
     "super", "getattr", "hasattr", "setattr", "min", "max", "sum", "repr", "format", "sorted", "type", "debug", "info"}
)  # fmt: skip
_MODELS: Final = frozenset({"model", "net", "network", "module"})
_WORD: Final = re.compile(r"\w+")


def unique(name: str, taken: Collection[str]) -> str:
    """The name, with a number if it is taken."""
    if name not in taken:
        return name
    return next(numbered for number in range(2, len(taken) + 3) if (numbered := f"{name}_{number}") not in taken)


def name_for(chunk: Chunk, statements: Sequence[Node]) -> str | None:
    """A name for statements, if they have one."""
    if len(statements) > 1:
        text = chunk.text[statements[0].start_byte : statements[-1].end_byte]
        if b".backward(" in text and b".step(" in text:
            return "train_step"
    for names in (_called, _made):
        for statement in statements:
            for name in names(chunk, statement):
                found = "_".join(_WORD.findall(name))[:_LONGEST].strip("_")
                if found and not found[0].isdigit():
                    return found
    return None


def name_of_loop(chunk: Chunk, loop: Node) -> str:
    """A name for what one turn of a loop does."""
    target = loop.child_by_field_name("left")
    words = [] if target is None else [word for word in _WORD.findall(chunk.content(target)) if word.strip("_")]
    return words[0][:_LONGEST] if words else "iteration"


def _called(chunk: Chunk, statement: Node) -> Iterator[str]:
    kind = statement.type
    if kind == "for_statement":
        yield f"{name_of_loop(chunk, statement)}_loop"
    elif kind == "while_statement":
        yield "while_loop"
    elif kind in {"function_definition", "class_definition", "decorated_definition"}:
        return
    else:
        inside = [child for child in code_children(statement) if child.type not in {"with_clause", "lambda"}]
        if kind == "call":
            yield from _name_of_call(chunk, statement)
            inside = [statement.child_by_field_name("function") or statement, *inside]
            inside = [child for child in inside if child != statement]
        for child in inside:
            yield from _called(chunk, child)


def _name_of_call(chunk: Chunk, call: Node) -> Iterator[str]:
    function = call.child_by_field_name("function")
    if function is None:
        return
    name = function
    owner: Node | None = None
    if function.type == "attribute":
        name, owner = function.child_by_field_name("attribute") or function, function.child_by_field_name("object")
    if name.type != "identifier":
        return
    text = chunk.content(name)
    if text in _BESIDES:
        return
    if text in _MODELS:
        text = "forward"
    if text in _OF_SOMETHING and owner is not None:
        last = owner.child_by_field_name("attribute") if owner.type == "attribute" else owner
        if last is not None and last.type == "identifier" and chunk.content(last) not in {"self", "cls"}:
            text = f"{chunk.content(last)}_{text}"
    yield text


def _made(chunk: Chunk, statement: Node) -> Iterator[str]:
    for child in code_children(statement):
        left = child.child_by_field_name("left") if child.type in {"assignment", "augmented_assignment"} else None
        if left is not None:
            yield chunk.content(left)
        elif child.type == "block":
            for inner in code_children(child):
                yield from _made(chunk, inner)

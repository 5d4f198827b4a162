"""The name of a region as a pattern, from the expression that names it."""

from collections.abc import Iterable
from typing import Final

from tree_sitter import Node

from kinetoscope_core.source.regions.literals import brace_formatted, percent_formatted, unescaped
from kinetoscope_core.source.regions.name_patterns import UNKNOWN, NamePattern, Part
from kinetoscope_core.source.syntax.bindings import Names, Site
from kinetoscope_core.source.syntax.tree import code_children

# Deeper than anyone nests a name; deeper text is a gap.
_DEPTH: Final = 24


def name_of(call: Node, site: Site, names: Names) -> NamePattern | None:
    """The name that a `record_function(...)` call gives; `None` if it gives none, which torch refuses."""
    arguments = call.child_by_field_name("arguments")
    if arguments is None:
        return None
    if arguments.type != "argument_list":
        # record_function(x for x in y)
        return UNKNOWN
    given = code_children(arguments)
    chunk = names.chunks[site.chunk]
    for argument in given:
        if argument.type == "keyword_argument":
            name, value = argument.child_by_field_name("name"), argument.child_by_field_name("value")
            if name is not None and value is not None and chunk.content(name) == "name":
                return _Namer(names).pattern(value, site, _DEPTH)
    if given and given[0].type != "keyword_argument":
        return _Namer(names).pattern(given[0], site, _DEPTH)
    return UNKNOWN if any(argument.type == "dictionary_splat" for argument in given) else None


class _Namer:
    __slots__ = ("_names",)

    def __init__(self, names: Names) -> None:
        self._names = names

    def pattern(self, node: Node, site: Site, depth: int) -> NamePattern:
        """The text of an expression; a gap where the source does not tell it."""
        if depth == 0 or node.is_missing:
            return UNKNOWN
        kind = node.type
        found: NamePattern | None = None
        if kind == "string":
            found = self._literal(node, site, depth)
        elif kind == "concatenated_string":
            found = self._joined(code_children(node), site, depth)
        elif kind == "binary_operator":
            found = self._operation(node, site, depth)
        elif kind == "call":
            found = self._formatted(node, site, depth)
        elif kind == "identifier":
            found = self._named(node, site, depth)
        elif kind in {"parenthesized_expression", "named_expression"}:
            inner = code_children(node)
            found = self.pattern(inner[-1], site, depth - 1) if inner else None
        return UNKNOWN if found is None else found

    def _content(self, node: Node, site: Site) -> str:
        return self._names.chunks[site.chunk].content(node)

    def _joined(self, nodes: Iterable[Node], site: Site, depth: int) -> NamePattern:
        return NamePattern.of(part for node in nodes for part in self.pattern(node, site, depth - 1).parts)

    def _literal(self, node: Node, site: Site, depth: int) -> NamePattern | None:
        start = node.named_child(0)
        prefix = self._content(start, site).rstrip("'\"").lower() if start and start.type == "string_start" else "b"
        if "b" in prefix or "t" in prefix:
            return None
        parts: list[Part] = []
        for child in node.named_children[1:]:
            if child.type == "string_content":
                text: str | None = self._content(child, site)
                if "f" in prefix:
                    text = text.replace("{{", "{").replace("}}", "}")
                text = text.replace("\r\n", "\n") if "r" in prefix else unescaped(text)
                parts.append(text)
            elif child.type == "interpolation":
                parts += self._interpolation(child, site, depth).parts
        return NamePattern.of(parts)

    def _interpolation(self, node: Node, site: Site, depth: int) -> NamePattern:
        value = node.child_by_field_name("expression")
        is_plain = value is not None and all(child.type in {"{", "}"} or child == value for child in node.children)
        return self.pattern(value, site, depth - 1) if value is not None and is_plain else UNKNOWN

    def _operation(self, node: Node, site: Site, depth: int) -> NamePattern | None:
        # A sum of many terms is a deep tree: it is taken apart here, not by recursion.
        terms: list[Node] = []
        at = node
        while at.type == "binary_operator":
            left, right = at.child_by_field_name("left"), at.child_by_field_name("right")
            operator = at.child_by_field_name("operator")
            if left is None or right is None or operator is None:
                return None
            if operator.type == "%":
                first = self._percent(left, right, site, depth)
                break
            if operator.type != "+":
                first = UNKNOWN
                break
            terms.append(right)
            at = left
        else:
            first = self.pattern(at, site, depth - 1)
        rest = self._joined(reversed(terms), site, depth)
        return NamePattern.of([*(UNKNOWN if first is None else first).parts, *rest.parts])

    def _percent(self, left: Node, right: Node, site: Site, depth: int) -> NamePattern | None:
        template = self.pattern(left, site, depth - 1).exact
        if template is None:
            return None
        operands = code_children(right) if right.type == "tuple" else [right]
        is_spread = any(operand.type == "list_splat" for operand in operands)
        # A single operand that is no string may be a tuple of any length.
        values = [self.pattern(operand, site, depth - 1) for operand in operands]
        return percent_formatted(template, None if is_spread else values)

    def _formatted(self, node: Node, site: Site, depth: int) -> NamePattern | None:
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None or arguments is None or function.type != "attribute":
            return None
        owner, method = function.child_by_field_name("object"), function.child_by_field_name("attribute")
        if owner is None or method is None or self._content(method, site) != "format":
            return None
        template = self.pattern(owner, site, depth - 1).exact
        if template is None or arguments.type != "argument_list":
            return None
        given: dict[str, Node] = {}
        for number, argument in enumerate(code_children(arguments)):
            if argument.type == "list_splat":
                break
            name, value = argument.child_by_field_name("name"), argument.child_by_field_name("value")
            if argument.type == "keyword_argument" and name is not None and value is not None:
                given[self._content(name, site)] = value
            else:
                given[str(number)] = argument

        def find(field: str) -> NamePattern | None:
            return self.pattern(given[field], site, depth - 1) if field in given else None

        return brace_formatted(template, find)

    def _named(self, node: Node, site: Site, depth: int) -> NamePattern | None:
        chunk = self._names.chunks[site.chunk]
        here = site._replace(place=site.place._replace(offset=node.start_byte))
        reached = self._names.reaching(chunk.text[node.start_byte : node.end_byte], here)
        if not reached.is_single:
            return None
        index, binding = reached.bindings[0]
        if binding.value is None or binding.is_anytime:
            return None
        return self.pattern(
            binding.value, Site(index, binding.place._replace(offset=binding.value.start_byte)), depth - 1
        )

"""Where `from torch.profiler import record_function` goes, as isort and ruff would leave it, and how it goes again."""

import re
import sys
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

from tree_sitter import Node

from kinetoscope_core.source.regions.edited_text import Edit, SourceRegions
from kinetoscope_core.source.syntax.tree import Chunk, code_children
from kinetoscope_core.source.wrapping.indents import DEFINITIONS, line_end
from kinetoscope_core.source.wrapping.stretch import is_empty, row_start

MODULE: Final = "torch.profiler"
NAME: Final = "record_function"
_IMPORTS: Final = {
    "import_statement": "import",
    "import_from_statement": "from",
    "future_import_statement": "future",
}
_LINE_LENGTH: Final = 88
"""ruff's own, unless the imports of the file are longer."""


class _Statement(NamedTuple):
    """A statement at column 0 before the first definition. `kind` and `module` are empty if it is no import."""

    node: Node
    chunk: Chunk
    shift: int
    first: int
    last: int
    kind: str
    module: str

    @property
    def is_of_torch(self) -> bool:
        return self.module == "torch" or self.module.startswith("torch.")

    @property
    def is_third_party(self) -> bool:
        top = self.module.partition(".")[0]
        return self.kind in {"import", "from"} and bool(top) and top not in sys.stdlib_module_names

    @property
    def is_relative(self) -> bool:
        return self.module.startswith(".")


def import_edit(source: SourceRegions, before: int | None, alias: str | None = None) -> Edit:
    """What imports `record_function`, above the offset `before` if there is one."""
    top = list(_top(source, before))
    imports = [each for each in top if each.kind]
    same = [each for each in imports if each.kind == "from" and each.module == MODULE and _is_plain(each)]
    if same and alias is None:
        return _added(source, same[-1], _longest(source, imports))
    line = f"from {MODULE} import {NAME}" + (f" as {alias}" if alias else "")
    like = next((each for each in imports if each.is_of_torch), None)
    like = like or next((each for each in imports if each.is_third_party), None)
    if like is not None:
        return _beside(source, imports, like, line)
    end = line_end(source).decode()
    above = [each for each in imports if not each.is_relative]
    if above:
        return _line_at(source, above[-1].last + 1, f"{end}{line}{end}")
    if imports:
        return _line_at(source, imports[0].first, f"{line}{end}{end}")
    return _at_the_top(source, top, line)


def _longest(source: SourceRegions, imports: Sequence[_Statement]) -> int:
    """How long a line may be."""
    rows = (row for each in imports for row in range(each.first, each.last + 1))
    return max(_LINE_LENGTH, *(len(source.line(row)) for row in rows))


def _beside(source: SourceRegions, imports: Sequence[_Statement], like: _Statement, line: str) -> Edit:
    """The line among the imports around a like one: below it, in the order of their modules."""
    block = _around(source, imports, like, with_gaps=True)
    froms = [each for each in block if each.kind == "from" and each.is_of_torch]
    section = _around(source, imports, froms[0] if froms else like, with_gaps=False)
    froms = froms or [each for each in section if each.kind == "from" and not each.is_relative]
    later = next((each for each in froms if _order(each.module) > _order(MODULE)), None)
    if later is None:
        row = (froms[-1] if froms and froms[-1].is_of_torch else section[-1]).last + 1
    else:
        row = _row_above(source, imports, later)
    return _line_at(source, row, line + line_end(source).decode())


def _around(
    source: SourceRegions, imports: Sequence[_Statement], middle: _Statement, *, with_gaps: bool
) -> Sequence[_Statement]:
    """The imports around one with nothing but comments between them, or blank lines as well."""

    def are_together(one: _Statement, other: _Statement) -> bool:
        rows = range(one.last + 1, other.first)
        return all(is_empty(source, row) and (with_gaps or source.line(row).strip()) for row in rows)

    start = stop = imports.index(middle)
    while start and are_together(imports[start - 1], imports[start]):
        start -= 1
    while stop + 1 < len(imports) and are_together(imports[stop], imports[stop + 1]):
        stop += 1
    return imports[start : stop + 1]


def _row_above(source: SourceRegions, imports: Sequence[_Statement], later: _Statement) -> int:
    """Where a line goes that stands before another import: above the comments on that one."""
    at = imports.index(later)
    end = imports[at - 1].last if at else -1
    row = later.first
    while row - 1 > end and source.line(row - 1).strip() and is_empty(source, row - 1):
        row -= 1
    return later.first if row == 0 else row


def _order(module: str) -> tuple[str, str]:
    return module.lower(), module


def _at_the_top(source: SourceRegions, top: Sequence[_Statement], line: str) -> Edit:
    """The line as the only import: below the docstring, and the comments of the file."""
    end = line_end(source).decode()
    docstring = top[0] if top and is_docstring(top[0].node) else None
    if docstring is not None:
        row = docstring.last + 1
        return _line_at(source, row + (not source.line(row).strip()), f"{line}{end}{end}")
    row = next(_rows_with_code(source), 0)
    definition = bool(re.match(rb"(?:def|class|async)\b|@", source.line(row)))
    attached = row
    while attached and source.line(attached - 1).strip() and is_empty(source, attached - 1):
        attached -= 1
    row = attached or row
    return _line_at(source, row, f"{line}{end}{end}{end if definition else ''}")


def _rows_with_code(source: SourceRegions) -> Iterator[int]:
    row = 0
    while row_start(source, row) < len(source.data):
        if not is_empty(source, row):
            yield row
        row += 1


def is_docstring(node: Node) -> bool:
    """Whether a statement is a string and nothing else."""
    children = code_children(node)
    return node.type == "expression_statement" and len(children) == 1 and children[0].type == "string"


def _line_at(source: SourceRegions, row: int, text: str) -> Edit:
    at = row_start(source, row)
    if at == len(source.data) and at and not source.data.endswith((b"\n", b"\r")):
        end = line_end(source).decode()
        text = end + text.removesuffix(end)
    return Edit(at, at, text)


def _top(source: SourceRegions, before: int | None) -> Iterator[_Statement]:
    """The statements up to the first definition, or up to the offset."""
    begin = 0
    for chunk in source.pieces:
        shift = begin - chunk.head_bytes
        if chunk.inside or not chunk.is_sound:
            return
        for node in chunk.statements:
            start = node.start_byte + shift
            if node.type in DEFINITIONS or (before is not None and start >= before):
                return
            rows = source.position(start).row, source.position(node.end_byte + shift - 1).row
            yield _Statement(node, chunk, shift, *rows, _IMPORTS.get(node.type, ""), _module_of(chunk, node))
        begin += len(chunk.data)


def _module_of(chunk: Chunk, node: Node) -> str:
    if node.type not in _IMPORTS:
        return ""
    module = node.child_by_field_name("module_name") or node.child_by_field_name("name")
    if module is not None and module.type == "aliased_import":
        module = module.child_by_field_name("name")
    return "" if module is None else "".join(chunk.content(module).split())


# --- a name in an import that is there


def _names_in(statement: _Statement) -> list[Node]:
    return statement.node.children_by_field_name("name")


def _is_plain(statement: _Statement) -> bool:
    """Whether names can be added to it: it has no star, no other names for them, no comments, no backslash."""
    node = statement.node
    text = statement.chunk.text[node.start_byte : node.end_byte]
    names = _names_in(statement)
    return bool(names) and all(name.type == "dotted_name" for name in names) and not re.search(rb"[#\\]", text)


def _kind_and_name(name: str) -> tuple[int, str, str]:
    """As isort orders names: constants, classes, the rest."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    return kind, name.lower(), name


def _added(source: SourceRegions, statement: _Statement, longest: int) -> Edit:
    names, shift, end = _names_in(statement), statement.shift, line_end(source).decode()
    texts = [statement.chunk.content(name) for name in names]
    at = next((i for i, text in enumerate(texts) if _kind_and_name(text) > _kind_and_name(NAME)), len(texts))
    rows = [source.position(name.start_byte + shift).row for name in names]
    is_in_brackets = statement.chunk.text[: statement.node.end_byte].endswith(b")")
    is_listed = len({statement.first, *rows}) == len(rows) + 1 and (statement.last == rows[-1] + 1)
    if is_listed and source.line(rows[-1]).rstrip().endswith(b","):
        beside = source.line(rows[0])
        indent = beside[: len(beside) - len(beside.lstrip())].decode()
        row = rows[at] if at < len(rows) else rows[-1] + 1
        return _line_at(source, row, f"{indent}{NAME},{end}")
    length = len(source.line(statement.first)) + len(NAME) + 2
    if not is_in_brackets and length > longest:
        texts.insert(at, NAME)
        listed = "".join(f"    {text},{end}" for text in texts)
        start, stop = statement.node.start_byte + shift, statement.node.end_byte + shift
        return Edit(start, stop, f"from {MODULE} import ({end}{listed})")
    if at < len(names):
        return Edit(names[at].start_byte + shift, names[at].start_byte + shift, f"{NAME}, ")
    last = names[-1].end_byte + shift
    return Edit(last, last, f", {NAME}")


# --- and back


def applied(data: bytes, edits: Sequence[Edit]) -> bytes:
    """The text after edits, the last place of which comes first."""
    for edit in edits:
        data = b"".join((data[: edit.start], edit.text.encode(), data[edit.end :]))
    return data


def unimport_edit(source: SourceRegions, before: int | None, alias: str | None = None) -> Edit | None:
    """What removes the import of `record_function` at the top; `None` if it is not there, or not in a usual form.

    Where the import was added by `import_edit`, this restores the text from before.
    """
    wanted = NAME if alias is None else f"{NAME} as {alias}"
    top = list(_top(source, before))
    for statement in top:
        names = [statement.chunk.content(name) for name in _names_in(statement)] if statement.kind == "from" else []
        is_usual = statement.module == MODULE and (_is_plain(statement) or len(names) == 1)
        is_kept = len(names) == 1 and b"noqa" in source.line(statement.last)
        if is_usual and wanted in names and not is_kept:
            ways = list(_without(source, statement, names, _longest(source, [each for each in top if each.kind])))
            after = next((row for row in _rows_with_code(source) if row > top[-1].last), top[-1].last)
            ends = accumulate(len(piece.data) for piece in source.pieces)
            head = source.data[: next(end for end in ends if end > row_start(source, after))]
            return next((edit for edit in ways if _is_undone_by(head, edit, before, alias)), ways[0])
    return None


def _is_undone_by(data: bytes, edit: Edit, before: int | None, alias: str | None) -> bool:
    """Whether the import would be added just there again."""
    moved = None if before is None else before - (edit.end - edit.start) + len(edit.text)
    first = applied(data, [edit])
    return applied(first, [import_edit(SourceRegions(first), moved, alias)]) == data


def _without(source: SourceRegions, statement: _Statement, names: Sequence[str], longest: int) -> Iterator[Edit]:
    """The ways to remove the name, the likeliest first."""
    if len(names) == 1:
        start = row_start(source, statement.first)
        stops = [row_start(source, statement.last + 1 + blank) for blank in range(3)]
        yield Edit(start, stops[0], "")
        for blank in range(2):
            if not source.line(statement.last + 1 + blank).strip():
                yield Edit(start, stops[blank + 1], "")
        if statement.first and not source.line(statement.first - 1).strip():
            yield Edit(row_start(source, statement.first - 1), stops[0], "")
        if stops[0] == len(source.data) and statement.first:  # it was added at the end of a file without a line end
            before = source.offset(statement.first - 1, len(source.line(statement.first - 1)), "utf-8")
            yield Edit(before, stops[0], "")
        return
    nodes, shift = _names_in(statement), statement.shift
    at = list(names).index(NAME)
    rows = [source.position(node.start_byte + shift).row for node in nodes]
    is_alone = rows.count(rows[at]) == 1 and rows[at] not in {statement.first, statement.last}
    if is_alone:
        joined = f"from {MODULE} import {', '.join(name for name in names if name != NAME)}"
        whole = Edit(statement.node.start_byte + shift, statement.node.end_byte + shift, joined)
        if len(joined) <= longest < len(joined) + len(NAME) + 2:
            yield whole  # the name made it too long for one line
        yield Edit(row_start(source, rows[at]), row_start(source, rows[at] + 1), "")
    if at + 1 < len(nodes):
        yield Edit(nodes[at].start_byte + shift, nodes[at + 1].start_byte + shift, "")
    else:
        yield Edit(nodes[at - 1].end_byte + shift, nodes[at].end_byte + shift, "")

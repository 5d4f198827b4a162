"""Edits that carry out what a finding says, where they are safe and certain; else there is none.

What an edit does to the text is checked on Python's own reading of it; broken text gets none. That is asked at each
cursor move and takes 60 ms in 5,000 lines, so it is remembered until the text changes.
"""

import ast
from functools import lru_cache

from lsprotocol import types

from kinetoscope_core.results.measures import Finding
from kinetoscope_core.source.regions import Position, Range, Region
from kinetoscope_core.source.suppressions import COMMENT
from kinetoscope_server.text.documents import Document

_PRECISION = 'torch.set_float32_matmul_precision("high")'


def fix(document: Document, region: Region, finding: Finding) -> tuple[str, types.TextEdit] | None:
    """The title and the edit that a finding suggests at its region."""
    if finding.code == "tensor-cores-unused":
        edit = _allow_tf32(document)
        return None if edit is None else ("Multiply in TF32 from here on: set_float32_matmul_precision", edit)
    if finding.code == "synchronisation" and finding.evidence.get("waits") == finding.evidence.get("pinned_waits"):
        edit = _without_waiting(document, region)
        return None if edit is None else ("Copy without waiting: non_blocking=True", edit)
    return None


def suppression(document: Document, row: int, code: str) -> types.TextEdit | None:
    """A comment at the end of the row that switches the finding off there."""
    line, source = document.line(row), document.source
    if row == 0 and line.startswith(b"#!"):
        return None  # the system would take the comment for an argument of the interpreter
    comment = source.comment(row)
    known = COMMENT.search(comment)
    if known is not None:
        if known[1] is None:
            return None  # all findings are off here
        column = len(line) - len(comment) + known.end(1)
        before, after = ", " if known[1].strip() else "", ""
    else:
        column = len(line.rstrip())
        before, after = "  # kinetoscope: ignore[", "]"
    is_continued = not comment and line.endswith(b"\\")
    if is_continued or not source.is_code(source.offset(row, len(line), "utf-8")) or not _is_sound(source.data):
        return None  # it would be no comment
    return _insertion(document, row, column, f"{before}{code}{after}")


@lru_cache(maxsize=2)
def _is_sound(text: bytes) -> bool:
    return _tree(text) is not None


def _allow_tf32(document: Document) -> types.TextEdit | None:
    """A line after the imports at the top, if `torch` is imported there and nothing has been set yet."""
    text = document.source.data
    if b"set_float32_matmul_precision" in text or b"allow_tf32" in text:
        return None
    row = _last_row_of_imports(text)
    if row is None:
        return None
    ending = "\r\n" if b"\r\n" in text else "\n"
    return _insertion(document, row, len(document.line(row)), f"{ending}{ending}{_PRECISION}")


@lru_cache(maxsize=2)
def _last_row_of_imports(text: bytes) -> int | None:
    """Where the imports at the top end; None where `torch` is not among them."""
    tree = _tree(text)
    if tree is None:
        return None
    last = None
    has_torch = False
    for statement in tree.body:
        match statement:
            case ast.Import(names=names):
                has_torch = has_torch or any(alias.name == "torch" and alias.asname is None for alias in names)
                last = statement
            case ast.ImportFrom():
                last = statement
            case ast.Expr(value=ast.Constant(value=str())) if last is None:
                continue
            case _:
                break
    if last is None or not has_torch or last.end_lineno is None:
        return None
    return last.end_lineno - 1


def _without_waiting(document: Document, region: Region) -> types.TextEdit | None:
    """`non_blocking=True` in the only `.to(…)` or `.cuda(…)` of the region's body."""
    tree = _tree(document.source.data)
    if tree is None or region.body is None:
        return None
    rows = range(region.body.start.row + 1, region.body.end.row + 2)
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("to", "cuda", "copy_")
        and node.lineno in rows
    ]
    if len(calls) != 1:
        return None
    (call,) = calls
    if any(keyword.arg in ("non_blocking", None) for keyword in call.keywords) or call.end_lineno is None:
        return None
    row, column = call.end_lineno - 1, (call.end_col_offset or 0) - 1
    before = document.line(row)[:column].rstrip()
    separator = "" if before.endswith(b"(") else " " if before.endswith(b",") else ", "
    return _insertion(document, row, len(before), f"{separator}non_blocking=True")


def _tree(text: bytes) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


def _insertion(document: Document, row: int, column: int, text: str) -> types.TextEdit:
    place = Position(row, column)
    return types.TextEdit(document.in_client_units(Range(place, place)), text)

"""Where a script's source saves something when it is ended early: in its `finally` blocks, and where it expects Ctrl-C.

A guess by the names of what is called there; the source is parsed, not run.
"""

import ast
import re
from collections.abc import Iterator

_SAVES = re.compile(
    r"save|dump|checkpoint|ckpt|export|upload|push_to_hub|log_artifact|write_text|write_bytes", re.IGNORECASE
)
_ENDS = ("BaseException", "SystemExit", "KeyboardInterrupt")


def saves_when_ended(source: bytes) -> list[tuple[int, str]]:
    """Line, from 1, and name of each such call; none for a source that this Python cannot parse."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found = {
        (call.lineno, ast.unparse(call.func))
        for node in ast.walk(tree)
        if isinstance(node, ast.Try)
        for statement in _run_at_the_end(node)
        for call in ast.walk(statement)
        if isinstance(call, ast.Call) and _SAVES.search(_last_name(call.func))
    }
    return sorted(found)


def _run_at_the_end(node: ast.Try) -> Iterator[ast.stmt]:
    yield from node.finalbody
    for handler in node.handlers:
        kind = handler.type
        kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
        if any(each is None or _last_name(each) in _ENDS for each in kinds):
            yield from handler.body


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""

"""Regions put around drawn statements of the standard library and of torch, as texts, and taken out again.

    python -m tests.source.wrapping.wrapping_property [DRAWS] [--seed S] [--how block|function|loop] [--ruff]

Each draw checks that the text still parses, that Python's own tree of it is the old one but for the region and its
import, and that removing the region gives the old text to the byte. With `--ruff` the texts are first formatted by it,
and it has to leave the result as it is: that is checked where no line became longer than it allows. `test_drawn.py`
takes some draws of it.
"""

import argparse
import ast
import random
import re
import subprocess
import sys
import sysconfig
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from kinetoscope_core.source.regions import SourceRegions
from kinetoscope_core.source.wrapping import (
    Measured,
    Refusal,
    measure_block,
    measure_function,
    measure_loop_body,
    remove_region,
)
from kinetoscope_core.source.wrapping.imports import applied

LONGEST = 120_000
RUFF = Path(sys.executable).with_name("ruff")


def sources() -> list[Path]:
    """The files of the standard library and of torch, in one order on any machine, without very large ones."""
    library = Path(sysconfig.get_path("stdlib"))
    found = sorted(path for path in library.rglob("*.py") if "site-packages" not in path.parts)
    torch = find_spec("torch")
    if torch is not None and torch.origin is not None:
        found += sorted(Path(torch.origin).parent.rglob("*.py"))
    return [path for path in found if path.stat().st_size < LONGEST]


def lists_of(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    for node in ast.walk(tree):
        for _, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                yield value


def first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in decorators)])


@lru_cache(maxsize=64)
def parsed(text: bytes) -> tuple[str, Any]:
    """What Python reads there, as a text without the imports of `record_function`; and the tree."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compile(
            text, "text", "exec", dont_inherit=True
        )  # what only parses, as an import from __future__ at the end, runs nowhere
        tree = ast.parse(text)
    return ast.dump(Plain().visit(ast.parse(text))), tree


class Plain(ast.NodeTransformer):
    """Without the imports of `record_function`, and without the region of a name, if one is given."""

    def __init__(self, region: str | None = None) -> None:
        self.region = region
        self.removed = 0

    def is_region(self, node: ast.expr) -> bool:
        match node:
            case ast.Call(args=[ast.Constant(value=self.region)], keywords=[]):
                return ast.unparse(node.func).endswith("record_function")
        return False

    def visit_ImportFrom(self, node: ast.ImportFrom) -> Any:
        if node.module == "torch.profiler":
            node.names = [alias for alias in node.names if alias.name != "record_function"]
        return node if node.names else None

    def visit_With(self, node: ast.With) -> Any:
        self.generic_visit(node)
        if self.region and len(node.items) == 1 and self.is_region(node.items[0].context_expr):
            self.removed += 1
            return node.body
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        self.generic_visit(node)
        if self.region and node.decorator_list and self.is_region(node.decorator_list[-1]):
            self.removed += 1
            node.decorator_list.pop()
        return node


def drawn_rows(how: str, tree: Any, text: bytes, dice: random.Random) -> tuple[int, int] | None:
    """The rows of a selection of whole statements on lines of their own; those of heads for the other two ways."""
    lines = text.splitlines(keepends=True)
    if how != "block":
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef) if how == "function" else (ast.For, ast.While, ast.AsyncFor)
        rows = [node.lineno - 1 for node in ast.walk(tree) if isinstance(node, kinds)]
        row = dice.choice(rows) if rows else None
        return None if row is None else (row, row)
    lists = list(lists_of(tree))
    if not lists:
        return None
    held = dice.choice(lists)
    first = dice.randrange(len(held))
    last = min(len(held) - 1, first + int(dice.expovariate(0.5)))
    start, end = first_line(held[first]) - 1, (held[last].end_lineno or 0) - 1
    begins = lines[start][: len(lines[start]) - len(lines[start].lstrip())]
    column = held[first].col_offset if start == held[first].lineno - 1 else len(begins)
    shares = [first_line(node) - 1 <= end and (node.end_lineno or 0) - 1 >= start for node in held]
    if column != len(begins) or sum(shares) != last - first + 1:
        return None  # a statement that shares its line
    while dice.random() < 0.4 and start and lines[start - 1].lstrip()[:1] in {b"", b"#"}:
        start -= 1
    while dice.random() < 0.4 and end + 1 < len(lines) and lines[end + 1].lstrip()[:1] in {b"", b"#"}:
        end += 1
    return start, end


def measured(how: str, source: SourceRegions, rows: tuple[int, int]) -> Measured | Refusal | None:
    if how == "block":
        return measure_block(source, *rows)
    return (measure_function if how == "function" else measure_loop_body)(source, rows[0])


def check(how: str, text: bytes, rows: tuple[int, int], *, is_compared: bool) -> bytes | str:
    """The text with the region, or why there is none; raises AssertionError where something is not as it should be."""
    source = SourceRegions(text)
    found = measured(how, source, rows)
    if found is None:
        return "no head here"
    if isinstance(found, Refusal):
        return found.reason
    result = applied(text, found.edits())
    if not is_compared:
        return result
    old, _ = parsed(text)
    plain = Plain(found.name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        new = ast.dump(plain.visit(ast.parse(result)))
    assert plain.removed == 1, "there is no region"
    assert new == old, "the code is another"
    again = SourceRegions(result)
    (region,) = [region for region in again.regions if region.name == found.name]
    removed = remove_region(again, region)
    assert removed is not None, "it cannot be removed"
    assert not isinstance(removed, Refusal), removed
    assert applied(result, removed.edits()) == text, "removing it does not give the old text"
    return result


def draw(
    how: str, count: int, seed: int, files: list[tuple[str, bytes]], *, is_compared: bool = True
) -> tuple[list[tuple[str, bytes, bytes]], Counter[str], list[str]]:
    """So many regions put and removed: (name, text before, text after); why others were refused; what went wrong.

    At most five of one file in a row, as its text is read once for them. Raises AssertionError if the files hold too
    little to draw from.
    """
    dice = random.Random(seed)
    done: list[tuple[str, bytes, bytes]] = []
    refused: Counter[str] = Counter()
    wrong: list[str] = []
    for _ in range(10 * count):
        if len(done) == count or len(wrong) > 20:
            return done, refused, wrong
        name, text = dice.choice(files)
        try:
            _, tree = parsed(text)
        except (SyntaxError, ValueError):
            continue
        for _ in range(min(5, count - len(done))):
            rows = drawn_rows(how, tree, text, dice)
            if rows is None:
                continue
            try:
                result = check(how, text, rows, is_compared=is_compared)
            except (AssertionError, SyntaxError, ValueError) as error:
                wrong.append(f"{name}:{rows[0] + 1}-{rows[1] + 1}: {str(error).splitlines()[0]}")
                continue
            if isinstance(result, str):
                refused[result] += 1
            else:
                done.append((name, text, result))
    raise AssertionError(
        f"{len(done)} regions put, {len(wrong)} wrong, {refused.total()} refused: too little to draw from"
    )


def formatted(files: list[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
    """The texts as ruff leaves them, without those that it cannot read."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, f"f{number}.py") for number in range(len(files))]
        for path, (_, text) in zip(paths, files, strict=True):
            path.write_bytes(text)
        ruff("format", "-q", folder)
        unsorted = ruff("check", "-q", "--select", "I", "--output-format", "concise", folder)
        changed = ruff("format", "--check", folder)
        return [
            (name, path.read_bytes())
            for path, (name, _) in zip(paths, files, strict=True)
            if f"{path.name}:" not in unsorted and f"{path}\n" not in changed
        ]


def not_as_ruff_leaves_them(done: list[tuple[str, bytes, bytes]]) -> tuple[int, list[str]]:
    """How many results have no line that is too long, and what ruff would change of these."""
    short = [each for each in done if max(map(len, each[2].decode().splitlines())) <= 88 and is_plain(each[2])]
    with tempfile.TemporaryDirectory() as folder:
        for number, (_, _, text) in enumerate(short):
            Path(folder, f"f{number}.py").write_bytes(text)
        said = ruff("format", "--diff", folder) + ruff(
            "check", "-q", "--select", "I", "--output-format", "concise", folder
        )
    return len(
        short
    ), [] if "1 file would" not in said and "files would be ref" not in said and "I001" not in said else [said]


def is_plain(text: bytes) -> bool:
    """Whether no region has what ruff writes in another way inside of a block: two blank lines, a docstring."""
    for region in SourceRegions(text).regions:
        body = region.body
        lines = b"" if body is None else b"\n".join(text.split(b"\n")[body.start.row : body.end.row + 1])
        if region.kind == "with" and re.search(rb"\n\n\n|(?:def|class) [^\n]*:\n\s*r?\"\"\"", lines):
            return False
    return True


def ruff(*arguments: str) -> str:
    command = [RUFF, arguments[0], "--isolated", "--no-cache", *arguments[1:]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("draws", type=int, nargs="?", default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--how", choices=("block", "function", "loop"), default="block")
    parser.add_argument("--ruff", action="store_true")
    asked = parser.parse_args()
    started = time.monotonic()
    paths = sources()
    if asked.ruff:
        paths = random.Random(asked.seed).sample(paths, 200)
    files = [(str(path), path.read_bytes()) for path in paths]
    if asked.ruff:
        files = formatted(files)
    done, refused, wrong = draw(asked.how, asked.draws, asked.seed, files)
    print(f"{len(done)} regions put and removed in {time.monotonic() - started:.0f} s, of {len(files)} files.")
    for reason, count in refused.most_common():
        print(f"  {count:5} refused: {reason}")
    if asked.ruff:
        count, changes = not_as_ruff_leaves_them(done)
        print(f"{count} without a line of more than 88 columns.", *changes, sep="\n")
        wrong += changes
    print(*wrong, sep="\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()

"""What it costs to find regions: the whole text, and again after one edit, with `ast.parse` beside it.

    PYTHONPATH=profiler_core python benchmarks/regions.py

Prints medians and 99th percentiles of one run. "edit + regions" is what a language server waits for after a key.
"""

import ast
import re
import statistics
import time
from collections.abc import Callable, Iterable

from kinetoscope_core.source.regions import Edit, SourceRegions, find_regions

HEAD = """import torch
from torch import nn
from torch.profiler import record_function

"""

CLASS = '''
class Block{n}(nn.Module):
    """One block, number {n}."""

    def __init__(self, width: int, heads: int = 8) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.heads = heads
        self.mix = nn.Linear(width, 3 * width, bias=False)

    @record_function("block_{n}.forward")
    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        with record_function("block_{n}.attention"):
            q, k, v = self.mix(self.norm(x)).chunk(3, dim=-1)
            scores = (q @ k.transpose(-2, -1)) / (q.shape[-1] ** 0.5)
            if mask is not None:
                scores = scores.masked_fill(mask == 0, float("-inf"))
        for step in range(3):
            with torch.profiler.record_function(f"block_{n}.step_{{step}}"):
                x = x + torch.softmax(scores, dim=-1) @ v
        return x


def load_{n}(path, *, limit=None):
    # Reads one number a line; comments begin with a hash.
    rows = [line.split(",") for line in open(path) if not line.startswith("#")]
    return [dict(zip(("a", "b", "c"), map(float, row))) for row in rows[:limit]]

'''


def text_of(lines: int) -> str:
    """Ordinary code of about that many lines, a region for every ten."""
    each = CLASS.count("\n")
    return HEAD + "".join(CLASS.format(n=n) for n in range((lines - 5) // each))


def measured(work: Callable[[], object], rounds: int) -> list[float]:
    """Milliseconds of each round."""
    times: list[float] = []
    for _ in range(rounds):
        start = time.perf_counter_ns()
        work()
        times.append((time.perf_counter_ns() - start) / 1e6)
    return times


def edited(source: SourceRegions, at: int, old: int, new: str) -> Callable[[], object]:
    """One key and the regions after it; called again, it is taken back."""
    state = [Edit(at, at + old, new), Edit(at, at + len(new), source.data[at : at + old].decode())]

    def work() -> object:
        source.apply([state[0]])
        state.reverse()
        return source.regions

    return work


def row(label: str, times: Iterable[float]) -> None:
    """Print one line."""
    values = sorted(times)
    p99 = values[min(len(values) - 1, round(len(values) * 0.99))]
    print(f"  {label:<44}{statistics.median(values):>10.3f}{p99:>10.3f}")


def main() -> None:
    """Measure and print."""
    for lines in (200, 5_000, 50_000):
        text = text_of(lines)
        data = text.encode()
        rounds = {200: 200, 5_000: 20, 50_000: 4}[lines]
        source = SourceRegions(text)
        print(f"{len(data.splitlines()):,} lines, {len(data):,} bytes, {len(source.regions):,} regions (ms)")
        print(f"  {'':<44}{'median':>10}{'p99':>10}")
        row("ast.parse, without finding anything", measured(lambda t=text: ast.parse(t), rounds))
        row("find_regions, whole text", measured(lambda t=text: find_regions(t), rounds))
        middle = data.index(b"scores = (q", len(data) // 2)
        for label, at, old, new in (
            ("a letter in the middle", middle, 0, "x"),
            ("a letter in a region's name", data.index(b".attention", middle), 0, "x"),
            ("a stray ( and back", middle + 8, 0, "("),
            ('a stray " and back', middle + 8, 0, '"'),
            ("a new line at the top", len(HEAD) - 1, 0, "\n"),
            ("the import taken away and back", data.index(b"record_function"), 1, ""),
            ('""" in the middle, and back', middle - 13, 0, '"""'),
        ):
            row(f"edit + regions: {label}", measured(edited(source, at, old, new), 4 * rounds))
        one = "class All:\n" + "".join(f"    {line}\n" if line else "\n" for line in text.split("\n")[5:])
        long = SourceRegions("from torch.profiler import record_function\n" + one)
        few = re.sub(r"record_function(?=.*[0-9][1-9])", "other_function", one)
        sparse = SourceRegions("from torch.profiler import record_function\n" + few)
        at = sparse.data.index(b"scores = (q", len(sparse.data) // 2)
        label = f"one class, {len(sparse.regions):,} regions"
        row(f"{label}: a letter", measured(edited(sparse, at, 0, "x"), 2 * rounds))
        row(f"{label}: a stray ( and back", measured(edited(sparse, at + 8, 0, "("), 2 * rounds))
        at = long.data.index(b"scores = (q", len(long.data) // 2)
        label = f"one class, {len(long.regions):,} regions"
        row(f"{label}: a letter", measured(edited(long, at, 0, "x"), 2 * rounds))
        row(f"{label}: a stray ( and back", measured(edited(long, at + 8, 0, "("), 2 * rounds))


if __name__ == "__main__":
    main()

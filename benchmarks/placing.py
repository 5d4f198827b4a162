"""What it costs to place measured regions again, given the regions of the text.

    PYTHONPATH=profiler_core python benchmarks/placing.py

Prints medians and 99th percentiles of one run, in milliseconds of processor time. "keystroke" is what a language server
pays for after each key, on top of benchmarks/regions.py; "first" is a file that is opened, once per opening, as it was
measured or not quite.
docs/performance.md has its figures.
"""

import statistics
import time
from collections.abc import Callable

from kinetoscope_core.source.placement import Fingerprint, Placer, fingerprints_of
from kinetoscope_core.source.regions import Edit, SourceRegions

HEAD = "import torch\nfrom torch.profiler import record_function\n\n"
FUNCTION = '''
def layer_{n}(x, weight, *, scale=1.0):
    """Layer number {n}, as ordinary as the others.

    It has a docstring of some lines.
    """
    # A comment, as there often is one.
    rows = [row for row in x if row is not None]
    if scale != 1.0:
        x = torch.stack(
            [torch.as_tensor(row, dtype=torch.float32) * scale for row in rows],
            dim=0,
        )
    with record_function("layer_{n}"):
        hidden = torch.nn.functional.linear(x, weight[{n} % len(weight)])
        hidden = hidden.relu() + x["bias"] if isinstance(x, dict) else hidden
        for step in range(3):
            hidden = torch.softmax(hidden @ weight.T, dim=-1) @ weight
    total = hidden.sum(dim=0, keepdim=True)
    print("layer {n}", total.shape, flush=True)
    return hidden / total

'''


def in_functions(lines: int) -> str:
    """A text of about that many lines with a region for every 24, each in a function of its own."""
    return HEAD + "".join(FUNCTION.format(n=n) for n in range(lines // FUNCTION.count("\n")))


def in_one_function(lines: int) -> str:
    """The same with all regions in one function."""
    body = [line for line in in_functions(lines).split("\n")[3:] if not line.startswith("def ")]
    return HEAD + "def main(x, weight, scale):\n" + "\n".join(body) + "\n"


def in_one_class(lines: int) -> str:
    """The same with each function a method of one class."""
    functions = in_functions(lines).removeprefix(HEAD)
    return HEAD + "class Everything:\n" + "".join(f"    {line}\n" if line else "\n" for line in functions.split("\n"))


def at_module_level(lines: int) -> str:
    """The same with all regions outside functions."""
    body = in_functions(lines).split("\n")[3:]
    return HEAD + "\n".join(line[4:] for line in body if not line.startswith("def ")) + "\n"


def measured(work: Callable[[], tuple[float, object]], rounds: int) -> str:
    """Median and 99th percentile of the milliseconds that the work says it took."""
    times = sorted(work()[0] for _ in range(rounds))
    return f"{statistics.median(times):>10.3f}{times[min(len(times) - 1, round(len(times) * 0.99))]:>10.3f}"


def keystroke(placer: Placer, source: SourceRegions, at: int, new: str) -> Callable[[], tuple[float, object]]:
    """One key and its placing; called again, it is taken back."""
    edits = [Edit(at, at, new), Edit(at, at + len(new), "")]

    def work() -> tuple[float, object]:
        source.apply([edits[0]])
        edits.reverse()
        return timed(placer, source)

    return work


def timed(placer: Placer, source: SourceRegions) -> tuple[float, object]:
    """The milliseconds of one placing, the regions being known."""
    assert source.regions
    start = time.process_time_ns()
    placements = placer.place(source)
    return (time.process_time_ns() - start) / 1e6, placements


def first(fingerprints: list[Fingerprint], source: SourceRegions) -> Callable[[], tuple[float, object]]:
    """Placing by a placer that has not seen the text."""
    return lambda: timed(Placer(fingerprints), source)


def main() -> None:
    """Measure and print."""
    texts = (
        ("a function each", in_functions),
        ("a method each, all in one class", in_one_class),
        ("all in one function", in_one_function),
        ("at module level", at_module_level),
    )
    for lines in (200, 5_000, 50_000):
        for label, text_of in texts:
            text = text_of(lines)
            source = SourceRegions(text)
            start = time.process_time_ns()
            fingerprints = fingerprints_of(source)
            took = (time.process_time_ns() - start) / 1e6
            print(f"{lines:,} lines, {len(fingerprints):,} regions, {label} (ms)")
            print(f"  {'fingerprints of all, when measured':<44}{took:>10.3f}")
            rounds = {200: 100, 5_000: 50, 50_000: 6}[lines]
            print(f"  {'first: the text as measured':<44}{measured(first(fingerprints, source), rounds)}")
            middle = source.data.index(b"relu", len(source.data) // 2)
            source.apply([Edit(middle, middle, "x")])
            print(f"  {'first: one letter more':<44}{measured(first(fingerprints, source), max(rounds // 5, 2))}")
            source.apply([Edit(middle, middle + 1, "")])
            for key, at, new in (
                ("a letter in a region", middle, "x"),
                ("a letter in a comment", source.data.index(b"comment", middle), "x"),
                ("a new line at the top", len(HEAD) - 1, "\n"),
                ("a stray (", middle, "("),
            ):
                # A change that stays, so that taking a key back does not lead to what was measured.
                stays = "\n" if new == "\n" else "q"
                source.apply([Edit(at, at, stays)])
                placer = Placer(fingerprints)
                timed(placer, source)
                print(f"  {'keystroke: ' + key:<44}{measured(keystroke(placer, source, at, new), 2 * rounds)}")
                source.apply([Edit(at, at + 1, "")])


if __name__ == "__main__":
    main()

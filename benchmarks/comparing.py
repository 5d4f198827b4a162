"""Comparing two runs of many regions: CPU time of each part, as medians of rounds.

python benchmarks/comparing.py [REGIONS] [--rounds N]
"""

import argparse
import statistics
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kinetoscope_core.analysis.breakdown import KEPT, KEPT_OF_MANY_REGIONS, MANY_REGIONS
from kinetoscope_core.analysis.comparison import compare
from kinetoscope_core.analysis.comparison.matching import pairs_of
from kinetoscope_core.jobs.measure import measure_traces
from kinetoscope_core.results.comparison import to_json
from kinetoscope_core.results.measures import RegionMeasures
from kinetoscope_core.results.result import Result
from kinetoscope_core.source.placement import fingerprints_of

if TYPE_CHECKING:
    from collections.abc import Callable

TRACE = Path(__file__).parents[1] / "tests" / "traces" / "h200" / "train_mlp.json.gz"


def made(measured: Result, regions: int, *, is_moved: bool) -> Result:
    """A result with so many regions of the recorded one, in one file; moved, partly renamed, and with other times."""
    lines = ["from torch.profiler import record_function", *(["# moved"] if is_moved else [])]
    most = KEPT if regions <= MANY_REGIONS else KEPT_OF_MANY_REGIONS
    rows = [
        replace(
            region,
            breakdown=replace(
                region.breakdown, kernels=region.breakdown.kernels[:most], operators=region.breakdown.operators[:most]
            ),
        )
        for region in measured.regions
    ]
    found: list[RegionMeasures] = []
    for number in range(regions):
        name = f"region_{number}" if not is_moved or number % 50 else f"renamed_{number}"
        lines += [f"def function_{number}(x):", f"    with record_function({name!r}):", f"        return x + {number}"]
        row = replace(rows[number % len(rows)], name=name, file="/a.py", line=len(lines) - 1)
        found.append(longer(row, 1 + number % 40 / 100) if is_moved else row)
    text = "\n".join(lines) + "\n"
    return replace(measured, regions=tuple(found), groups=(), sources={"/a.py": tuple(fingerprints_of(text))})


def longer(row: RegionMeasures, factor: float) -> RegionMeasures:
    """The region with times that are larger by the factor."""
    kernels = (replace(each, total_ns=int(each.total_ns * factor)) for each in row.breakdown.kernels)
    times = {name: getattr(row, name) for name in ("cpu_total_ns", "cpu_self_ns", "cuda_total_ns", "cuda_self_ns")}
    return replace(
        row,
        **{name: each and replace(each, median=int(each.median * factor)) for name, each in times.items()},
        breakdown=replace(row.breakdown, kernels=tuple(kernels)),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("regions", type=int, nargs="?", default=5_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    measured = measure_traces([TRACE], [])
    a, b = (made(measured, options.regions, is_moved=is_moved) for is_moved in (False, True))
    comparison = compare([a], [b])
    works: dict[str, Callable[[], object]] = {
        "matching": lambda: pairs_of(a, b),
        "one process a side": lambda: compare([a], [b]),
        "five processes a side": lambda: compare([a] * 5, [b] * 5),
        "as JSON": lambda: to_json(comparison),
    }
    parts: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(options.rounds):
        for name, work in works.items():
            began = time.process_time()
            made_now = work()
            parts[name].append(time.process_time() - began)
            del made_now  # that it is taken apart again is no part of it
    for name, seconds in parts.items():
        median, least, most = statistics.median(seconds), min(seconds), max(seconds)
        print(f"{options.regions} regions, {name}: {median:.3f} s ({least:.3f} to {most:.3f})")


if __name__ == "__main__":
    main()

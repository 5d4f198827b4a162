"""How long many ranks take to read, and how much memory: copies of one recorded rank, each under a number of its own.

python benchmarks/ranks.py [RANKS]        128 by default: 262 MB in a temporary folder
"""

import argparse
import gzip
import json
import resource
import tempfile
import time
from pathlib import Path

from kinetoscope_core.jobs.measure import measure_traces
from kinetoscope_core.results.result import to_json

RANK = Path(__file__).parents[1] / "tests" / "traces" / "ranks" / "ddp_rank0.json.gz"


def written(folder: Path, number: int) -> list[Path]:
    """The traces of so many ranks, which all have the same collectives at the same time."""
    with gzip.open(RANK, "rt") as file:
        trace = json.load(file)
    ranks = list(range(number))
    trace["distributedInfo"] |= {
        "world_size": number,
        "pg_config": [{"pg_name": "0", "pg_size": number, "ranks": ranks}],
    }
    for event in trace["traceEvents"]:
        if "Group size" in event.get("args", {}):
            event["args"] |= {"Group size": number, "Process Group Ranks": f"[0, 1, ..., {number - 1}]"}
    trace["distributedInfo"]["rank"] = "HERE"
    text = json.dumps(trace)
    paths = [folder / f"rank{rank}.json" for rank in ranks]
    for rank, path in enumerate(paths):
        path.write_text(text.replace('"HERE"', str(rank), 1))
    return paths


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description="How long many ranks take to read, and how much memory.")
    parser.add_argument("ranks", nargs="?", type=int, default=128)
    with tempfile.TemporaryDirectory() as folder:
        paths = written(Path(folder), parser.parse_args().ranks)
        size_mb = sum(path.stat().st_size for path in paths) / 1e6
        began = time.perf_counter()
        result = measure_traces(paths, [])
        seconds = time.perf_counter() - began
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    cpu_s = sum(each.ru_utime + each.ru_stime for each in (own, children))
    matched = sum(each.collectives.matched for each in result.ranks if each.collectives)
    print(f"{len(result.ranks)} ranks, {size_mb:.0f} MB: {seconds:.1f} s, {cpu_s:.1f} s of CPU with making them")
    print(f"memory: {own.ru_maxrss // 1024} MB, {children.ru_maxrss // 1024} MB in the largest other process")
    print(f"{matched} collectives matched, {len(to_json(result)) / 1e6:.1f} MB of JSON")


if __name__ == "__main__":
    main()

"""What measuring costs: the region log, per call, and region times under Kinetoscope against plain torch.profiler.

    python benchmarks/measuring_cost.py [RUNS]

All variants run by turns in one go, each in its own process; what counts are the ratios.
"""

import json
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import torch

from kinetoscope_core.analysis.attribution import attribute
from kinetoscope_core.trace import read_trace

SCRIPTS = Path(__file__).parent / "scripts"
EXAMPLE = Path(__file__).parents[1] / "examples" / "matmul_add.py"
KINETOSCOPE = [sys.executable, "-m", "kinetoscope_core.cli"]
PROFILE = [*KINETOSCOPE, "profile", "--python", sys.executable]


def output_of(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode not in (0, 3):
        sys.exit(f"{command} failed:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def ns_per_call(command: list[str]) -> int:
    found = re.search(r"ns per call: (\d+)", output_of(command))
    assert found is not None, command
    return int(found[1])


def cost_of_the_log(runs: int) -> None:
    script = str(SCRIPTS / "empty_regions.py")
    variants = {
        "no profiler, plain Python": [sys.executable, script, "none"],
        "no profiler, Kinetoscope waiting for another region": [*PROFILE, "--region", "other", script, "--", "none"],
        "profiler on, plain torch.profiler": [sys.executable, script, "profiler"],
        "profiler on, Kinetoscope": [*PROFILE, "--to-the-end", script, "--", "none"],
    }
    times: dict[str, list[int]] = {name: [] for name in variants}
    for _ in range(runs):
        for name, command in variants.items():
            times[name].append(ns_per_call(command))
    print(f"An empty region, ns per call (medians of {runs} processes of 10,000 calls; range)")
    for name, values in times.items():
        print(f"  {name:<55}{statistics.median(values):>8.0f}  ({min(values)} to {max(values)})")
    plain, waiting, profiled, measured = (statistics.median(values) for values in times.values())
    print(f"  the log costs {waiting - plain:.0f} ns while it waits, {measured - profiled:.0f} ns while it measures")


def region_times(runs: int) -> None:
    print(f"matmul_add under Kinetoscope against plain torch.profiler, {runs} processes each, ns")
    for size in (64, 4096) if torch.cuda.is_available() else (64,):
        plain: list[dict[str, float]] = []
        ours: list[dict[str, float]] = []
        for _ in range(runs):
            with tempfile.TemporaryDirectory() as folder:
                trace = f"{folder}/trace.json"
                output_of([sys.executable, str(SCRIPTS / "plain_profiler.py"), str(size), trace])
                plain.append(last_five(Path(trace)))
            result = run_json([*PROFILE, "--json", str(EXAMPLE), "--", "--size", str(size)])
            ours.append(last_five(Path(result["traces"][0])))
        for key in plain[0]:
            a, b = (statistics.median(run[key] for run in runs_) for runs_ in (plain, ours))
            ranges = [
                f"({min(r[key] for r in runs_):.0f} to {max(r[key] for r in runs_):.0f})" for runs_ in (plain, ours)
            ]
            print(
                f"  {size:>5} {key:<12} plain {a:.0f} {ranges[0]}, Kinetoscope {b:.0f} {ranges[1]}, ratio {b / a:.3f}"
            )


def run_json(command: list[str]) -> dict[str, list[str]]:
    done = subprocess.run(command, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    return json.loads(done.stdout)


def last_five(trace: Path) -> dict[str, float]:
    """Medians over the last five of eight calls, by one reader for both."""
    calls = [o for o in attribute(read_trace(trace)[0]).calls if o.name == "matmul_add"][3:8]
    assert len(calls) == 5
    medians = {"CPU total": statistics.median(o.cpu_total_ns for o in calls)}
    if calls[0].cuda_total_ns is not None:
        medians["CUDA total"] = statistics.median(o.cuda_total_ns or 0 for o in calls)
    return medians


if __name__ == "__main__":
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    cost_of_the_log(runs)
    region_times(runs)

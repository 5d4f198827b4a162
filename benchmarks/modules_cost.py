"""What regions of modules cost: a step of a small Llama with and without them, by turns.

python benchmarks/modules_cost.py [ROUNDS]
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

SCRIPT = Path(__file__).parent / "scripts" / "llama_steps.py"
WAYS = {"without": [], "depth 1": ["--modules", "depth=1"], "all": ["--modules", "depth=9"]}


def measured(options: list[str]) -> tuple[float, float | None, int]:
    """CPU and CUDA total of a step in ms (medians), and how many calls of modules a step has."""
    command = [sys.executable, "-m", "kinetoscope_core.cli", "profile", "--json", *options, str(SCRIPT)]
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "XDG_CACHE_HOME": cache}
        ran = subprocess.run(command, check=True, capture_output=True, env=environment)
    result = json.loads(ran.stdout)
    step = next(each for each in result["regions"] if each["name"] == "step")
    cuda = step["cuda_total_ns"]
    calls = sum(each["calls"] for each in result["regions"] if each["origin"] == "module")
    return step["cpu_total_ns"]["median"] / 1e6, cuda and cuda["median"] / 1e6, calls // step["calls"]


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    found = {way: [] for way in WAYS}
    for _ in range(rounds):
        for way, options in WAYS.items():
            found[way].append(measured(options))
    base = statistics.median(cpu for cpu, _, _ in found["without"])
    print(
        "| modules | calls a step | CPU ms a step: median, min, max | CUDA ms a step: median, min, max | µs a module |"
    )
    print("|---|---|---|---|---|")
    for way, runs in found.items():
        calls = runs[0][2]
        cpu = [each[0] for each in runs]
        cuda = [each[1] for each in runs if each[1] is not None]
        more = f"{(statistics.median(cpu) - base) * 1000 / calls:.0f}" if calls else ""
        on_gpu = f"{statistics.median(cuda):.3f}, {min(cuda):.3f}, {max(cuda):.3f}" if cuda else "not measured"
        print(f"| {way} | {calls} | {statistics.median(cpu):.2f}, {min(cpu):.2f}, {max(cpu):.2f} | {on_gpu} | {more} |")


if __name__ == "__main__":
    main()

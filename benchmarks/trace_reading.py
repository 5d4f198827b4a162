"""Reading a big trace, side by side: ours from file to numbers, one orjson.loads (the floor) and json.loads.

    python benchmarks/trace_reading.py [TRACE] [--rounds N]

TRACE is 185 MB of JSON from an H200 when it is not given (shared/traces/h200/train_mlp_long.json.gz, unpacked to a
temporary file). Each measurement is a process of its own; shown are the fastest round, its CPU time (with the start of
Python) and the peak of its memory.
`attributed` is ours, from file to the measures of each region; `collector on` shows why it is switched off.
"""

import argparse
import gzip
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
_CORE = _ROOT / "profiler_core"
_LONG_TRACE = _ROOT.parent / "shared" / "traces" / "h200" / "train_mlp_long.json.gz"

_MEASURE = """
import json, resource, sys, time
path = sys.argv[1]
begin = time.perf_counter()
{work}
seconds = time.perf_counter() - begin
cpu_seconds = time.process_time()
peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({{"seconds": seconds, "cpu": cpu_seconds, "peak_mb": peak_mb}}))
"""

_CANDIDATES = {
    "kinetoscope, read + attribute + summarise + break down": """
from kinetoscope_core.attribution import attribute
from kinetoscope_core.breakdown import Recording, breakdowns
from kinetoscope_core.summary import Window, summarise
from kinetoscope_core.trace import read_trace
trace, _ = read_trace(path)
attribution = attribute(trace)
window = Window.by_name(attribution.occurrences)
assert summarise(window)
assert breakdowns([Recording(trace, attribution, window)])
""",
    "kinetoscope, read only": """
from kinetoscope_core.trace import read_trace
read_trace(path)
""",
    "orjson.loads, collector off (the floor)": """
import gc, orjson
gc.disable()
with open(path, "rb") as file:
    trace = orjson.loads(file.read())
""",
    "orjson.loads, collector on": """
import orjson
with open(path, "rb") as file:
    trace = orjson.loads(file.read())
""",
    "json.loads, collector off": """
import gc
gc.disable()
with open(path, "rb") as file:
    trace = json.loads(file.read())
""",
}


def _measured(work: str, path: Path) -> tuple[float, float, float]:
    command = [sys.executable, "-c", _MEASURE.format(work=work), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={"PYTHONPATH": str(_CORE)})
    result = json.loads(done.stdout)
    return result["seconds"], result["cpu"], result["peak_mb"]


def main() -> None:
    """Prints one line for each way of reading."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("trace", nargs="?", type=Path, default=_LONG_TRACE)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.trace
        if path.suffix == ".gz":
            path = Path(folder) / "trace.json"
            with gzip.open(options.trace) as packed, path.open("wb") as plain:
                shutil.copyfileobj(packed, plain)
        print(f"{options.trace.name}: {path.stat().st_size / 1e6:.0f} MB")
        # All candidates in each round: a busy moment of the machine then does not hit one of them alone.
        rounds = [{name: _measured(work, path) for name, work in _CANDIDATES.items()} for _ in range(options.rounds)]
        for name in _CANDIDATES:
            seconds, cpu, peak_mb = min(each[name] for each in rounds)
            print(f"{name:45} {seconds:7.2f} s {cpu:7.2f} s CPU {peak_mb:7.0f} MB")


if __name__ == "__main__":
    main()

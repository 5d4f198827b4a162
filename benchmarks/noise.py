"""How often a comparison is wrong, and what it finds: many processes of the same scripts, stored, then drawn at random.

    python benchmarks/noise.py record FOLDER [--processes 16] [--within SECONDS] [--plain] [--case NAME]...

`record` goes round the cases by turns, so that drift of the machine falls on all alike. Interpreters are prepared
several at once while nothing is measured, unless `--plain`. Each process is one result in
FOLDER/<case>.jsonl; the first trace of each case lies beside it.
"""

import argparse
import contextlib
import gzip
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

from kinetoscope_core.jobs.profile import Profiling
from kinetoscope_core.results.result import to_json
from kinetoscope_core.results.store import Store
from kinetoscope_core.run.process import RunnerProcess
from kinetoscope_core.run.standby import Preparation, Prepared
from kinetoscope_core.runner.request import RunRequest

ROOT = Path(__file__).parents[1]
EXAMPLES, INJECTED = ROOT / "examples", ROOT / "benchmarks" / "scripts" / "injected.py"
MATMUL_ADD = str(EXAMPLES / "matmul_add.py")
PARTS = ("gpu", "cpu", "launches")
PERCENT = (3, 5, 10, 30)
AT_ONCE = 6

CASES: dict[str, list[str]] = {
    **{
        f"matmul_add_{size}{name}": [MATMUL_ADD, "--size", str(size), "--steps", "30", *options]
        for size in (64, 4096)
        for name, options in (("", []), ("_compiled", ["--compile"]), ("_fp32", ["--dtype", "float32"]))
    },
    "train_mlp": [str(EXAMPLES / "train_mlp.py")],
    "inference": [str(EXAMPLES / "inference.py")],
    "stalls": [str(ROOT / "tests" / "gpu" / "scripts" / "stalls.py")],
    "graph": [str(ROOT / "tests" / "gpu" / "scripts" / "graph.py")],
    "injected": [str(INJECTED)],
    **{
        f"injected_{percent}": [str(INJECTED), *(f"--{part}={1 + percent / 100}" for part in PARTS)]
        for percent in PERCENT
    },
}


def prepared_runners(requests: list[RunRequest], stack: contextlib.ExitStack) -> list[RunnerProcess]:
    """One for each request; only when all wait does one run, so that no start disturbs what is measured."""
    waiting: list[Prepared] = []
    for request in requests:
        runner = stack.enter_context(new_runner(request))
        prepared = Prepared(Preparation(request, True, None), runner)
        runner.listen(prepared.note)
        prepared.start()
        waiting.append(prepared)
    for prepared in waiting:
        why = prepared.wait(lambda: True)
        if why:
            print(f"  not prepared: {why}", flush=True)
    return [prepared.runner for prepared in waiting]


def new_runner(request: RunRequest) -> RunnerProcess:
    return RunnerProcess(
        sys.executable, request.folder, request.environment, stdin=subprocess.DEVNULL, stdout=2, stderr=2
    )


def record(folder: Path, cases: list[str], processes: int, within_s: float, *, is_plain: bool) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    store = Store(Path(tempfile.mkdtemp()))
    end = time.monotonic() + within_s
    todo = [name for _ in range(processes) for name in cases]
    while todo and time.monotonic() < end:
        batch, todo = todo[:AT_ONCE], todo[AT_ONCE:]
        requests = [
            RunRequest(CASES[name][0], arguments=tuple(CASES[name][1:]), interpreter=sys.executable, folder=str(ROOT))
            for name in batch
        ]
        began = time.monotonic()
        with contextlib.ExitStack() as stack:
            if is_plain:
                runners = [stack.enter_context(new_runner(request)) for request in requests]
            else:
                runners = prepared_runners(requests, stack)
            for name, request, runner in zip(batch, requests, runners, strict=True):
                one(name, request, runner, store, folder)
        print(f"{batch}: {time.monotonic() - began:.1f} s, {len(todo)} to go", flush=True)


def one(name: str, request: RunRequest, runner: RunnerProcess, store: Store, folder: Path) -> None:
    profiling = Profiling(request, store, runner, on_progress=lambda _: None)
    try:
        result, _ = profiling.run()
        with (folder / f"{name}.jsonl").open("ab") as file:
            file.write(to_json(result) + b"\n")
        kept = folder / f"{name}.trace.json.gz"
        if not kept.exists():
            kept.write_bytes(gzip.compress(result.traces[0].read_bytes()))
    except Exception:  # noqa: BLE001 - the others go on
        traceback.print_exc()
    finally:
        profiling.finish()
        runner.end()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record")
    recording.add_argument("folder", type=Path)
    recording.add_argument("--processes", type=int, default=16)
    recording.add_argument("--within", type=float, default=3600.0)
    recording.add_argument("--plain", action="store_true")
    recording.add_argument("--case", action="append", choices=list(CASES))
    options = parser.parse_args()
    record(options.folder, options.case or list(CASES), options.processes, options.within, is_plain=options.plain)


if __name__ == "__main__":
    main()

"""How often a comparison is wrong, and what it finds: many processes of the same scripts, stored, then drawn at random.

    python benchmarks/noise.py record FOLDER [--processes 16] [--within SECONDS] [--plain] [--case NAME]...
    python benchmarks/noise.py report FOLDER
    python benchmarks/noise.py times FOLDER > tests/analysis/noise/NAME.json

`record` goes round the cases by turns, so that drift of the machine falls on all alike. Interpreters are prepared
several at once while nothing is measured, unless `--plain`. Each process is one result in
FOLDER/<case>.jsonl; the first trace of each case lies beside it.

`report` compares each case with itself, its processes drawn at random and in the order of time, and the `injected` ones
with the plain one: how often each verdict is given, per kind of time and number of processes on a side. `times` prints
the medians alone, as JSON.
"""

import argparse
import contextlib
import gzip
import random
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import orjson

from kinetoscope_core.analysis.comparison import compare
from kinetoscope_core.jobs.profile import Profiling
from kinetoscope_core.results.measures import RegionMeasures
from kinetoscope_core.results.result import Result, from_dict, to_json
from kinetoscope_core.results.store import Store
from kinetoscope_core.run.process import RunnerProcess
from kinetoscope_core.run.standby import Preparation, Prepared
from kinetoscope_core.runner.request import RunRequest

ROOT = Path(__file__).parents[1]
EXAMPLES, INJECTED = ROOT / "examples", ROOT / "benchmarks" / "scripts" / "injected.py"
TRAINING = ROOT / "benchmarks" / "scripts" / "training.py"
MATMUL_ADD = str(EXAMPLES / "matmul_add.py")
PARTS = ("gpu", "cpu", "launches")
PERCENT = (3, 5, 10, 30)
AT_ONCE = 6
DRAWS = 30

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
    "training": [str(TRAINING)],
    "training_attention": [str(TRAINING), "--model", "attention"],
    "training_compiled": [str(TRAINING), "--compile"],
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
    with tempfile.TemporaryDirectory() as scratch:
        record_into(folder, Store(Path(scratch)), cases, processes, within_s, is_plain=is_plain)


def record_into(
    folder: Path, store: Store, cases: list[str], processes: int, within_s: float, *, is_plain: bool
) -> None:
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


def results_of(folder: Path) -> dict[str, list[Result]]:
    """The processes of each case, in order of time."""
    found = {
        path.stem: [from_dict(orjson.loads(line)) for line in path.read_bytes().splitlines()]
        for path in sorted(folder.glob("*.jsonl"))
    }
    return {
        name: sorted(results, key=lambda each: each.run.started if each.run else "") for name, results in found.items()
    }


def verdicts(a: Sequence[Result], b: Sequence[Result]) -> Iterator[tuple[str, str, str]]:
    """Region, kind of time and verdict; a time of 0 on both sides is no case."""
    for region in compare(a, b).regions:
        for kind, change in (("CUDA", region.cuda_total_ns), ("CPU", region.cpu_total_ns)):
            if change is not None and change.a and change.b:
                yield region.name, kind, change.verdict


def report(folder: Path) -> None:
    cases = results_of(folder)
    random.seed(1)
    print("The same code on both sides: verdicts, of which faster or slower are wrong")
    print(f"  {'':<28}{'kind':<6}{'comparisons':>12}{'wrong':>9}{'no difference':>15}")
    for number in (1, 2, 3, 4, 5):
        drawn = [
            verdict
            for results in cases.values()
            if len(results) >= 2 * number
            for _ in range(DRAWS)
            for verdict in halves(random.sample(results, 2 * number))
        ]
        print_row(f"{number} processes, at random", drawn)
        in_order = [
            verdict
            for results in cases.values()
            for start in range(len(results) - 2 * number + 1)
            for verdict in halves(results[start : start + 2 * number])
        ]
        print_row(f"{number} processes, in order", in_order)
    print("More work on one side: how often it is found, of 200 draws, and how often the opposite is said")
    for percent in PERCENT:
        for number in (1, 3, 5):
            sides = cases.get("injected", []), cases.get(f"injected_{percent}", [])
            if min(map(len, sides)) < number:
                continue
            found: Counter[tuple[str, str, str]] = Counter()
            for _ in range(200):
                found.update(verdicts(*(random.sample(side, number) for side in sides)))
            for region, kind in (("products", "CUDA"), ("small_operators", "CUDA"), ("python_loop", "CPU")):
                right, wrong = found[region, kind, "slower"], found[region, kind, "faster"]
                print(
                    f"  +{percent} %, {number} processes: {region:<16}{kind:<5}{right / 2:>6.1f} %{wrong / 2:>6.1f} %"
                )


def halves(results: Sequence[Result]) -> Iterator[tuple[str, str, str]]:
    half = len(results) // 2
    return verdicts(results[:half], results[half:])


def print_row(title: str, drawn: Sequence[tuple[str, str, str]]) -> None:
    for kind in ("CUDA", "CPU"):
        of_kind = Counter(verdict for _, each, verdict in drawn if each == kind)
        total = of_kind.total()
        if total:
            wrong = (of_kind["faster"] + of_kind["slower"]) / total
            print(f"  {title:<28}{kind:<6}{total:>12}{100 * wrong:>8.1f} %{100 * of_kind['same'] / total:>14.0f} %")


def times(folder: Path) -> None:
    values: dict[str, dict[str, dict[str, list[int]]]] = {}
    for name, results in results_of(folder).items():
        regions: dict[str, list[RegionMeasures]] = {}
        for result in results:
            for each in result.regions:
                regions.setdefault(each.name, []).append(each)
        values[name] = {region: _times(rows) for region, rows in regions.items() if len(rows) == len(results)}
    sys.stdout.buffer.write(orjson.dumps(values))


def _times(rows: Sequence[RegionMeasures]) -> dict[str, list[int]]:
    """Of a region's processes, as a comparison takes them: a cold one only where all are."""
    rows = [each for each in rows if not each.is_cold] or rows
    on_gpu = [
        (each.cuda_total_ns.median, each.launches.median)
        for each in rows
        if each.cuda_total_ns and each.cuda_total_ns.median and each.launches
    ]
    return {
        "cpu": [each.cpu_total_ns.median for each in rows],
        "cuda": [cuda_ns for cuda_ns, _ in on_gpu],
        "launches": [launches for _, launches in on_gpu],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record")
    recording.add_argument("folder", type=Path)
    recording.add_argument("--processes", type=int, default=16)
    recording.add_argument("--within", type=float, default=3600.0)
    recording.add_argument("--plain", action="store_true")
    recording.add_argument("--case", action="append", choices=list(CASES))
    for name in ("report", "times"):
        commands.add_parser(name).add_argument("folder", type=Path)
    options = parser.parse_args()
    if options.command != "record":
        (report if options.command == "report" else times)(options.folder)
        return
    record(options.folder, options.case or list(CASES), options.processes, options.within, is_plain=options.plain)


if __name__ == "__main__":
    main()

"""From a keystroke to fresh regions, hints and a hover, over stdio, in files of 200 to 50,000 lines; and start-up.

The files hold functions; the second one of each length has them as methods of one class.

Usage: python benchmarks/lsp_latency.py [--with jedi-language-server | --with pylsp | --baseline ROUNDS]
With `--with`, another server answers comparable requests (outline after a keystroke, hover) on the same files. With
`--baseline`, files whose regions have an arrow, as they are compared with a run before, take turns with files without.
Every tenth function holds a region, and every region has times.
"""

import argparse
import json
import shutil
import statistics
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lsp_client import Client

from kinetoscope_core.results.measures import Breakdown
from kinetoscope_core.results.result import RunInfo
from kinetoscope_core.source.placement import fingerprints_of

SIZES = (200, 5_000, 50_000)
KEYSTROKES = 60
ROUNDS_OF_START = 5
SERVER = [sys.executable, "-m", "kinetoscope_server"]
CALL = {"trace": 0, "start_ns": 0, "cpu_total_ns": 1, "cuda_total_ns": 1}
PARTS = asdict(Breakdown(0, 0, 0, 0, 0, 0, (), 0, (), 0, (), 1, 0))
SPREAD = {"sum": 5_000_000, "median": 1_000_000, "min": 900_000, "max": 1_200_000}
BEFORE = {name: 2 * each for name, each in SPREAD.items()}
Took = dict[str, list[float]]


def text_of(lines: int) -> str:
    pieces = ["import torch\nfrom torch.profiler import record_function\n"]
    for number in range(lines // 5):
        inside = (
            f'    with record_function("region {number}"):\n        y = x @ x\n' if number % 10 == 0 else "    y = x\n"
        )
        pieces.append(f"\ndef function_{number}(x):\n{inside}    return y + {number}\n")
    return "".join(pieces)


def in_one_class(text: str) -> str:
    """The same with the functions as methods."""
    head, functions = text.split("\n\n", 1)
    indented = "".join(f"    {line}\n" if line else "\n" for line in functions.splitlines())
    return f"{head}\n\nclass Everything:\n{indented}"


def store_times(cache: Path, path: Path, text: str, *, has_baseline: bool) -> None:
    """A stored run with times for every region of the file, and one before its code changed."""
    shutil.rmtree(cache / "kinetoscope" / "runs", ignore_errors=True)
    if has_baseline:
        store_run(cache, path, text, "20250101-000000-aaaaaa", BEFORE)
    store_run(cache, path, text, "20260101-000000-aaaaaa", SPREAD)


def store_run(cache: Path, path: Path, text: str, name: str, spread: dict[str, int]) -> None:
    fingerprints = fingerprints_of(text)
    times = dict.fromkeys(("cpu_total_ns", "cpu_self_ns", "cuda_total_ns", "cuda_self_ns", "cuda_busy_ns"), spread)
    run = RunInfo(str(path), False, (), "", None, name, 1.0, "ended", False, 3, 5, False, code={str(path): name})
    regions = [
        {"name": each.name, "file": str(path), "line": each.line, "calls": 5, "measured": 5, "is_cold": False,
         "unfinished": 0, **times, "backward_cuda_ns": None, "launches": None, "overhead_ns": 0, "bound": "mixed",
         "median_call": CALL, "first": CALL, "breakdown": PARTS, "call_times": [], "cpu_recorded_ns": 5_000_000,
         "cuda_recorded_ns": 5_000_000}
        for each in fingerprints
    ]  # fmt: skip
    result = {
        "schema": 2, "run": asdict(run), "traces": [], "device": None, "torch": None, "device_total_ns": 1,
        "outside_regions_ns": 0, "no_cuda_because": None, "regions": regions, "problems": [],
        "regions_cpu_ns": 5_000_000, "findings": [],
        "sources": {str(path): [asdict(each) for each in fingerprints]},
    }  # fmt: skip
    folder = cache / "kinetoscope" / "runs" / name
    folder.mkdir(parents=True)
    (folder / "result.json").write_text(json.dumps(result))


def report(what: str, times_s: list[float]) -> None:
    if not times_s:
        return
    ordered = sorted(times_s)
    worst = ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]
    print(f"  {what:<50} median {statistics.median(ordered) * 1e3:8.2f} ms   99 % {worst * 1e3:8.2f} ms")


def timed(work: Any) -> tuple[float, Any]:
    begun = time.perf_counter()
    result = work()
    return time.perf_counter() - begun, result


def measure_file(command: list[str], text: str, folder: Path, *, is_ours: bool, has_baseline: bool = False) -> Took:
    path = folder / "file.py"
    path.write_text(text)
    if is_ours:
        store_times(folder / "cache", path, text, has_baseline=has_baseline)
    client = Client(command, folder / "cache")
    client.begin()
    document = {"uri": path.as_uri()}
    opened = {"textDocument": {**document, "languageId": "python", "version": 1, "text": text}}
    client.send(method="textDocument/didOpen", params=opened)
    took: Took = {"keystroke, then outline": [], "hover": []}
    if is_ours:
        took["keystroke, then hints of three screens"] = []
        wanted = "▼50 %" if has_baseline else "CUDA"
        while wanted not in str(client.request("textDocument/inlayHint", textDocument=document, range=screens(0))):
            time.sleep(0.02)  # the stored times are still being read
        time.sleep(1.5)  # nobody types at once, and the server tidies up in the first pause
    row = len(text.splitlines()) // 2
    for number in range(KEYSTROKES):
        asked = ["outline", "hints"][number % 2] if is_ours else "outline"
        place = {"line": row, "character": 0}
        change = {"range": {"start": place, "end": place}, "text": "#" if number % 4 else "\n"}
        versioned = {**document, "version": number + 2}

        def keystroke(asked: str = asked, change: Any = change, versioned: Any = versioned) -> None:
            client.send(method="textDocument/didChange", params={"textDocument": versioned, "contentChanges": [change]})
            if asked == "hints":
                client.request("textDocument/inlayHint", textDocument=document, range=screens(row))
            else:
                client.request("textDocument/documentSymbol", textDocument=document)

        key = "keystroke, then hints of three screens" if asked == "hints" else "keystroke, then outline"
        before_s = client.cpu_s()
        took[key].append(timed(keystroke)[0])
        after_s = client.cpu_s()
        if before_s is not None and after_s is not None:
            took.setdefault(f"{key}: processor time", []).append(after_s - before_s)
        place = {"line": 4, "character": 12}
        took["hover"].append(
            timed(lambda place=place: client.request("textDocument/hover", textDocument=document, position=place))[0]
        )
    client.end()
    return took


def print_file(label: str, text: str, took: Took) -> None:
    print(f"{label}, {len(text) // 1000} kB")
    for what, times_s in took.items():
        report(what, times_s)


def with_and_without_baseline(text: str, folder: Path, rounds: int) -> dict[str, Took]:
    """All keystrokes and hovers of the rounds, by turns."""
    sides: dict[str, Took] = {"no baseline": {}, "a baseline": {}}
    for number in range(2 * rounds):
        has_baseline = number % 4 in (1, 2)  # neither is always the first
        one = measure_file(SERVER, text, folder, is_ours=True, has_baseline=has_baseline)
        side = sides["a baseline" if has_baseline else "no baseline"]
        for what, times_s in one.items():
            side.setdefault(what, []).extend(times_s)
    return sides


def screens(row: int) -> dict[str, Any]:
    return {"start": {"line": max(row - 60, 0), "character": 0}, "end": {"line": row + 60, "character": 0}}


def measure_start(command: list[str], folder: Path) -> None:
    times_s: list[float] = []
    for _ in range(ROUNDS_OF_START):
        begun = time.perf_counter()
        client = Client(command, folder / "cache")
        client.begin()
        times_s.append(time.perf_counter() - begun)
        client.end()
    report("start to initialize reply", times_s)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--with", dest="other", metavar="COMMAND", help="another language server to measure beside")
    parser.add_argument("--baseline", type=int, metavar="ROUNDS", help="with and without a baseline, by turns")
    options = parser.parse_args()
    if options.baseline:
        with tempfile.TemporaryDirectory() as name:
            for lines in SIZES:
                text = text_of(lines)
                for side, took in with_and_without_baseline(text, Path(name), options.baseline).items():
                    print_file(f"{lines} lines, {side}", text, took)
        return
    for command in [SERVER, *([options.other.split()] if options.other else [])]:
        print(f"== {' '.join(command)}")
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            measure_start(command, folder)
            for lines in SIZES:
                text = text_of(lines)
                for label, each in ((f"{lines} lines", text), (f"{lines} lines in one class", in_one_class(text))):
                    print_file(label, each, measure_file(command, each, folder, is_ours=command is SERVER))


if __name__ == "__main__":
    main()

"""The prepared interpreter: clicks beside `python` by hand, and region times of prepared and plain runs by turns.

    python benchmarks/prepared.py [--part by-hand | clicks | on-open | regions]... [--case NAME]... [--within SECONDS]
                                  [--out FOLDER]

Each part gets its share of the time, and goes round the cases until that is over, at most `--rounds` times (5; 20 for
region times). A round of clicks is a first one and five more, each when the next interpreter is ready. How many it were
is said. What is not there (a package) or fails is said, and the others go on. Writes prepared.json (every single value,
with the GPU's clocks meanwhile) and prepared.txt.
"""

import argparse
import importlib.util
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path
from typing import Any

from click_to_hints import ROOT, Editor, by_hand

GPU_SCRIPTS = ROOT / "tests" / "gpu" / "scripts"
CASES: dict[str, tuple[list[str], str]] = {
    "matmul_add": ([str(ROOT / "examples" / "matmul_add.py"), "--size", "64"], "torch"),
    "train_mlp": ([str(ROOT / "examples" / "train_mlp.py")], "torch"),
    "inference": ([str(ROOT / "examples" / "inference.py")], "torch"),
    "triton": ([str(GPU_SCRIPTS / "triton_add.py")], "triton"),
    "lightning": ([str(GPU_SCRIPTS / "lightning_module.py")], "lightning|pytorch_lightning"),
    "trainer_gpt2": ([str(GPU_SCRIPTS / "trainer_gpt2.py")], "transformers"),
}
"""Command, and the package that it needs besides torch."""

WITH_PACKAGES = {"train_mlp": ["torch._dynamo"], "lightning": ["lightning"], "trainer_gpt2": ["transformers"]}
"""Those that are also clicked with `prepared.packages`."""

REGION_CASES = ("matmul_add", "train_mlp")
REGION_ROUNDS = 20
SECOND_CLICKS = 5


class Clocks:
    """The GPU's clocks, read ten times a second; nothing is set. Empty where there is no nvidia-smi."""

    _QUERY = "--query-gpu=clocks.sm,clocks.mem,power.draw,temperature.gpu"

    def __init__(self) -> None:
        self._samples: list[tuple[float, list[str]]] = []
        self._process = None
        if shutil.which("nvidia-smi"):
            command = ["nvidia-smi", self._QUERY, "--format=csv,noheader,nounits", "-i", "0", "-lms", "100"]
            self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._samples.append((time.perf_counter(), [part.strip() for part in line.split(",")]))

    def between(self, begin: float, end: float) -> dict[str, Any] | None:
        """SM clock in MHz in these seconds, and what was read last. A click may be shorter than the time between."""
        time.sleep(0.15)
        inside = [values for at, values in self._samples if begin <= at <= end + 0.12]
        numbers = [int(values[0]) for values in inside if values[0].isdigit()]
        if not numbers:
            return None
        return {"sm_mhz": {"min": min(numbers), "max": max(numbers), "last": numbers[-1]}, "last": inside[-1]}

    def end(self) -> None:
        if self._process is not None:
            self._process.terminate()


class Measuring:
    def __init__(self, within_s: float) -> None:
        self.began = time.perf_counter()
        self.ends = self.began + within_s
        self.values: dict[str, dict[str, list[float]]] = {}
        self.regions: dict[str, list[dict[str, Any]]] = {}
        self.ready: list[dict[str, Any]] = []
        self.failed: list[str] = []
        self.not_prepared: list[str] = []
        self.clocks = Clocks()

    def is_time_for(self, seconds: float) -> bool:
        return time.perf_counter() + seconds < self.ends

    def note_click(self, case: str, way: str, seconds: float, editor: Editor) -> None:
        """Where a prepared interpreter was to be used and was not, with the server's reasons."""
        self.note(case, way if is_prepared(editor) else f"{way}, NOT prepared", seconds)
        if not is_prepared(editor):
            told = f"{case}, {way}: {'; '.join(why_plain(editor)) or 'the server gave no reason'}"
            self.not_prepared.append(told)
            print(told, flush=True)

    def note(self, case: str, way: str, seconds: float) -> None:
        self.values.setdefault(case, {}).setdefault(way, []).append(seconds)
        print(f"{time.perf_counter() - self.began:6.0f} s  {case:<13} {way:<40} {seconds:8.3f} s", flush=True)


def clicked(editor: Editor, command: list[str]) -> float:
    return editor.click(Path(command[0]).as_uri(), command[1:])[0]


def opened(cache: Path, command: list[str], **settings: Any) -> Editor:
    editor = Editor(cache, **settings)
    path = Path(command[0])
    editor.open(path.as_uri(), path.read_text(encoding="utf-8"))
    return editor


def is_prepared(editor: Editor) -> bool:
    """Whether what is shown was measured in a prepared interpreter, as the result itself says."""
    return all(region.get("is_prepared") for region in editor.results["regions"])


WHY_PLAIN = ("interpreter does not fit", "begins again in a new", "will begin in a new", "No interpreter is kept ready")


def why_plain(editor: Editor) -> list[str]:
    """What the server has said so far of runs that began in a new interpreter, and of failed ones."""
    return [text.strip() for text in editor.said if any(each in text for each in WHY_PLAIN)]


def by_python(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, *command], check=True, capture_output=True, stdin=subprocess.DEVNULL)
    return time.perf_counter() - start


def by_hand_round(measuring: Measuring, case: str, _packages: list[str] | None) -> None:
    command, _ = CASES[case]
    measuring.note(case, "python by hand", by_python(command))
    measuring.note(case, "python under torch.profiler, by hand", by_hand(command))


def click_round(measuring: Measuring, case: str, packages: list[str] | None) -> None:
    """The first click in an editor, then some, each when the next interpreter is ready."""
    command, _ = CASES[case]
    name = name_of(case, packages)
    with tempfile.TemporaryDirectory() as cache:
        editor = opened(Path(cache), command, **settings_of(packages))
        try:
            measuring.note(name, "first click", clicked(editor, command))
            for _ in range(SECOND_CLICKS):
                after = time.perf_counter()
                measuring.ready.append({"case": name, **editor.until_ready()})
                measuring.note(name, "until the next interpreter was ready", time.perf_counter() - after)
                measuring.note_click(name, "second click", clicked(editor, command), editor)
                if not measuring.is_time_for(time.perf_counter() - after):
                    break
        finally:
            editor.end()


def on_open_round(measuring: Measuring, case: str, packages: list[str] | None) -> None:
    """The first click with `prepare: onOpen`, and one at once after it."""
    command, _ = CASES[case]
    name = name_of(case, packages)
    with tempfile.TemporaryDirectory() as cache:
        editor = opened(Path(cache), command, prepare="onOpen", **settings_of(packages))
        try:
            measuring.ready.append({"case": f"{name}, onOpen", **editor.until_ready()})
            measuring.note_click(name, "first click with onOpen", clicked(editor, command), editor)
            seconds = clicked(editor, command)
            measuring.note(name, f"at once again, {'prepared' if is_prepared(editor) else 'new'} interpreter", seconds)
        finally:
            editor.end()


ROUNDS = {"by-hand": by_hand_round, "clicks": click_round, "on-open": on_open_round}


def name_of(case: str, packages: list[str] | None) -> str:
    return f"{case}+packages" if packages else case


def settings_of(packages: list[str] | None) -> dict[str, Any]:
    return {"prepared": {"packages": packages}} if packages else {}


def region_round(measuring: Measuring, case: str, editors: dict[str, Editor]) -> None:
    """A plain run and a prepared one; each begins when the next interpreter is ready, so that nothing runs beside."""
    command, _ = CASES[case]
    for way, editor in editors.items():
        editors["prepared"].until_ready()
        if way == "prepared":
            editor.warm.clear()
        begin = time.perf_counter()
        seconds = clicked(editor, command)
        end = time.perf_counter()
        regions = {
            each["name"]: {
                name: each["measures"][name]["median"]
                for name in ("cpu_total_ns", "cuda_total_ns")
                if each["measures"][name]
            }
            for each in editor.results["regions"]
        }
        clocks = measuring.clocks.between(begin, end)
        asked = way if is_prepared(editor) or way == "plain" else "prepared was asked for, and run plain"
        measuring.regions.setdefault(case, []).append(
            {"way": asked, "seconds": seconds, "regions": regions, "clocks": clocks}
        )
        print(f"{time.perf_counter() - measuring.began:6.0f} s  {case:<13} {asked:<10} {clocks and clocks['sm_mhz']}")


def measure_clicks(measuring: Measuring, part: str, cases: list[str], rounds: int) -> None:
    longest: dict[str, float] = {}
    wanted: list[tuple[str, list[str] | None]] = []
    for case in cases:
        needed = CASES[case][1].split("|")
        if not any(importlib.util.find_spec(package) for package in needed):
            measuring.failed.append(f"{case}: not tried, since {' or '.join(needed)} is not installed")
            continue
        wanted.append((case, None))
        named = [package for package in WITH_PACKAGES.get(case, []) if importlib.util.find_spec(package)]
        if named and part != "by-hand":
            wanted.append((case, named))
    for _ in range(rounds):
        for case, packages in list(wanted):
            key = f"{case} {packages}"
            if not measuring.is_time_for(longest.get(key, 20.0)):
                continue
            start = time.perf_counter()
            try:
                ROUNDS[part](measuring, case, packages)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - the others go on
                measuring.failed.append(f"{part}, {key}: {type(error).__name__}: {error}\n{traceback.format_exc()}")
                print(measuring.failed[-1], flush=True)
                wanted.remove((case, packages))
            longest[key] = max(longest.get(key, 0.0), time.perf_counter() - start)


def measure_regions(measuring: Measuring, cases: list[str], rounds: int) -> None:
    with tempfile.TemporaryDirectory() as cache:
        editors: dict[str, dict[str, Editor]] = {}
        for case in cases:
            command, _ = CASES[case]
            plain = opened(Path(cache, f"{case}-plain"), command, prepare="off")
            prepared = opened(Path(cache, f"{case}-prepared"), command)
            clicked(prepared, command)
            editors[case] = {"plain": plain, "prepared": prepared}
        longest = 0.0
        for number in range(rounds):
            for case in cases:
                if not measuring.is_time_for(max(longest, 25.0)):
                    continue
                start = time.perf_counter()
                pair = editors[case]
                region_round(measuring, case, pair if number % 2 else dict(reversed(pair.items())))
                longest = max(longest, time.perf_counter() - start)
        for pair in editors.values():
            for editor in pair.values():
                editor.end()


def summary(measuring: Measuring) -> str:
    lines = ["Seconds from click to hints: median (least to most), n", ""]
    for case, ways in measuring.values.items():
        lines.append(case)
        for way, seconds in ways.items():
            middle = f"{statistics.median(seconds):8.3f} ({min(seconds):.3f} to {max(seconds):.3f})"
            lines.append(f"  {way:<42}{middle:<30} n = {len(seconds)}")
    lines += ["", "Prepared interpreters: memory, and whether CUDA was ready"]
    lines += [f"  {each['case']:<28}{(each['memory_bytes'] or 0) / 1e6:8.0f} MB  {each}" for each in measuring.ready]
    if measuring.regions:
        lines += [
            "",
            "Region times, µs, medians of the runs' medians (middle half; range), n; SM clock in MHz meanwhile",
        ]
    for case, runs in measuring.regions.items():
        for way in sorted({run["way"] for run in runs}):
            of_way = [run for run in runs if run["way"] == way]
            clocks = [run["clocks"]["sm_mhz"]["last"] for run in of_way if run["clocks"]]
            told = f"{min(clocks)} to {max(clocks)}" if clocks else "not read"
            lines.append(f"  {case}, {way}: n = {len(of_way)}, clock {told}")
            for region in of_way[0]["regions"]:
                for measure in of_way[0]["regions"][region]:
                    values = sorted(run["regions"].get(region, {}).get(measure, 0) / 1e3 for run in of_way)
                    quarters = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3
                    lines.append(
                        f"    {region:<14}{measure:<14}{quarters[1]:10.2f}  ({quarters[0]:.2f} to {quarters[2]:.2f};"
                        f" {values[0]:.2f} to {values[-1]:.2f})"
                    )
    if measuring.not_prepared:
        lines += ["", "Not prepared, as the server says", *(f"  {each}" for each in measuring.not_prepared)]
    lines += ["", f"took {time.perf_counter() - measuring.began:.0f} s", *measuring.failed]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--part", choices=[*ROUNDS, "regions"], action="append", help="this one only")
    parser.add_argument("--case", choices=list(CASES), action="append", help="this one only")
    parser.add_argument("--rounds", type=int, help="at most so many")
    parser.add_argument("--within", type=float, default=500.0, metavar="SECONDS")
    parser.add_argument("--out", type=Path, default=Path(os.environ.get("OUT", ".")))
    options = parser.parse_args()
    measuring = Measuring(options.within)
    cases = options.case or list(CASES)
    regions = [case for case in cases if case in REGION_CASES]
    parts = options.part or [*ROUNDS, "regions"]
    try:
        for number, part in enumerate(parts, start=1):
            measuring.ends = measuring.began + options.within * number / len(parts)
            if part != "regions":
                measure_clicks(measuring, part, cases, options.rounds or 5)
            elif regions:
                measure_regions(measuring, regions, options.rounds or REGION_ROUNDS)
    finally:
        measuring.clocks.end()
        options.out.mkdir(parents=True, exist_ok=True)
        text = summary(measuring)
        (options.out / "prepared.txt").write_text(text, encoding="utf-8")
        kept = {
            "python": sys.version,
            "clicks": measuring.values,
            "regions": measuring.regions,
            "ready": measuring.ready,
            "failed": measuring.failed,
            "not_prepared": measuring.not_prepared,
        }
        (options.out / "prepared.json").write_text(json.dumps(kept, indent=1), encoding="utf-8")
        print(text)
    sys.exit(1 if measuring.failed else 0)


if __name__ == "__main__":
    main()

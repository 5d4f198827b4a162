"""From a click to the hints in an LSP client: by hand, cold and warm by turns in one run, and what each part takes.

    python benchmarks/click_to_hints.py [ROUNDS]
    python benchmarks/click_to_hints.py [ROUNDS] --times    # the times of the regions themselves, cold and warm

What counts are the ratios.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lsp_client import Client

ROOT = Path(__file__).parents[1]
SCRIPTS = Path(__file__).parent / "scripts"
CASES: dict[str, list[str]] = {
    "matmul_add --size 64": [str(ROOT / "examples" / "matmul_add.py"), "--size", "64"],
    "train_mlp": [str(ROOT / "examples" / "train_mlp.py")],
    "heavy import": [str(SCRIPTS / "heavy_import.py")],
}
PATIENCE_S = 150
WISHES = {"results": True, "progress": True, "warm": True}
PARTS = {
    "until the script begins": "running",
    "imports": "torch imported",
    "until the first region": "starting the profiler",
    "starting the profiler": "measuring",
    "measuring": "saving the trace",
    "log and export": "reading the trace",
    "read, attribute, send, ask for hints": "hints",
}
"""Each part ends with the phase of this name."""


class Editor(Client):
    """A client that notes when it was told what."""

    def __init__(self, cache: Path, prepare: str = "afterRun", **settings: Any) -> None:
        super().__init__([sys.executable, "-m", "kinetoscope_server", "--stderr", "ERROR"], cache)
        self.said: list[str] = []
        self.warm: list[dict[str, Any]] = []
        self.phases: dict[str, float] = {}
        self.results: dict[str, Any] = {}
        self.refreshes = 0
        settings = {"interpreter": sys.executable, "workingDirectory": str(ROOT), "prepare": prepare, **settings}
        capabilities = {"workspace": {"inlayHint": {"refreshSupport": True}}, "experimental": {"kinetoscope": WISHES}}
        self.request(
            "initialize", processId=None, rootUri=None, capabilities=capabilities, initializationOptions=settings
        )
        self.notify("initialized")

    def read(self) -> Any:
        message = super().read()
        method, params = message.get("method"), message.get("params")
        if method == "kinetoscope/warm":
            self.warm.append(params)
        elif method == "kinetoscope/progress" and params["phase"]:
            self.phases.setdefault(params["phase"].partition(" step")[0], time.perf_counter())
        elif method == "kinetoscope/results":
            self.results = params
        elif method == "workspace/inlayHint/refresh":
            self.refreshes += 1
        elif method == "window/logMessage":
            self.said.append(params["message"])
        return message

    def until(self, holds: Callable[[], object]) -> None:
        """Raises `SystemExit` with what the server said if it takes too long."""
        watch = threading.Timer(PATIENCE_S, self.process.kill)
        watch.start()
        try:
            while not holds():
                message = self.read()
                if "id" in message and "method" in message:
                    self.send(id=message["id"], result=None)
        except json.JSONDecodeError as error:
            raise SystemExit("".join(self.said)) from error
        finally:
            watch.cancel()

    def until_ready(self) -> dict[str, Any]:
        """What the server says of the next run's interpreter when it is ready. Raises `SystemExit` if none will be."""

        def is_ready() -> bool:
            return bool(self.warm) and self.warm[-1]["state"] == "ready"

        self.until(lambda: is_ready() or "No interpreter is kept ready" in "".join(self.said))
        if not is_ready():
            raise SystemExit("".join(self.said))
        return self.warm[-1]

    def hints(self, uri: str) -> list[Any]:
        everywhere = {"start": {"line": 0, "character": 0}, "end": {"line": 10_000, "character": 0}}
        return self.request("textDocument/inlayHint", textDocument={"uri": uri}, range=everywhere) or []

    def click(self, uri: str, arguments: list[str]) -> tuple[float, dict[str, float]]:
        """Profiles the file; seconds until its hints are there, and those of each part."""
        self.phases.clear()
        start = time.perf_counter()
        before, was_shown = self.refreshes, self.results.get("regions")
        self.request(
            "workspace/executeCommand", command="kinetoscope.profileWithArguments", arguments=[uri, None, arguments]
        )
        self.until(lambda: self.refreshes > before and self.results.get("regions") not in ([], None, was_shown))
        assert self.hints(uri)
        self.phases["hints"] = time.perf_counter()
        parts: dict[str, float] = {}
        last = start
        for part, phase in PARTS.items():
            at = self.phases.get(phase, last)
            parts[part], last = at - last, max(at, last)
        return self.phases["hints"] - start, parts


@dataclass
class Way:
    seconds: list[float] = field(default_factory=list)
    parts: list[dict[str, float]] = field(default_factory=list)
    regions: list[dict[str, dict[str, int]]] = field(default_factory=list)

    def note(self, clicked: tuple[float, dict[str, float]], regions: list[dict[str, Any]]) -> None:
        self.seconds.append(clicked[0])
        self.parts.append(clicked[1])
        names = ("cpu_total_ns", "cuda_total_ns")
        self.regions.append(
            {each["name"]: {n: each["measures"][n]["median"] for n in names if each["measures"][n]} for each in regions}
        )

    def text(self) -> str:
        return f"{statistics.median(self.seconds):.3f} s ({min(self.seconds):.3f} to {max(self.seconds):.3f})"


def by_hand(command: list[str]) -> float:
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        arguments = [sys.executable, str(SCRIPTS / "by_hand.py"), f"{folder}/trace.json", *command]
        subprocess.run(arguments, check=True, capture_output=True, stdin=subprocess.DEVNULL)
        return time.perf_counter() - start


def measure(command: list[str], rounds: int) -> tuple[Way, Way, Way, list[dict[str, Any]]]:
    hand, cold, warm, ready = Way(), Way(), Way(), list[dict[str, Any]]()
    uri, text = Path(command[0]).as_uri(), Path(command[0]).read_text(encoding="utf-8")
    for _ in range(rounds):
        hand.seconds.append(by_hand(command))
        with tempfile.TemporaryDirectory() as cache:
            editor = Editor(Path(cache))
            editor.open(uri, text)
            assert not editor.hints(uri)
            cold.note(editor.click(uri, command[1:]), editor.results["regions"])
            ready.append(editor.until_ready())
            warm.note(editor.click(uri, command[1:]), editor.results["regions"])
            editor.end()
    return hand, cold, warm, ready


def measure_regions(command: list[str], rounds: int) -> tuple[Way, Way]:
    """Cold and warm by turns; while the cold one runs, the next interpreter is prepared."""
    cold, warm = Way(), Way()
    uri, text = Path(command[0]).as_uri(), Path(command[0]).read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as cache:
        editors = Editor(Path(cache, "cold"), "off"), Editor(Path(cache, "warm"))
        for editor in editors:
            editor.open(uri, text)
        editors[1].click(uri, command[1:])
        for _ in range(rounds):
            for editor, way in zip(editors, (cold, warm), strict=True):
                if way is warm:
                    editor.until_ready()
                    editor.warm.clear()
                way.note(editor.click(uri, command[1:]), editor.results["regions"])
        for editor in editors:
            editor.end()
    return cold, warm


def compare_regions(cold: Way, warm: Way) -> None:
    """The medians of the runs, with the middle half of them and their range."""
    for name, measures in cold.regions[0].items():
        for measure in measures:
            for way, runs in (("cold", cold), ("warm", warm)):
                values = sorted(run[name][measure] for run in runs.regions if measure in run.get(name, {}))
                quarters = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3
                low, median, high, least, most = (value / 1e3 for value in (*quarters, values[0], values[-1]))
                print(
                    f"  {name:<12}{measure:<15}{way:<5} {median:10.1f} µs"
                    f"  (half: {low:.1f} to {high:.1f}; all: {least:.1f} to {most:.1f})"
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("rounds", metavar="ROUNDS", nargs="?", type=int, default=3)
    parser.add_argument("--times", action="store_true", help="compare the times of the regions")
    parser.add_argument("--case", choices=list(CASES), action="append", help="this one only")
    options = parser.parse_args()
    for name in options.case or CASES:
        if options.times:
            print(f"{name}: medians of the regions, {options.rounds} runs each way", flush=True)
            cold, warm = measure_regions(CASES[name], options.rounds)
            print(f"  click to hints, with another interpreter being prepared: {cold.text()}; prepared: {warm.text()}")
            compare_regions(cold, warm)
            continue
        hand, cold, warm, ready = measure(CASES[name], options.rounds)
        print(f"{name}: medians of {options.rounds} rounds, each by hand, cold and warm; range")
        print(f"  by hand      {hand.text()}")
        for way, runs in (("first click", cold), ("second click", warm)):
            ratio = statistics.median(hand.seconds) / statistics.median(runs.seconds)
            print(f"  {way:<13}{runs.text()}, {ratio:.1f} times as fast as by hand")
        megabytes = statistics.median(each["memory_bytes"] or 0 for each in ready) / 1e6
        print(f"  the prepared interpreter holds {megabytes:.0f} MB, CUDA ready: {ready[-1]['gpu']}")
        for part in PARTS:
            values = [statistics.median(each[part] for each in way.parts) * 1e3 for way in (cold, warm)]
            print(f"    {part:<38}{values[0]:10.1f} ms cold {values[1]:10.1f} ms warm")


if __name__ == "__main__":
    main()

"""Random edits, and runs that are started and cancelled at random moments: memory must stay flat and nothing be left.

Usage: python benchmarks/lsp_soak.py --edits 10000 --runs 200      (7 minutes; as it comes 2,000 and 20)
Exits with 1 if the server's memory grew by more than a fifth after its first tenth, if a process is left, or if an
exception stands in its log.
"""

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

from lsp_client import Client

MOST_GROWTH = 1.2
SCRIPT = """import time
import torch
from torch.profiler import record_function


def step(x):
    with record_function("outer"):
        with record_function("inner"):
            x = x @ x
        time.sleep(0.01)
    return x


x = torch.ones(8, 8)
for _ in range(10_000):
    step(x)
"""
PIECES = (
    "x = 1\n", "\n", "    ", "(", ")", '"""', "'", "# \u00e9\U0001d54f\n", "\r\n", "\x0c", "def f():\n    return 1\n",
    "with record_function('new'):\n        pass\n",
)  # fmt: skip


def memory_kb(process_id: int) -> int:
    status = Path(f"/proc/{process_id}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


def processes_of(cache: Path) -> list[int]:
    mark = f"XDG_CACHE_HOME={cache}\0".encode()
    found: list[int] = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and mark in (process / "environ").read_bytes():
                found.append(int(process.name))
        except OSError:
            continue
    return found


class Typing:
    """Random edits of one document; now and then the whole text is put back, so that it does not drift away."""

    def __init__(self, client: Client, uri: str, chance: random.Random) -> None:
        self._client = client
        self._document = {"uri": uri}
        self._chance = chance
        self._version = 1
        self._text = SCRIPT

    def edit(self) -> None:
        self._version += 1
        if self._version % 50 == 0:
            change = {"text": SCRIPT}
        else:
            line, column = self._chance.randrange(20), self._chance.randrange(30)
            end = {"line": line + self._chance.randrange(2), "character": self._chance.randrange(30)}
            place = {"start": {"line": line, "character": column}, "end": end}
            change = {"range": place, "text": self._chance.choice(PIECES)}
        document = {**self._document, "version": self._version}
        self._client.notify("textDocument/didChange", textDocument=document, contentChanges=[change])

    def look(self) -> None:
        everywhere = {"start": {"line": 0, "character": 0}, "end": {"line": 1000, "character": 0}}
        place = {"line": self._chance.randrange(20), "character": 4}
        self._client.request("textDocument/inlayHint", textDocument=self._document, range=everywhere)
        self._client.request("textDocument/codeLens", textDocument=self._document)
        self._client.request("textDocument/hover", textDocument=self._document, position=place)


def soak(edits: int, runs: int, seed: int, folder: Path) -> list[str]:
    chance = random.Random(seed)
    script = folder / "script.py"
    script.write_text(SCRIPT)
    log_file = folder / "log"
    with log_file.open("wb") as log:
        client = Client([sys.executable, "-m", "kinetoscope_server"], folder / "cache", log)
    client.begin(initializationOptions={"interpreter": sys.executable})
    client.open(script.as_uri(), SCRIPT)
    typing = Typing(client, script.as_uri(), chance)
    wrong: list[str] = []
    first_kb = 0
    rounds = max(runs, 10)
    for number in range(rounds):
        if number < runs:
            client.ids += 1
            run = client.ids
            client.send(id=run, method="kinetoscope/profile", params={"uri": script.as_uri(), "replace": True})
        for _ in range(edits // rounds):
            typing.edit()
            if chance.random() < 0.1:
                typing.look()
        if number < runs:
            time.sleep(chance.random() * 3)
            client.notify("$/cancelRequest", id=run)
        if number == rounds // 10:
            first_kb = memory_kb(client.process.pid)
        if number % (rounds // 10) == 0:
            print(f"{number:>5} of {rounds} rounds: {memory_kb(client.process.pid) / 1000:.0f} MB", flush=True)
    client.request("workspace/executeCommand", command="kinetoscope.cancel")
    deadline = time.monotonic() + 10
    while len(left := processes_of(folder / "cache")) > 1 and time.monotonic() < deadline:
        time.sleep(0.1)
    if len(left) > 1:
        wrong.append(f"{len(left) - 1} processes are left")
    last_kb = memory_kb(client.process.pid)
    print(f"memory after a tenth {first_kb / 1000:.0f} MB, at the end {last_kb / 1000:.0f} MB")
    if last_kb > first_kb * MOST_GROWTH:
        wrong.append(f"memory grew from {first_kb} to {last_kb} kB")
    client.end()
    errors = log_file.read_text(errors="replace")
    if "Traceback" in errors or " ERROR " in errors:
        wrong.append("the log has errors:\n" + errors[-2000:])
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edits", type=int, default=2_000)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        begun = time.monotonic()
        wrong = soak(options.edits, options.runs, options.seed, Path(name))
        print(f"{options.edits} edits and {options.runs} runs in {time.monotonic() - begun:.0f} s")
    for each in wrong:
        print(f"wrong: {each}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

"""Reads damaged traces, each made of a recorded one by a number: no traceback, no long wait, bounded memory, the laws.

    PYTHONPATH=profiler_core python benchmarks/fuzz_traces.py --seed-from 0 --count 100000 --jobs 16

A number always makes the same trace (of those in tests/traces), so a run goes on where another one ended. Prints what a
number found, and at the end the figures in one line; exit code 1 if anything was found. `--write N FILE` writes the
trace of one number.

With `--jobs`, so many processes at once read 500 traces each. Time is that of a process's own CPU, and memory what its
own peak grew by, so neither depends on how many there are.
"""

import argparse
import gzip
import json
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from kinetoscope_core.analysis.attribution import Attribution, attribute
from kinetoscope_core.errors import KinetoscopeError
from kinetoscope_core.jobs.measure import measure_traces
from kinetoscope_core.results.result import to_json
from kinetoscope_core.trace import read_trace

TRACES: Final = Path(__file__).resolve().parents[1] / "tests" / "traces"
RECORDED: Final = (
    "cpu/recompile",
    "h200/odd_async_tail",
    "h200/odd_threads",
    "h200/odd_same_name",
    "h200/odd_compile",
    "h200/odd_cudagraph",
    "h200/matmul_add_64",
    "h200/matmul_add_4096_warm",
    "h200/matmul_add_4096_compile",
    "h200/matmul_add_64_warm",
)
LONGEST_S: Final = 20
"""Of the processor's time: a busy machine is no fault."""
MOST_BYTES: Final = 300 << 20
_TOKENS: Final = (
    *(b'"', b"\\", b"\\\\", b"\n", b"\x00", b"\x1b[31m", b"\xff\xfe", b"\xed\xa0\x80", b"\\ud800"),
    *(b"}, {", b'}, {"ph":', b"]", b"[", b"{", b"}", b",", b":", b" " * 999, b"[" * 999, b"\xef\xbb\xbf"),
    *(b"NaN", b"-Infinity", b"null", b"1e999", b"-1", b"0", b"9" * 400, b"0.1", b"true", b'"x"', b'"ph": "X"'),
    *(b"9223372036854775807", b"-9223372036854775808"),
)


def mutated(seed: int) -> bytes:
    """The trace of that number: one to eight changes of a recorded one; some are gzipped, a few damaged after that."""
    chance = random.Random(seed)
    text = gzip.decompress((TRACES / f"{chance.choice(RECORDED)}.json.gz").read_bytes())
    for _ in range(chance.choice((1, 1, 1, 2, 3, 8))):
        text = chance.choice(_CHANGES)(text, chance)
    if chance.random() < 0.15:
        text = gzip.compress(text, 1)
        if chance.random() < 0.5:
            text = chance.choice((_flip, _cut, _drop))(text, chance)
    return text


def _span(text: bytes, chance: random.Random) -> tuple[int, int]:
    start = chance.randrange(len(text) + 1)
    return start, min(len(text), start + int(10 ** chance.uniform(0, 4)))


def _flip(text: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(text) + 1)
    return text[:at] + bytes([chance.randrange(256)]) + text[at + 1 :]


def _cut(text: bytes, chance: random.Random) -> bytes:
    return text[: chance.randrange(len(text) + 1)]


def _drop(text: bytes, chance: random.Random) -> bytes:
    start, end = _span(text, chance)
    return text[:start] + text[end:]


def _repeat(text: bytes, chance: random.Random) -> bytes:
    start, end = _span(text, chance)
    return text[:end] + text[start:end] * chance.choice((1, 1, 2, 20)) + text[end:]


def _move(text: bytes, chance: random.Random) -> bytes:
    start, end = _span(text, chance)
    rest = text[:start] + text[end:]
    at = chance.randrange(len(rest) + 1)
    return rest[:at] + text[start:end] + rest[at:]


def _insert(text: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(text) + 1)
    return text[:at] + chance.choice(_TOKENS) + text[at:]


def _other_value(text: bytes, chance: random.Random) -> bytes:
    """Another value for one key of one event, or for that key everywhere."""
    key = chance.choice((b"ph", b"cat", b"name", b"pid", b"tid", b"ts", b"dur", b"correlation", b"External id", b"id"))
    parts = text.split(b'"%b": ' % key)
    if len(parts) < 2:
        return text
    value = chance.choice(_TOKENS)
    at = chance.randrange(1, len(parts))
    for place in range(1, len(parts)) if chance.random() < 0.1 else (at,):
        old = parts[place]
        ends = [found for mark in (b",", b"}", b"\n") if (found := old.find(mark)) >= 0]
        parts[place] = value + old[min(ends, default=len(old)) :]
    return (b'"%b": ' % key).join(parts)


_CHANGES: Final[tuple[Callable[[bytes, random.Random], bytes], ...]] = (
    *(_flip, _cut, _drop, _repeat, _move, _insert, _other_value, _other_value, _other_value),
)


def outcome_of(path: Path) -> tuple[str, str | None]:
    """Whether this trace is read, or refused with a clear error; and what is wrong with that, `None` if nothing is."""
    try:
        to_json(measure_traces([path], []))
        trace, _ = read_trace(path)
        return "read", _broken_law(attribute(trace))
    except KinetoscopeError as error:
        return "refused", None if "\n" not in str(error).strip() else f"a message of several lines: {error}"
    except Exception:  # noqa: BLE001 - that is what is looked for
        return "failed", traceback.format_exc()


def _broken_law(found: Attribution) -> str | None:
    """The first of the laws of docs/measures.md that does not hold."""
    calls = found.calls
    if found.device_total_ns is not None:
        in_all = sum(each.cuda_self_ns or 0 for each in calls) + (found.outside_ns or 0)
        if in_all != found.device_total_ns:
            return f"CUDA self and outside are {in_all}, the device total is {found.device_total_ns} ns"
    for each in calls:
        if not 0 <= each.cpu_self_ns <= each.cpu_total_ns:
            return f"CPU self {each.cpu_self_ns} of total {each.cpu_total_ns} ns in {each.name!r}"
        if each.cuda_total_ns is not None and not 0 <= (each.cuda_self_ns or 0) <= each.cuda_total_ns:
            return f"CUDA self {each.cuda_self_ns} of total {each.cuda_total_ns} ns in {each.name!r}"
    children = [0] * len(calls)
    for each in calls:
        if each.parent >= 0:
            children[each.parent] += each.cuda_total_ns or 0
    for each, nested in zip(calls, children, strict=True):
        if each.cuda_total_ns is not None and (each.cuda_self_ns or 0) + nested != each.cuda_total_ns:
            return f"CUDA self and nested are not the total in {each.name!r}"
    return None


def read_some(seed_from: int, count: int) -> dict[str, int | float]:
    """Reads the traces of these numbers, prints what is wrong, and gives the figures."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"more than {LONGEST_S} s of the processor")

    signal.signal(signal.SIGPROF, stop)
    found: dict[str, int | float] = dict.fromkeys(_FIGURES, 0)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.json"
        path.write_bytes(b'{"traceEvents":[]}')
        outcome_of(path)
        before = _peak_bytes()
        for seed in range(seed_from, seed_from + count):
            path.write_bytes(mutated(seed))
            peak, start = _peak_bytes(), time.process_time()
            signal.setitimer(signal.ITIMER_PROF, LONGEST_S)
            outcome, fault = outcome_of(path)
            signal.setitimer(signal.ITIMER_PROF, 0)
            taken_s = round(time.process_time() - start, 2)
            if taken_s > found["longest_s"]:
                found["longest_s"], found["longest_seed"] = taken_s, seed
            if _peak_bytes() > peak:
                found["more_memory_mb"], found["more_memory_seed"] = (_peak_bytes() - before) >> 20, seed
            if _peak_bytes() - before > MOST_BYTES >= peak - before:
                fault = fault or f"{(_peak_bytes() - before) >> 20} MB"
            found["count"] += 1
            found[outcome] += 1
            if fault:
                found["faults"] += 1
                print(f"{seed}: {fault}", flush=True)
    return found


_FIGURES: Final = (
    *("count", "faults", "read", "refused", "failed"),
    *("longest_s", "longest_seed", "more_memory_mb", "more_memory_seed"),
)
_A_PROCESS: Final = 500


def read_in_processes(seed_from: int, count: int, jobs: int) -> dict[str, int | float]:
    """The same in so many processes at once. One that dies is a fault of its numbers."""
    begun = time.monotonic()

    def part(begin: int) -> tuple[int, subprocess.CompletedProcess[str]]:
        few = min(_A_PROCESS, seed_from + count - begin)
        command = [sys.executable, __file__, "--seed-from", str(begin), "--count", str(few)]
        return few, subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)

    whole: dict[str, int | float] = dict.fromkeys(_FIGURES, 0)
    with ThreadPoolExecutor(jobs) as pool:
        begins = range(seed_from, seed_from + count, _A_PROCESS)
        for begin, (few, done) in zip(begins, pool.map(part, begins), strict=True):
            *said, figures = done.stdout.splitlines() or [""]
            if done.returncode not in (0, 1):
                said, figures = [f"{begin} to {begin + few - 1}: the process ended with {done.returncode}"], ""
            print(*said, sep="\n", end="\n" if said else "", flush=True)
            found = json.loads(figures) if figures else {**whole, "count": few, "faults": 1, "failed": 1}
            for name in ("count", "faults", "read", "refused", "failed"):
                whole[name] += found[name]
            for name, seed in (("longest_s", "longest_seed"), ("more_memory_mb", "more_memory_seed")):
                if figures and found[name] > whole[name]:
                    whole[name], whole[seed] = found[name], found[seed]
            took = f"{time.monotonic() - begun:.0f} s"
            print(f"up to {begin + few - 1}: {whole['faults']} faults, {took}", file=sys.stderr, flush=True)
    return whole


def main() -> int:
    parser = argparse.ArgumentParser(description="Reads damaged traces and says what goes wrong.")
    parser.add_argument("--seed-from", type=int, default=0)
    parser.add_argument("--count", type=int, default=1_000)
    parser.add_argument("--jobs", type=int, default=1, metavar="N")
    parser.add_argument("--write", nargs=2, metavar=("N", "FILE"))
    given = parser.parse_args()
    if given.write:
        Path(given.write[1]).write_bytes(mutated(int(given.write[0])))
        return 0
    if given.count > _A_PROCESS:
        found = read_in_processes(given.seed_from, given.count, given.jobs)
    else:
        found = read_some(given.seed_from, given.count)
    print(json.dumps({"from": given.seed_from, **found}))
    return 1 if found["faults"] else 0


def _peak_bytes() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak << 10


if __name__ == "__main__":
    sys.exit(main())

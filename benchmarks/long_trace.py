"""Writes a trace as long as you like: a real one again and again, each time later and with ids of its own.

    python benchmarks/long_trace.py OUT.json [--megabytes 1000] [--trace TRACE]

TRACE is that of 300 training steps on an H200 when it is not given (shared/traces/h200/train_mlp_long.json.gz, 185 MB
of JSON). Its layout is kept; what is written is a whole number of copies.
"""

import argparse
import gzip
import re
from collections import defaultdict
from math import ceil
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
LONG_TRACE = _ROOT.parent / "shared" / "traces" / "h200" / "train_mlp_long.json.gz"

_HEAD = re.compile(rb'"traceEvents"\s*:\s*\[')
_TAIL = re.compile(rb"\}\s*(\]\s*,?[^\[\]]*)$")
_IDS = (b"id", b"correlation", b"External id", b"Sequence number", b"Ev Idx")
_NUMBER = re.compile(rb'("(ts|%b)"\s*:\s*)(\d+)' % b"|".join(_IDS))


def text_of(path: Path) -> bytes:
    """A trace's JSON, unpacked if it is gzipped."""
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def write(out: Path, text: bytes, megabytes: float) -> int:
    """Writes copies of a trace until the file has at least that size (1 MB is 1,000,000 bytes); gives their number."""
    head, tail = _HEAD.search(text), _TAIL.search(text)
    if head is None or tail is None:
        raise SystemExit("This is no trace as Kineto writes them: it has no list of traceEvents, or no end.")
    events = text[head.end() : tail.start() + 1]
    steps = _steps(events)
    copies = ceil(megabytes * 1e6 / len(events))
    with out.open("wb") as file:
        file.write(text[: head.end()])
        for copy in range(copies):

            def later(found: re.Match[bytes], copy: int = copy) -> bytes:
                return found[1] + b"%d" % (int(found[3]) + copy * steps[found[2]])

            file.write(b"," if copy else b"")
            file.write(_NUMBER.sub(later, events))
        file.write(b"\n  " + tail[1])
    return copies


def _steps(events: bytes) -> dict[bytes, int]:
    """By how much each kind of number has to grow from copy to copy, so that no two copies meet; `ts` in µs."""
    least: dict[bytes, int] = {}
    most: defaultdict[bytes, int] = defaultdict(int)
    for _, key, digits in _NUMBER.findall(events):
        number = int(digits)
        most[key] = max(most[key], number)
        if number:  # a time of 0 is one that was lost
            least[key] = min(least.get(key, number), number)
    return {key: most[key] - least.get(key, 0) + 1_000_000 for key in most}


def main() -> None:
    """Writes the file and says what is in it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--megabytes", type=float, default=1000)
    parser.add_argument("--trace", type=Path, default=LONG_TRACE)
    options = parser.parse_args()
    copies = write(options.out, text_of(options.trace), options.megabytes)
    print(f"{options.out}: {options.out.stat().st_size / 1e6:.0f} MB, {copies} copies of {options.trace.name}")


if __name__ == "__main__":
    main()

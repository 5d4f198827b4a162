"""A trace as long as you like: a real one again and again, each time later and with ids of its own, in its layout.

For `trace_reading.py --megabytes N`.
"""

import re
from collections import defaultdict
from math import ceil
from pathlib import Path

_HEAD = re.compile(rb'"traceEvents"\s*:\s*\[')
_TAIL = re.compile(rb"\}\s*(\]\s*,?[^\[\]]*)$")
_IDS = (b"id", b"correlation", b"External id", b"Sequence number", b"Ev Idx")
_NUMBER = re.compile(rb'("(ts|%b)"\s*:\s*)(\d+)' % b"|".join(_IDS))


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

"""Big files are read by several processes at once, each a part of the file.

A part begins and ends at what looks like a border between two events. It is one if the part before ends there with a
whole event, which is known when that part has been read. Where that fails, or a text is not as Kineto writes it, the
slices (slicer.py) go on.
"""

import gc
import pickle
import re
import sys
from itertools import pairwise
from pathlib import Path
from typing import Final

from kinetoscope_core.trace.collector import Collector
from kinetoscope_core.trace.decoder import Decoder
from kinetoscope_core.trace.readers import cores, end_with_parent, readers
from kinetoscope_core.trace.slicer import SLICE_BYTES, last_border

# What this process reads while another one starts. It is also too little to start one for.
HEAD_START: Final = 16 << 20
_MOST_PROCESSES: Final = 4  # what comes after reading goes on in one, and takes as long as reading in four
_LONGEST_EVENT: Final = 1 << 20

_BORDER: Final = re.compile(rb"\}\s*,(?=\s*\{)")


def read_parts(path: Path, begin: int, end: int, decoder: Decoder, collector: Collector) -> int:
    """Reads events from `begin` on if they are worth several processes; gives the place up to which it read."""
    processes = min((end - begin) // HEAD_START, cores(), _MOST_PROCESSES)
    if processes < 2:
        return begin
    own = HEAD_START + (end - begin - HEAD_START) // processes
    others = end - begin - own
    places = [begin + own + others * number // (processes - 1) for number in range(processes - 1)]
    borders = [begin, *_borders_after(path, places), end]
    parts = ((str(path), str(each), str(after)) for each, after in pairwise(borders[1:]))
    with readers(__name__, parts) as pipes:
        reached = _read_part(path, borders[0], borders[1], decoder, collector)
        for border, pipe in zip(borders[1:], pipes, strict=False):
            if reached < border:
                break
            try:
                part, reached = pickle.load(pipe)  # noqa: S301 - from a process of ours
            except (EOFError, pickle.UnpicklingError):  # it was ended, perhaps for want of memory
                break
            collector.extend(part)
    return reached


def _read_part(path: Path, begin: int, end: int, decoder: Decoder, collector: Collector) -> int:
    """Adds the events between two borders; gives the place up to where they were plain."""
    rest = b""
    with path.open("rb") as file:
        file.seek(begin)
        while (read := file.tell()) < end:
            text = rest + file.read(min(max(SLICE_BYTES, len(rest)), end - read))
            is_last = file.tell() >= end and text.endswith(b",")
            border = len(text) - 1 if is_last else last_border(text, len(text))
            if border >= 0:
                events = decoder.plain(text[:border])
                if events is None:
                    break
                collector.add(events)
                begin += border + 1
            rest = text[border + 1 :]
            if len(rest) > _LONGEST_EVENT:
                break
    return begin


def _borders_after(path: Path, places: list[int]) -> list[int]:
    """For each place, where the next event begins, as it seems."""
    found: list[int] = []
    with path.open("rb") as file:
        for place in places:
            file.seek(place)
            border = _BORDER.search(file.read(SLICE_BYTES))
            if border is not None:
                found.append(place + border.end())
    return found


def main() -> None:
    """Reads a part in a process of its own: writes the columns and the place up to where it read."""
    path, begin, end = sys.argv[1:]
    end_with_parent()
    gc.disable()
    collector = Collector()
    reached = _read_part(Path(path), int(begin), int(end), Decoder(), collector)
    pickle.dump((collector, reached), sys.stdout.buffer, pickle.HIGHEST_PROTOCOL)
    sys.stdout.flush()

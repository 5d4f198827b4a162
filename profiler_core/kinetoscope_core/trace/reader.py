"""From a path to a `Trace` and what was wrong with the file."""

import gc
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kinetoscope_core.errors import Problem, TraceError
from kinetoscope_core.text import LONGEST_NAME
from kinetoscope_core.trace import repair
from kinetoscope_core.trace.bytestream import ByteStream, opened
from kinetoscope_core.trace.collector import Collector
from kinetoscope_core.trace.columns import Metadata, Trace
from kinetoscope_core.trace.decoder import Decoder
from kinetoscope_core.trace.durations import bound_durations
from kinetoscope_core.trace.metadata import base_time_in, metadata_from, metadata_object
from kinetoscope_core.trace.parts import read_parts
from kinetoscope_core.trace.slicer import EventSlices
from kinetoscope_core.trace.writers import other_tool

if TYPE_CHECKING:
    from os import PathLike

_REPAIRED: Final = {
    repair.QUOTE: "{n} had unescaped quotes (PyTorch before July 2026 writes such names), which were repaired.",
    repair.BACKSLASH: "{n} had unescaped backslashes, which were repaired.",
    repair.CONTROL: "{n} had raw control characters in a text, which were read unchanged.",
    repair.NOT_UTF8: "There were bytes that are not UTF-8 at {p}. They were replaced.",
    repair.NOT_A_NUMBER: "There was NaN or Infinity, which JSON does not have, at {p}. The values count as missing.",
    repair.TRAILING_COMMA: "There was a comma with nothing after it at {p}. It was ignored.",
    repair.LONE_SURROGATE: "{n} had half a surrogate pair, which was replaced.",
    repair.UNREADABLE: "{n} could not be read and are missing, so the numbers are at least these.",
}


def read_trace(path: "str | PathLike[str]") -> tuple[Trace, list[Problem]]:
    """The trace and what had to be repaired or is missing.

    Raises TraceError, with one line saying what to do, for what cannot be read as a trace.
    """
    path = Path(path)
    collector, decoder = Collector(), Decoder()
    with opened(path) as stream, collector_off():
        slices = EventSlices(stream, decoder)
        begin = slices.begin()
        if begin is not None and (reached := read_parts(path, begin, stream.size, decoder, collector)) > begin:
            slices.go_to(reached)
        for events in slices:
            collector.add(events)
        if slices.tail is None and not collector.events and slices.last_piece.lstrip()[:1] in {b"", b"{"}:
            raise TraceError(f"{path} is cut off before its first event ends. Export or copy the trace again.")
        if not collector.has_phases and (collector.events or slices.tail is None):
            raise TraceError(
                f"{path} is JSON but not a trace: its events have no phase. Give a trace of torch.profiler."
            )
        is_cut = stream.is_cut or stream.is_damaged or _is_cut(slices)
        values, problems = _metadata_values(slices)
        repairs = slices.repairs
        problems = [*_problems_of(stream, slices, collector, repairs), *problems]
    trace = Trace(
        path=path,
        names=collector.names,
        threads=collector.threads,
        host=collector.host,
        device=collector.device,
        overhead=collector.overhead,
        frames=collector.frames,
        flows=collector.flows(),
        metadata=metadata_from(values, has_stacks=collector.has_stacks),
        events=collector.events,
        is_cut=is_cut,
    )
    return trace, problems


def peeked(path: Path) -> Metadata | None:
    """What stands before the events, without reading these; `None` if it cannot be read, or not twice."""
    if not path.is_file():
        return None
    try:
        with opened(path) as stream:
            slices = EventSlices(stream, Decoder())
            slices.begin()
            return metadata_from(_metadata_values(slices)[0], has_stacks=False)
    except TraceError:
        return None


@contextmanager
def collector_off() -> Generator[None]:
    """Python's garbage collector off, and back as it was: with it on, the many new objects are gone through in vain."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _metadata_values(slices: EventSlices) -> tuple[dict[str, Any], list[Problem]]:
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    texts: list[tuple[bytes, bytes]] = []
    if slices.head is not None:
        texts.append((slices.head, slices.head + b"[]}"))
        if slices.tail:
            texts.append((slices.tail, b"{" + slices.tail.lstrip().removeprefix(b",")))
    for text, completed in texts:
        found = metadata_object(completed, slices.repairs)
        if found is None and not (text is slices.tail and _is_cut(slices)):
            problems.append(
                Problem("unreadable-metadata", "The text around the events is damaged: device or rank may be unknown.")
            )
        values |= base_time_in(text) if found is None else found
    return values, problems


def _is_cut(slices: EventSlices) -> bool:
    """Whether the end is missing: of the list of events, or of the outer object around it."""
    if slices.tail is None:
        return True
    return slices.head is not None and not slices.tail.rstrip().endswith(b"}")


def _problems_of(
    stream: ByteStream, slices: EventSlices, collector: Collector, repairs: Counter[str]
) -> Iterator[Problem]:
    if stream.is_damaged:
        yield Problem(
            "damaged-gzip", "The gzip data is damaged, and all after the damage is missing. Copy the file again."
        )
    if stream.is_cut or _is_cut(slices):
        message = "The file is cut off: its end is missing, so the numbers are at least these. Export the trace again."
        yield Problem("cut-off", message, {"events": collector.events})
    if slices.has_bom:
        yield Problem("byte-order-mark", "The file begins with a byte-order mark, which was ignored.")
    repairs[repair.UNREADABLE] += collector.unreadable
    for code, message in _REPAIRED.items():
        number = repairs[code]
        if number:
            plural = "" if number == 1 else "s"
            text = message.format(n=f"{number} event{plural}", p=f"{number} place{plural}")
            yield Problem(code, text, {"count": number})
    if long_names := collector.long_names:
        what = "1 region has a name" if long_names == 1 else f"{long_names} regions have names"
        message = f"{what} of more than {LONGEST_NAME:,} characters. Only the beginning is kept."
        yield Problem("long-names", message, {"count": long_names})
    below, beyond = bound_durations(collector.host, collector.device, collector.overhead)
    if below:
        message = f"{_slices(below)} had a duration below zero. It counts as 0 and is left out of the statistics."
        yield Problem("negative-duration", message, {"count": below})
    if beyond:
        message = (
            f"{_slices(beyond)} had a duration beyond what a recording can last (an overflow, such as pytorch #124080)."
            " On the CPU they end with the recording; on the GPU they count as 0 ns."
        )
        yield Problem("overflowing-duration", message, {"count": beyond})
    tool = other_tool(collector.unread, collector.unread_names, collector.unread_rows)
    if tool is not None:
        yield tool
    if not collector.events:
        yield Problem("no-events", "The trace has no events: nothing was recorded.")


def _slices(number: int) -> str:
    return "1 slice" if number == 1 else f"{number} slices"

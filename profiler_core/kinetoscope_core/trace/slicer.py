"""Cuts a trace file into lists of events at the borders of events, a quarter of a MB at a time.

No layout is assumed: a border is any `}, {`, and it counts as one when the text before it is a whole number of JSON
values. That makes it safe against borders inside events and strings, and costs no more than parsing.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

import orjson

from kinetoscope_core.errors import TraceError
from kinetoscope_core.trace.bytestream import ByteStream
from kinetoscope_core.trace.decoder import Decoder
from kinetoscope_core.trace.events import Event, made_plain
from kinetoscope_core.trace.repair import AFTER_LIST, TRAILING_COMMA, cleaned, repaired_events
from kinetoscope_core.trace.times import with_absolute_times_as_text

# Small enough for the processor's caches: of 64 kB to 2 MB, 128 to 256 kB were fastest (185 MB from an H200).
SLICE_BYTES: Final = 256 << 10
_LONGEST_EVENT: Final = 64 << 20
# A slice shorter than this without a whole event is more likely a piece of one than damaged: read on.
_SHORT_SLICE: Final = 64 << 10
_LONGEST_METADATA: Final = 64 << 20
_BOM: Final = b"\xef\xbb\xbf"

_LIST_OF_EVENTS: Final = re.compile(rb'"traceEvents"\s*:\s*\[')
_ARRAY_END: Final = re.compile(rf"\}}\s*(?:(,)\s*)?\](?={AFTER_LIST})".encode())
_AFTER_LIST: Final = re.compile(AFTER_LIST.encode())
_STRING_OR_BRACKET: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[{}\[\]]', re.DOTALL)


class _Part(NamedTuple):
    """`rest` still belongs to the list of events; `tail`, where it is not `None`, follows the end of the list."""

    events: list[Event]
    rest: bytes
    tail: bytes | None


class EventSlices:
    """One pass over a trace. After it, `head` and `tail` hold the text around the list of events.

    `head` ends before the list's bracket (`None` for a bare list), `tail` begins after it (`None` when the file was cut
    off before). `repairs` counts what had to be repaired. `last_piece` is the text read last of a list without an end.
    """

    def __init__(self, stream: ByteStream, decoder: Decoder) -> None:
        self.head: bytes | None = None
        self.tail: bytes | None = None
        self.has_bom = False
        self.last_piece = b""
        self.repairs: Counter[str] = Counter()
        self._stream = stream
        self._decoder = decoder
        self._buffer = b""

    def begin(self) -> int | None:
        """Finds the list of events, and gives its place in the file, if a place can be gone to.

        Raises TraceError if there is none.
        """
        self._buffer = self._after_head()
        read = self._stream.place
        return None if read is None else read - len(self._buffer)

    def go_to(self, place: int) -> None:
        """Goes on with an event that begins there."""
        self._stream.go_to(place)
        self._buffer = b""

    def __iter__(self) -> Iterator[list[Event]]:
        """The events from there on, a list for each slice."""
        buffer = self._buffer
        while self.tail is None:
            more = self._stream.read(max(SLICE_BYTES, len(buffer)))
            buffer += more
            if not more:
                part = self._parsed(buffer, at_end=True)
                self.tail = part.tail
                self.last_piece = buffer
                yield part.events
                return
            border = last_border(buffer, len(buffer))
            if border < 0:
                if len(buffer) > _LONGEST_EVENT:
                    raise TraceError(
                        f"{self._stream.path} holds an event of more than {_LONGEST_EVENT >> 20} MB: not a trace of "
                        "PyTorch, or too damaged. Export the trace again."
                    )
                continue
            part = self._parsed(buffer[:border], at_end=False)
            yield part.events
            after = buffer[border + 1 :]
            if part.tail is None:
                buffer = part.rest + b"," + after if part.rest else after
            else:
                self.tail = part.tail + b"," + after
        self._read_tail()

    def _after_head(self) -> bytes:
        """Finds the list of events, keeps what stands before it, gives what has been read beyond."""
        buffer = self._stream.read(SLICE_BYTES)
        self.has_bom = buffer.startswith(_BOM)
        buffer = buffer.removeprefix(_BOM).lstrip()
        while not buffer and (more := self._stream.read(SLICE_BYTES)):
            buffer = more.lstrip()
        if buffer.startswith(b"["):
            return buffer[1:]
        searched = 0
        while (found := _LIST_OF_EVENTS.search(buffer, max(0, searched - 256))) is None:
            searched = len(buffer)
            more = self._stream.read(SLICE_BYTES) if buffer.startswith(b"{") and searched < _LONGEST_METADATA else b""
            if not more:
                raise TraceError(_why_not_a_trace(self._stream, buffer))
            buffer += more
        self.head = buffer[: found.end() - 1]
        return buffer[found.end() :]

    def _read_tail(self) -> None:
        pieces = [self.tail or b""]
        length = len(pieces[0])
        while length < _LONGEST_METADATA and (more := self._stream.read(SLICE_BYTES)):
            pieces.append(more)
            length += len(more)
        self.tail = b"".join(pieces)

    def _parsed(self, text: bytes, *, at_end: bool) -> _Part:
        part = self._parsed_as_json(text, at_end=at_end)
        if part is not None:
            return part
        text = cleaned(text, self.repairs)
        part = self._parsed_as_json(text, at_end=at_end)
        if part is not None:
            return part
        values, tail = repaired_events(with_absolute_times_as_text(text), self.repairs, at_end=at_end)
        return _Part([made_plain(value) for value in values], b"", tail)

    def _parsed_as_json(self, text: bytes, *, at_end: bool) -> _Part | None:
        """The events of an undamaged text that may hold the end of the list, or be cut off. `None` if it is damaged."""
        if not at_end and (events := self._decoder.any(text)) is not None:
            return _Part(events, b"", None)
        if text.lstrip()[:1] == b"]":
            return _Part([], b"", text.lstrip()[1:])
        # The end of the list is one of the last places that look like it, unless metadata with lists follows.
        endings = list(_ARRAY_END.finditer(text))
        for ending in reversed(endings[-4:]):
            events = self._decoder.any(text[: ending.start() + 1])
            if events is not None:
                self.repairs[TRAILING_COMMA] += ending[1] is not None
                return _Part(events, b"", text[ending.end() :])
        if at_end and not endings:
            # Cut off: between two events, or inside the last one.
            border = last_border(text, len(text))
            for whole in (text.rstrip().removesuffix(b","), text[: max(border, 0)]):
                events = self._decoder.any(whole)
                if events is not None:
                    return _Part(events, b"", None)
        complete, ending_at = _balanced(text)
        events = self._decoder.any(text[:complete])
        if not complete and not at_end and len(text) < _SHORT_SLICE:
            return _Part([], text, None)
        if events is None or (not complete and not at_end):
            return None
        if ending_at is None and at_end and endings:
            return None  # a list that ends, in a text that is no JSON: damaged
        if ending_at is not None:
            between = text[complete:ending_at].strip()
            if text[ending_at] != ord("]") or between not in {b"", b","} or not _AFTER_LIST.match(text, ending_at + 1):
                return None
            self.repairs[TRAILING_COMMA] += text[complete:ending_at].count(b",")
            return _Part(events, b"", text[ending_at + 1 :])
        rest = text[complete:].lstrip()
        if complete and not rest.startswith(b","):
            return None
        return _Part(events, b"" if at_end else rest[1:], None)


def last_border(text: bytes, end: int) -> int:
    """The place of the comma of the last `}, {` before `end`, -1 if there is none."""
    while (end := text.rfind(b"{", 0, end)) >= 0:
        before = text[max(0, end - 256) : end].rstrip()
        if before.endswith(b",") and before[:-1].rstrip().endswith(b"}"):
            return text.rfind(b",", 0, end)
    return -1


def _balanced(text: bytes) -> tuple[int, int | None]:
    """How far the text is a whole number of objects, and the place of the bracket that closes the list of events."""
    depth = 0
    complete = 0
    for token in _STRING_OR_BRACKET.finditer(text):
        mark = token[0]
        if mark in (b"{", b"["):
            depth += 1
        elif mark in (b"}", b"]"):
            depth -= 1
            if depth == 0:
                complete = token.end()
            elif depth < 0:
                return complete, token.start()
    return complete, None


def _why_not_a_trace(stream: ByteStream, text: bytes) -> str:
    path = stream.path
    if stream.is_damaged:
        return f"{path} is a damaged gzip file: nothing in it can be read. Export or copy the trace again."
    if stream.is_cut:
        return f"{path} is a gzip file that was cut off before its first event. Export or copy the trace again."
    if not text:
        return f"{path} is empty. The export did not finish or the disk was full; export the trace again."
    if not text.startswith(b"{"):
        kind = "a zip archive" if text.startswith(b"PK\x03\x04") else "not JSON"
        return f"{path} is {kind}. Give a Chrome trace written by torch.profiler (*.json or *.json.gz)."
    if len(text) >= _LONGEST_METADATA:
        return f"{path} has no list of traceEvents in its first {_LONGEST_METADATA >> 20} MB: it is not a trace."
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        if b'"schemaVersion"' in text or b'"deviceProperties"' in text:
            return f"{path} is cut off before its first event. Export or copy the trace again."
        return f"{path} is not JSON. Give a Chrome trace written by torch.profiler (*.json or *.json.gz)."
    return f"{path} is JSON but not a trace: it has no list of traceEvents. Give a trace written by torch.profiler."

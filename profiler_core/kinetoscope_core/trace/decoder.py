"""Text of whole events, as lists of events. msgspec takes two thirds of the time that orjson takes for dictionaries."""

from collections.abc import Callable
from typing import Any, Final, cast

import orjson
from msgspec import DecodeError, defstruct, json

from kinetoscope_core.trace.events import Event, FlowEnd, FlowStart, Slice, Unused, made_plain
from kinetoscope_core.trace.times import FLOAT_LIMIT_US, with_absolute_times_as_text

_OTHER_PHASES: Final = "BEbneSTptFCNODMPiIRcVv(),"


def _typed_decoder() -> json.Decoder[list[Event]]:
    """The type of an event is told by its phase, and msgspec wants a type for each phase."""
    event: Any = Slice | FlowStart | FlowEnd
    for number, phase in enumerate(_OTHER_PHASES):
        event |= defstruct(f"Unused{number}", (), bases=(Unused,), tag_field="ph", tag=phase, gc=False)
    return json.Decoder(cast("type[list[Event]]", list[event]))


_TYPED: Final = _typed_decoder()


class Decoder:
    """Reads the events of one file. It remembers whether the file's times need more digits than a float has."""

    def __init__(self) -> None:
        self._has_absolute_times = False

    def plain(self, text: bytes) -> list[Event] | None:
        """The events of a text between two borders; `None` unless all are as Kineto writes them."""
        return self._decoded(text, _plain)

    def any(self, text: bytes) -> list[Event] | None:
        """The same of odd ones too, with values of other types made into those that fit; `None` if it is not JSON."""
        return self._decoded(text, _any)

    def _decoded(self, text: bytes, decode: Callable[[bytes], list[Event] | None]) -> list[Event] | None:
        if self._has_absolute_times:
            return decode(with_absolute_times_as_text(text))
        events = decode(text)
        if events is not None and _has_times_beyond_float(events):
            self._has_absolute_times = True
            events = decode(with_absolute_times_as_text(text))
        return events


def _plain(text: bytes) -> list[Event] | None:
    try:
        if not text.isascii():
            text.decode()  # msgspec does not look at the characters of what it passes over
        return _TYPED.decode(b"[%b]" % text)
    except (DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _any(text: bytes) -> list[Event] | None:
    events = _plain(text)
    if events is not None:
        return events
    try:
        values: list[object] = orjson.loads(b"[%b]" % text)
    except orjson.JSONDecodeError:
        return None
    return [made_plain(value) for value in values]


def _has_times_beyond_float(events: list[Event]) -> bool:
    """A file's times are all relative or all absolute, so a sample tells."""
    return any(
        type(event) is Slice and type(event.ts) is float and event.ts >= FLOAT_LIMIT_US
        for event in (*events[:4], *events[4::32])
    )

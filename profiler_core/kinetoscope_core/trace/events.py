"""Events as values with types: what is needed of each, and no more.

msgspec fills them while it reads (decoder.py) and passes over the rest of the text.
"""

from typing import Annotated, Any, Final, NamedTuple, TypeAlias, cast

from msgspec import Meta, Struct, field, structs

from kinetoscope_core.text import short_name
from kinetoscope_core.trace.schema import OF_USE
from kinetoscope_core.trace.times import ns_from_us

_LARGEST: Final = 2**63 - 1
_LARGEST_US: Final = 9_200_000_000_000_000  # well below 2**63 ns, also after a float was rounded
_NO: Final = (False, "false", "False")

_Int64 = Annotated[int, Meta(ge=-_LARGEST, le=_LARGEST)]
_TimeInFile = (
    Annotated[int, Meta(ge=-_LARGEST_US, le=_LARGEST_US)]
    | Annotated[float, Meta(ge=-_LARGEST_US, le=_LARGEST_US)]
    | Annotated[str, Meta(pattern=r"^[0-8]?\d{1,15}(\.\d+)?$")]
)


class Collective(NamedTuple):
    """What a kernel says of the collective, or the point-to-point transfer, that it carries out.

    `ranks` are those of the group, as text; torch cuts long lists (`[0, 1, ..., 511]`). -1 stands for "not given" in
    the numbers; `source` and `destination` are the peers of a receive and of a send.
    """

    name: str
    group: str
    ranks: str
    group_size: int
    elements_in: int
    elements_out: int
    dtype: str
    source: int
    destination: int


class Arguments(Struct, frozen=True, gc=False):
    """What an event says beyond its time and place; -1 for what it does not.

    What kernels of collectives say, from `collective` on, is as it stands in the file (torch writes ranks as text);
    `None` for what they do not.
    """

    external_id: _Int64 = field(default=-1, name="External id")
    correlation: _Int64 = -1
    sequence: _Int64 = field(default=-1, name="Sequence number")
    forward_thread: _Int64 = field(default=0, name="Fwd thread id")
    device: _Int64 = -1
    stream: _Int64 = -1
    bytes: _Int64 = -1
    finished: bool | str = True
    collective: Any = field(default=None, name="Collective name")
    group: Any = field(default=None, name="Process Group Name")
    group_ranks: Any = field(default=None, name="Process Group Ranks")
    group_size: Any = field(default=None, name="Group size")
    elements_in: Any = field(default=None, name="In msg nelems")
    elements_out: Any = field(default=None, name="Out msg nelems")
    dtype: Any = None
    source: Any = field(default=None, name="Src Rank")
    destination: Any = field(default=None, name="Dst Rank")

    @property
    def is_finished(self) -> bool:
        """Whether the region was left before the recording ended."""
        return self.finished not in _NO

    def of_collective(self) -> Collective:
        """The same of a kernel that names its collective."""
        return Collective(
            name=_as_text(self.collective),
            group=_as_text(self.group),
            ranks=_as_text(self.group_ranks),
            group_size=_as_number(self.group_size),
            elements_in=_as_number(self.elements_in),
            elements_out=_as_number(self.elements_out),
            dtype=_as_text(self.dtype),
            source=_as_number(self.source),
            destination=_as_number(self.destination),
        )


_NO_ARGUMENTS: Final = Arguments()
_OF_COLLECTIVES: Final = {each.name: each.encode_name for each in structs.fields(Arguments) if each.type is Any}


class Slice(Struct, tag_field="ph", tag="X", gc=False):
    """Something that took `dur` µs from `ts` µs on."""

    name: str
    pid: int | str
    tid: int | str
    ts: _TimeInFile
    dur: _TimeInFile
    cat: str = ""
    args: Arguments = _NO_ARGUMENTS


class FlowStart(Struct, tag_field="ph", tag="s", gc=False):
    """Where an arrow begins; its end has the same `id`."""

    id: int | str
    pid: int | str
    tid: int | str
    ts: _TimeInFile
    cat: str = ""


class FlowEnd(FlowStart, tag_field="ph", tag="f", gc=False):
    """Where an arrow ends."""


class Unused(Struct, gc=False):
    """An event of no use here, such as a name of a process. Without a phase it is no event at all."""

    has_phase: bool = True


class Unreadable(Struct, gc=False):
    """An event that would be of use and lacks a usable time, phase or name."""

    has_phase: bool = True


Event: TypeAlias = Slice | FlowStart | FlowEnd | Unused | Unreadable


def made_plain(value: object) -> Event:
    """An event out of any parsed value: with numbers written as text, without a length, and so on."""
    if not isinstance(value, dict):
        return Unreadable(has_phase=False)
    given = cast("dict[str, Any]", value)
    phase, name = given.get("ph"), given.get("name")
    category = str(given.get("cat", ""))
    ts: Any = given.get("ts")
    duration: Any = _bounded(given.get("dur", 0))  # some writers leave out a length of zero
    if phase not in ("X", "s", "f") and "ph" in given:
        return Unused()
    has_name = isinstance(name, str | int | float) or phase != "X"
    if "ph" not in given or not has_name or not _is_time(ts) or not _is_time(duration):
        return (Unreadable if category in OF_USE else Unused)(has_phase="ph" in given)
    pid, tid = _as_key(given.get("pid")), _as_key(given.get("tid"))
    if phase == "X":
        return Slice(str(name), pid, tid, ts, duration, category, _arguments(given.get("args")))
    return (FlowStart if phase == "s" else FlowEnd)(_as_key(given.get("id")), pid, tid, ts, category)


def _arguments(value: object) -> Arguments:
    if not isinstance(value, dict):
        return _NO_ARGUMENTS
    given = cast("dict[str, Any]", value)
    return Arguments(
        external_id=_as_number(given.get("External id")),
        correlation=_as_number(given.get("correlation")),
        sequence=_as_number(given.get("Sequence number")),
        forward_thread=max(_as_number(given.get("Fwd thread id")), 0),
        device=_as_number(given.get("device")),
        stream=_as_number(given.get("stream")),
        bytes=_as_number(given.get("bytes")),
        finished=given.get("finished", True) not in _NO,
        **{name: given.get(in_file) for name, in_file in _OF_COLLECTIVES.items()},
    )


def _is_time(value: object) -> bool:
    try:
        return abs(ns_from_us(value)) <= _LARGEST_US * 1000
    except (TypeError, ValueError, OverflowError):
        return False


def _bounded(length: object) -> object:
    """A length that no 64-bit integer of ns holds becomes the longest, or the shortest, that is read as one."""
    try:
        ns = ns_from_us(length)
    except (TypeError, ValueError, OverflowError):
        return length
    return min(max(ns, -_LARGEST_US * 1000), _LARGEST_US * 1000) // 1000 if abs(ns) > _LARGEST_US * 1000 else length


def _as_key(value: object) -> int | str:
    return value if isinstance(value, int | str) else str(value)


def _as_text(value: object) -> str:
    return "" if value is None else short_name(str(value))


def _as_number(value: object) -> int:
    """An id or a size; -1 for what is none, such as the 2**64-1 of "no sequence number"."""
    try:
        number = int(cast("Any", value))
    except (TypeError, ValueError, OverflowError):
        return -1
    return number if abs(number) <= _LARGEST else -1

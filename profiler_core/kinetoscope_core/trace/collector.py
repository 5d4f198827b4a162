"""Events become columns. Every event of a trace passes here, so it goes column by column, with few steps for each."""

from array import array
from collections.abc import Sequence
from dataclasses import fields
from itertools import compress
from struct import pack
from typing import Final, TypeAlias

from kinetoscope_core.text import LONGEST_NAME, short_name
from kinetoscope_core.trace.columns import (
    DeviceActivities,
    ForwardBackwardFlows,
    HostSlices,
    OverheadSlices,
    PythonFrames,
    Thread,
)
from kinetoscope_core.trace.events import Event, FlowEnd, FlowStart, Slice, Unreadable, Unused
from kinetoscope_core.trace.schema import (
    API_CALL,
    DEVICE_KINDS,
    FORWARD_BACKWARD,
    HOST_KINDS,
    LEGACY_OPERATOR,
    LEGACY_REGION_PREFIXES,
    MEMCPY,
    OPERATOR,
    OVERHEAD,
    PYTHON_FRAME,
    REGION,
)
from kinetoscope_core.trace.times import packed_ns

# What a slice is, in one byte: its group in the upper half, its kind in the lower.
_HOST, _DEVICE, _OTHER = range(3)
_LEGACY: Final = 3  # a kind of host slice: an operator or a region, the name tells
_OVERHEAD: Final = _OTHER << 4
_FRAME: Final = _OVERHEAD + 1
_OF_NO_USE: Final = 255
_MOST_UNREAD: Final = 100
_CODES: Final = {
    **HOST_KINDS,
    **{category: (_DEVICE << 4) + kind for category, kind in DEVICE_KINDS.items()},
    LEGACY_OPERATOR: _LEGACY,
    OVERHEAD: _OVERHEAD,
    PYTHON_FRAME: _FRAME,
}
_KIND_OF: Final = bytes(code & 15 for code in range(256))
_IS_IN: Final = [bytes(code >> 4 == group for code in range(256)) for group in (_HOST, _DEVICE)]
_NOT_IN: Final = [bytes(code for code in range(256) if code >> 4 != group) for group in (_HOST, _DEVICE)]

_IN_A_FILE: Final = ".py("  # of a Python frame; others are built-in or say which module is called
_OF_TORCH: Final = "torch/"

_MINUS_ONE: Final = b"\xff" * 8

_FlowId: TypeAlias = tuple[int | str, int | str]


class Collector:
    """Takes lists of events and fills the columns of a trace.

    `events` counts everything seen, `unreadable` what lacks a usable time or name. Where nothing `has_phases`, the
    events are not those of a trace. `unread` are the categories that are of no use here; of slices without a category
    `unread_names` and `unread_rows` keep some names and processes.
    """

    def __init__(self) -> None:
        self.host = HostSlices()
        self.device = DeviceActivities()
        self.overhead = OverheadSlices()
        self.frames = PythonFrames()
        self.events = 0
        self.unreadable = 0
        self.has_phases = False
        self.has_stacks = False
        self.unread: set[str] = set()
        self.unread_names: set[str] = set()
        self.unread_rows: set[str] = set()
        self._names: dict[str, int] = {}
        self._threads: dict[Thread, int] = {}
        # The same by what stands in the file: one thread can be number and text (2021: 5555 and "5555").
        self._threads_in_file: dict[int | str, dict[int | str, int]] = {}
        # By process, too: ranks that were merged into one file count from the same number.
        self._flow_starts: dict[_FlowId, tuple[int, int]] = {}
        self._flow_ends: list[tuple[_FlowId, int, int]] = []

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns `name` refer to."""
        return tuple(map(short_name, self._names))

    @property
    def long_names(self) -> int:
        """How many names of regions are cut in `names`. Those of kernels often are: templates spell out their types."""
        long = {number for number, name in enumerate(self._names) if len(name) > LONGEST_NAME}
        if not long:
            return 0
        rows = zip(self.host.kind, self.host.name, strict=True)
        return len({name for kind, name in rows if kind == REGION and name in long})

    @property
    def threads(self) -> tuple[Thread, ...]:
        """What the column `thread` refers to."""
        return tuple(self._threads)

    def add(self, events: list[Event]) -> None:
        """Adds events in the order of the file. Those of no use (process names, launch flows) are only counted."""
        self.events += len(events)
        slices = [event for event in events if type(event) is Slice]
        if slices:
            self.has_phases = True
            self._add_slices(slices)
        if len(slices) < len(events):
            self._add_others([event for event in events if type(event) is not Slice])

    def _add_slices(self, slices: list[Slice]) -> None:
        code_of = _CODES.get
        codes = bytes([code_of(event.cat, _OF_NO_USE) for event in slices])
        kinds, chosen = _chosen(_HOST, slices, codes)
        if chosen:
            self._add_host(kinds, chosen)
        if len(chosen) == len(slices):
            return
        kinds, chosen = _chosen(_DEVICE, slices, codes)
        if chosen:
            self._add_device(kinds, chosen)
        if _OVERHEAD in codes:
            self._add_overhead([event for event in slices if event.cat == OVERHEAD])
        if _FRAME in codes:
            self.has_stacks = True
            self._add_frames([event for event in slices if event.cat == PYTHON_FRAME and _IN_A_FILE in event.name])
        if _OF_NO_USE in codes:
            self._note_unread([event for event, code in zip(slices, codes, strict=True) if code == _OF_NO_USE])

    def _note_unread(self, slices: list[Slice]) -> None:
        self.unread.update([event.cat for event in slices])
        if "" in self.unread and len(self.unread_names) < _MOST_UNREAD:
            bare = [event for event in slices if not event.cat]
            self.unread_names.update([event.name for event in bare[:_MOST_UNREAD]])
            self.unread_rows.update([str(event.pid) for event in bare[:_MOST_UNREAD]])

    def _add_host(self, kinds: bytes, slices: list[Slice]) -> None:
        host = self.host
        given = [event.args for event in slices]
        if _LEGACY in kinds:
            kinds = bytes([_kind_in_2021(*each) for each in zip(kinds, slices, strict=True)])
        if REGION in kinds:
            rows = enumerate(zip(kinds, given, strict=True), len(host))
            host.unfinished.update(index for index, (kind, args) in rows if kind == REGION and not args.is_finished)
        host.kind.frombytes(kinds)
        host.name.frombytes(self._names_of(slices))
        host.thread.frombytes(_indices(self._threads_of(slices)))
        host.start_ns.frombytes(_starts(slices))
        host.duration_ns.frombytes(packed_ns([event.dur for event in slices]))
        host.external_id.frombytes(_longs([args.external_id for args in given]))
        # Most slices of a file hold operators alone.
        correlation = _longs([args.correlation for args in given]) if API_CALL in kinds else _MINUS_ONE * len(kinds)
        host.correlation.frombytes(correlation)
        host.sequence.frombytes(_longs([args.sequence for args in given]))
        host.forward_thread.frombytes(_longs([args.forward_thread for args in given]))

    def _add_device(self, kinds: bytes, slices: list[Slice]) -> None:
        device = self.device
        given = [event.args for event in slices]
        copied = [args.bytes if kind == MEMCPY else -1 for kind, args in zip(kinds, given, strict=True)]
        rows = enumerate(given, len(device))
        device.collectives.update((row, args.of_collective()) for row, args in rows if args.collective is not None)
        device.kind.frombytes(kinds)
        device.name.frombytes(self._names_of(slices))
        device.device.frombytes(_longs([_device_of(event) for event in slices]))
        device.stream.frombytes(_longs([args.stream for args in given]))
        device.thread.frombytes(_indices(self._threads_of(slices)))
        device.correlation.frombytes(_longs([args.correlation for args in given]))
        device.start_ns.frombytes(_starts(slices))
        device.duration_ns.frombytes(packed_ns([event.dur for event in slices]))
        device.copied_bytes.frombytes(_longs(copied))

    def _add_overhead(self, slices: list[Slice]) -> None:
        self.overhead.name.frombytes(self._names_of(slices))
        self.overhead.start_ns.frombytes(_starts(slices))
        self.overhead.duration_ns.frombytes(packed_ns([event.dur for event in slices]))

    def _add_frames(self, slices: list[Slice]) -> None:
        slices = [event for event in slices if not event.name.startswith(_OF_TORCH)]
        if not slices:
            return
        self.frames.name.frombytes(self._names_of(slices))
        self.frames.thread.frombytes(_indices(self._threads_of(slices)))
        self.frames.start_ns.frombytes(_starts(slices))
        self.frames.duration_ns.frombytes(packed_ns([event.dur for event in slices]))

    def _add_others(self, events: list[Event]) -> None:
        self.unreadable += sum(1 for event in events if type(event) is Unreadable)
        self.has_phases = self.has_phases or any(
            event.has_phase if isinstance(event, Unused | Unreadable) else True for event in events
        )
        flows = [
            event
            for event in events
            if (type(event) is FlowStart or type(event) is FlowEnd) and event.cat == FORWARD_BACKWARD
        ]
        if not flows:
            return
        times = array("q", _starts(flows))
        for event, thread, ns in zip(flows, self._threads_of(flows), times, strict=True):
            if type(event) is FlowEnd:
                self._flow_ends.append(((event.pid, event.id), thread, ns))
            else:
                self._flow_starts[event.pid, event.id] = (thread, ns)

    def _names_of(self, slices: list[Slice]) -> bytes:
        names = self._names
        try:
            return _indices([names[event.name] for event in slices])
        except KeyError:  # rare: names are few
            for event in slices:
                names.setdefault(event.name, len(names))
            return self._names_of(slices)

    def _threads_of(self, events: Sequence[Slice | FlowStart]) -> list[int]:
        threads = self._threads_in_file
        try:
            return [threads[event.pid][event.tid] for event in events]
        except KeyError:
            for event in events:
                thread = Thread(str(event.pid), str(event.tid))
                number = self._threads.setdefault(thread, len(self._threads))
                threads.setdefault(event.pid, {})[event.tid] = number
            return self._threads_of(events)

    def extend(self, later: "Collector") -> None:
        """Adds what was collected from a later part of the file, which is used up."""
        names = [self._names.setdefault(name, len(self._names)) for name in later._names]  # noqa: SLF001
        threads = [self._threads.setdefault(thread, len(self._threads)) for thread in later.threads]
        for columns in (later.host, later.device, later.overhead, later.frames):
            columns.name = _renumbered(columns.name, names)
        for rows in (later.host, later.device, later.frames):
            rows.thread = _renumbered(rows.thread, threads)
        self.host.unfinished.update(index + len(self.host) for index in later.host.unfinished)
        mine_and_theirs = (
            (self.host, later.host),
            (self.device, later.device),
            (self.overhead, later.overhead),
            (self.frames, later.frames),
        )
        collectives = later.device.collectives.items()
        self.device.collectives.update((index + len(self.device), each) for index, each in collectives)
        for mine, theirs in mine_and_theirs:
            for column in fields(mine):
                values = getattr(theirs, column.name)
                if isinstance(values, array):
                    getattr(mine, column.name).extend(values)
        starts = later._flow_starts.items()  # noqa: SLF001
        self._flow_starts.update((ident, (threads[thread], ns)) for ident, (thread, ns) in starts)
        self._flow_ends += [(ident, threads[thread], ns) for ident, thread, ns in later._flow_ends]  # noqa: SLF001
        self.events += later.events
        self.unreadable += later.unreadable
        self.has_phases |= later.has_phases
        self.has_stacks |= later.has_stacks
        self.unread |= later.unread
        self.unread_names |= later.unread_names
        self.unread_rows |= later.unread_rows

    def flows(self) -> ForwardBackwardFlows:
        """The flows whose two ends were seen."""
        flows = ForwardBackwardFlows()
        for ident, thread, ns in self._flow_ends:
            start = self._flow_starts.get(ident)
            if start is not None:
                flows.forward_thread.append(start[0])
                flows.forward_ns.append(start[1])
                flows.backward_thread.append(thread)
                flows.backward_ns.append(ns)
        return flows


def _chosen(group: int, slices: list[Slice], codes: bytes) -> tuple[bytes, list[Slice]]:
    """The slices of one group, and their kinds."""
    kinds = codes.translate(_KIND_OF, _NOT_IN[group])
    return kinds, slices if len(kinds) == len(slices) else list(compress(slices, codes.translate(_IS_IN[group])))


def _kind_in_2021(kind: int, event: Slice) -> int:
    if kind != _LEGACY:
        return kind
    return REGION if event.name.startswith(LEGACY_REGION_PREFIXES) else OPERATOR


def _device_of(event: Slice) -> int:
    number = event.args.device
    return event.pid if number == -1 and isinstance(event.pid, int) else number


def _starts(events: Sequence[Slice | FlowStart]) -> bytes:
    return packed_ns([event.ts for event in events])


def _renumbered(column: "array[int]", numbers: list[int]) -> "array[int]":
    if numbers == list(range(len(numbers))):
        return column
    return array("i", _indices([numbers[number] for number in column]))


def _longs(values: list[int]) -> bytes:
    return pack(f"{len(values)}q", *values)  # a third of the time that array.extend takes


def _indices(values: list[int]) -> bytes:
    return pack(f"{len(values)}i", *values)

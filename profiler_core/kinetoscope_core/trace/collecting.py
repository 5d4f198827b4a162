"""Events become columns: the loop that every event of a trace passes, so it is written for speed."""

from collections.abc import Iterable
from typing import Any, Final, cast

from kinetoscope_core.trace.columns import DeviceActivities, ForwardBackwardFlows, HostSlices, OverheadSlices, Thread
from kinetoscope_core.trace.repair import Event
from kinetoscope_core.trace.schema import (
    CALL,
    DEVICE_KINDS,
    FORWARD_BACKWARD,
    HOST_KINDS,
    LEGACY_OPERATOR,
    LEGACY_REGION_PREFIXES,
    MEMCPY,
    OPERATOR,
    OVERHEAD,
    REGION,
)
from kinetoscope_core.trace.times import FLOAT_LIMIT_US, ns_from_us

_LARGEST: Final = 2**63
_PHASES_OF_USE: Final = ("X", "s", "f")
_MADE_PLAIN: Final = "kinetoscope: made plain"
_NO: Final = (False, "false", "False")
_SPAN_US: Final = float(2**31)
# What an event that is not as Kineto writes it can raise on its way into the columns.
_ODD: Final = (KeyError, TypeError, ValueError, OverflowError, AttributeError)


class Collector:
    """Takes slices of events and fills the columns of a trace.

    `events` counts everything seen, `phases` events that have a `ph` (a list without any is no trace), `unreadable`
    slices and flows that lack a usable time or name.
    """

    def __init__(self) -> None:
        self.host = HostSlices()
        self.device = DeviceActivities()
        self.overhead = OverheadSlices()
        self.names: dict[str, int] = {}
        self.threads: dict[Thread, int] = {}
        self.events = 0
        self.phases = 0
        self.unreadable = 0
        self.has_stacks = False
        self._origin_us = -1.0
        self._thread_of: dict[tuple[Any, Any], int] = {}
        self._flow_starts: dict[Any, tuple[int, int]] = {}
        self._flow_ends: list[tuple[Any, int, int]] = []

    def add(self, events: list[Event]) -> None:
        """Adds one slice. Events of no use (Python frames, process names, launch flows) are only counted."""
        self.events += len(events)
        if not self.phases:
            self.phases = sum(1 for event in events if type(event) is dict and "ph" in event)
        host_kind = HOST_KINDS.get
        device_kind = DEVICE_KINDS.get
        names, thread_of = self.names, self._thread_of
        host = self.host
        add_kind, add_name, add_thread = host.kind.append, host.name.append, host.thread.append
        add_start, add_duration = host.start_ns.append, host.duration_ns.append
        add_external, add_correlation = host.external_id.append, host.correlation.append
        add_sequence, add_forward_thread = host.sequence.append, host.forward_thread.append
        origin_us, origin_ns = self._origin(events)
        activities: list[tuple[int, Event]] = []
        last_pid = last_tid = last_thread = None
        for event in events:
            try:
                category: str = event.get("cat", "")
                kind = host_kind(category)
                if kind is None:
                    if (kind := device_kind(category)) is not None:
                        activities.append((kind, event))
                    elif category == FORWARD_BACKWARD:
                        self._add_flow(event)
                    elif category == OVERHEAD:
                        self._add_overhead(event)
                    elif category == "python_function":
                        self.has_stacks = True
                    continue
                ts = event["ts"]
                duration = event["dur"]
                if type(ts) is float and type(duration) is float and 0.0 <= ts - origin_us < _SPAN_US > duration:
                    # `ns_from_us` in half the time; exact, because the difference is and is small.
                    start_ns = origin_ns + int((ts - origin_us) * 1000.0 + 0.5)
                    duration_ns = int(duration * 1000.0 + 0.5)
                else:
                    start_ns = ns_from_us(ts)
                    duration_ns = ns_from_us(duration)
                pid, tid = event["pid"], event["tid"]
                if tid == last_tid and pid == last_pid and last_thread is not None:
                    thread = last_thread
                else:
                    thread = thread_of.get((pid, tid))
                    if thread is None:
                        thread = self._new_thread(pid, tid)
                    last_pid, last_tid, last_thread = pid, tid, thread
                args = event["args"]
                correlation = sequence = -1
                forward_thread = 0
                name = event["name"]
                if kind == OPERATOR:
                    sequence = args.get("Sequence number", -1)
                    forward_thread = args.get("Fwd thread id", 0)
                    if category == LEGACY_OPERATOR and name.startswith(LEGACY_REGION_PREFIXES):
                        kind = REGION
                elif kind == CALL:
                    correlation = args.get("correlation", -1)
                elif args.get("finished", True) in _NO:
                    host.unfinished.add(len(host.kind))
                name_index = names.get(name)
                if name_index is None:
                    name_index = names[name] = len(names)
                # The columns that can refuse a value come first: `_roll_back` goes by the length of the last one.
                add_external(args.get("External id", -1))
                add_correlation(correlation)
                add_sequence(sequence)
                add_forward_thread(forward_thread)
                add_start(start_ns)
                add_duration(duration_ns)
                add_name(name_index)
                add_thread(thread)
                add_kind(kind)
            except _ODD:
                self._roll_back()
                self._add_odd(event)
        self._add_activities(activities)

    def _add_activities(self, activities: list[tuple[int, Event]]) -> None:
        device, names = self.device, self.names
        add_kind, add_name, add_device = device.kind.append, device.name.append, device.device.append
        add_start, add_duration = device.start_ns.append, device.duration_ns.append
        add_stream, add_correlation, add_bytes = (
            device.stream.append,
            device.correlation.append,
            device.copied_bytes.append,
        )
        for kind, event in activities:
            try:
                start_ns = ns_from_us(event["ts"])
                duration_ns = ns_from_us(event["dur"])
                args = event["args"]
                number = args.get("device", -1)
                if number == -1 and type(event.get("pid")) is int:
                    number = event["pid"]
                name = event["name"]
                name_index = names.get(name)
                if name_index is None:
                    name_index = names[name] = len(names)
                add_correlation(args.get("correlation", -1))
                add_stream(args.get("stream", -1))
                add_device(number)
                add_bytes(args.get("bytes", -1) if kind == MEMCPY else -1)
                add_start(start_ns)
                add_duration(duration_ns)
                add_name(name_index)
                add_kind(kind)
            except _ODD:
                self._roll_back()
                self._add_odd(event)

    def _origin(self, events: list[Event]) -> tuple[float, int]:
        """A whole number of µs below the times of the file: what lies not far above it is quick to convert."""
        if self._origin_us < 0:
            ts = next((event["ts"] for event in events if type(event) is dict and type(event.get("ts")) is float), 0.0)
            self._origin_us = float(max(int(ts - _SPAN_US / 2), 0)) if 0 <= ts < FLOAT_LIMIT_US else 0.0
        return self._origin_us, int(self._origin_us) * 1000

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

    def clamp_durations(self) -> int:
        """Durations below zero become zero, as newer Kineto writes them; how many there were."""
        clamped = 0
        for durations in (self.host.duration_ns, self.device.duration_ns, self.overhead.duration_ns):
            if durations and min(durations) < 0:
                for index, duration in enumerate(durations):
                    if duration < 0:
                        durations[index] = 0
                        clamped += 1
        return clamped

    def _add_overhead(self, event: Event) -> None:
        start_ns, duration_ns = ns_from_us(event["ts"]), ns_from_us(event["dur"])
        self.overhead.name.append(self._name(event["name"]))
        self.overhead.start_ns.append(start_ns)
        self.overhead.duration_ns.append(duration_ns)

    def _add_flow(self, event: Event) -> None:
        pid, tid = event["pid"], event["tid"]
        thread = self._thread_of.get((pid, tid))
        if thread is None:
            thread = self._new_thread(pid, tid)
        if event["ph"] == "s":
            self._flow_starts[event["id"]] = (thread, ns_from_us(event["ts"]))
        else:
            self._flow_ends.append((event["id"], thread, ns_from_us(event["ts"])))

    def _name(self, name: str) -> int:
        return self.names.setdefault(name, len(self.names))

    def _new_thread(self, pid: Any, tid: Any) -> int:  # noqa: ANN401
        """One thread can be written as number and as text (2021: slices have "5555", flows 5555)."""
        thread = self.threads.setdefault(Thread(str(pid), str(tid)), len(self.threads))
        self._thread_of[pid, tid] = thread
        return thread

    def _roll_back(self) -> None:
        """Takes back what an event that failed half-way has left in some of the columns."""
        host, device = self.host, self.device
        host_columns = (host.external_id, host.correlation, host.sequence, host.forward_thread, host.start_ns)
        device_columns = (device.correlation, device.stream, device.device, device.copied_bytes, device.start_ns)
        _cut_to(len(host), (*host_columns, host.duration_ns, host.name, host.thread))
        _cut_to(len(device), (*device_columns, device.duration_ns, device.name))
        host.unfinished.discard(len(host))

    def _add_odd(self, event: object) -> None:
        """Adds an event again with values of unexpected types made into those that fit, or counts it as unreadable."""
        plain = _made_plain(event)
        if plain is None:
            self.unreadable += 1
        elif plain["ph"] in _PHASES_OF_USE:
            self.events -= 1
            self.add([plain])


def _made_plain(event: object) -> Event | None:
    """The same event with values that fit the columns; `None` if its time, length or name cannot be had."""
    if not isinstance(event, dict) or _MADE_PLAIN in event:
        return None
    given = cast("Event", event)
    if "ph" not in given or not isinstance(given.get("name"), str | int | float):
        return None
    plain: Event = {_MADE_PLAIN: True, "ph": given["ph"], "name": str(given["name"]), "ts": given.get("ts")}
    plain["dur"] = given.get("dur", 0)  # some writers leave out a length of zero
    try:
        ns_from_us(plain["ts"])
        ns_from_us(plain["dur"])
    except (TypeError, ValueError, OverflowError):
        return None
    for key in ("cat", "pid", "tid", "id"):
        value: object = given.get(key)
        plain[key] = value if isinstance(value, int | str) else str(value)
    args: object = given.get("args")
    plain["args"] = {}
    if isinstance(args, dict):
        plain["args"] = {key: _as_number(value) for key, value in cast("dict[str, object]", args).items()}
    return plain


def _cut_to(length: int, columns: Iterable[Any]) -> None:
    for column in columns:
        del column[length:]


def _as_number(value: object) -> int | str:
    """An id or a size as it should be; -1 for what is none, such as the 2**64-1 of "no sequence number"."""
    if isinstance(value, bool) or value in ("false", "False"):
        return cast("bool | str", value)
    try:
        number = int(cast("Any", value))
    except (TypeError, ValueError, OverflowError):
        return -1
    return number if -_LARGEST <= number < _LARGEST else -1

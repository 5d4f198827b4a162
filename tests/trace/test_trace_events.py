"""An event is the same whether msgspec read it or it was made of a parsed dictionary; odd ones lose nothing."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from kinetoscope_core.trace.decoder import Decoder
from kinetoscope_core.trace.events import Arguments, Event, FlowEnd, FlowStart, Slice, Unreadable, Unused, made_plain

_TRACES = Path(__file__).parent.parent / "traces"
_FILES = [
    path
    for path in sorted(_TRACES.glob("*/*.json*"))
    if path.parent.name != "cases" and not path.name.startswith(("broken", "expected"))
]
_SLICE = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 5, "tid": 1, "ts": 10.5, "dur": 4}


def _values(path: Path) -> list[dict]:
    data = path.read_bytes()
    return orjson.loads(gzip.decompress(data) if path.suffix == ".gz" else data)["traceEvents"]


def _comparable(events: list[Event]) -> Iterator[object]:
    for event in events:
        if type(event) is Slice:
            args = [getattr(event.args, name) for name in event.args.__struct_fields__ if name != "finished"]
            yield event.name, event.pid, event.tid, event.ts, event.dur, event.cat, args, event.args.is_finished
        else:
            yield Unused() if isinstance(event, Unused) else event


@pytest.mark.parametrize("path", _FILES, ids=lambda path: path.name)
def test_both_ways_of_reading_give_the_same_events(path: Path) -> None:
    values = _values(path)
    typed = Decoder().plain(json.dumps(values)[1:-1].encode())
    if "absolute" in path.name:
        assert typed is not None
        assert {type(event.ts) for event in typed if isinstance(event, Slice)} == {str}
        return
    assert typed is not None
    assert list(_comparable(typed)) == list(_comparable([made_plain(value) for value in values]))


def _read(*values: object) -> tuple[list[Event] | None, list[Event]]:
    text = json.dumps(values)[1:-1].encode()
    events = Decoder().any(text)
    assert events is not None
    return Decoder().plain(text), events


@pytest.mark.parametrize(
    ("change", "field", "value"),
    [
        ({"ts": "12.5"}, "ts", "12.5"),
        ({"pid": None}, "pid", "None"),
        ({"tid": [1]}, "tid", "[1]"),
        ({"name": 7}, "name", "7"),
        ({"dur": 0}, "dur", 0),
        ({"args": None}, "args", Arguments()),
        ({"args": {"External id": "12"}}, "args", Arguments(external_id=12)),
        ({"args": {"Sequence number": 2**64 - 1}}, "args", Arguments(sequence=-1)),
        ({"args": {"correlation": 2**70, "stream": 7.0}}, "args", Arguments(correlation=-1, stream=7)),
        ({"args": {"finished": "false"}}, "args", Arguments(finished="false")),
        ({"args": {"Input Dims": [[1, 2], []], "bytes": ""}}, "args", Arguments(bytes=-1)),
    ],
)
def test_odd_values_become_those_that_fit(change: dict, field: str, value: object) -> None:
    _, (event,) = _read({**_SLICE, **change})
    assert getattr(event, field) == value


@pytest.mark.parametrize(
    "change", [{"ts": None}, {"ts": "soon"}, {"ts": 1e300}, {"ts": True}, {"dur": []}, {"name": None}, {"name": {}}]
)
def test_what_lacks_a_time_or_name_is_unreadable_where_it_is_of_use(change: dict) -> None:
    plain, events = _read({**_SLICE, **change}, {**_SLICE, **change, "cat": "python_function"})
    assert plain is None
    assert events == [Unreadable(), Unused()]


def test_what_is_no_event_has_no_phase() -> None:
    plain, events = _read({"a": 1}, [1], "text", {key: value for key, value in _SLICE.items() if key != "ph"})
    assert plain is None
    assert [event.has_phase for event in events if isinstance(event, Unused | Unreadable)] == [False] * 4
    assert [type(event) for event in events] == [Unused, Unreadable, Unreadable, Unreadable]


def test_phases_tell_the_type() -> None:
    flow = {"cat": "fwdbwd", "id": 7, "pid": 5, "tid": 1, "ts": 10.5}
    values = [_SLICE, {"ph": "s", **flow}, {"ph": "f", **flow, "bp": "e"}, {"ph": "M", "name": "x"}, {"ph": "C"}]
    plain, events = _read(*values)
    assert plain is not None
    assert [type(event) for event in events[:3]] == [Slice, FlowStart, FlowEnd]
    assert all(isinstance(event, Unused) for event in events[3:])
    plain, events = _read({"ph": "new phase"})
    assert (plain, events) == (None, [Unused()])


def test_text_that_is_not_utf8_is_not_plain_even_where_it_is_passed_over() -> None:
    text = json.dumps({**_SLICE, "args": {"text": "here"}}).encode()
    assert Decoder().plain(text) is not None
    assert Decoder().plain(text.replace(b"here", b"\xff")) is None
    assert Decoder().any(text.replace(b"here", b"\xff")) is None

"""One trace in every layout a writer may choose gives the same columns, whatever the size of the slices."""

import gc
import gzip
import json
import random
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import pytest

from kinetoscope_core.analysis.attribution import attribute
from kinetoscope_core.results.measures import Device
from kinetoscope_core.trace import Trace, parts, read_trace, slicer
from kinetoscope_core.trace.columns import Thread

_TRACES = Path(__file__).parent.parent / "traces"
_TRAIN = _TRACES / "h200" / "train_mlp.json.gz"


def _columns(trace: Trace) -> dict[str, object]:
    """All columns, with names instead of their numbers (these depend on how the file was cut)."""
    columns = {
        f"{table}.{column.name}": list(getattr(getattr(trace, table), column.name))
        for table in ("host", "device", "overhead", "frames", "flows")
        for column in fields(getattr(trace, table))
    }
    named = {key: [trace.names[index] for index in column] for key, column in columns.items() if key.endswith(".name")}
    return {**columns, **named}


def _same(left: Trace, right: Trace) -> None:
    assert _columns(left) == _columns(right)
    assert sorted(left.names) == sorted(right.names)
    assert (left.threads, left.metadata, left.events) == (right.threads, right.metadata, right.events)


def _one_key_a_line(trace: dict) -> str:
    """As torch 2.13 writes it."""
    events = [
        "  {\n"
        + ",\n".join(f"    {json.dumps(key)}: {json.dumps(value, indent=2)}" for key, value in event.items())
        + "\n  }"
        for event in trace["traceEvents"]
    ]
    head = ",\n".join(
        f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in trace.items() if key != "traceEvents"
    )
    return "{\n" + head + ',\n  "traceEvents": [\n' + ",\n".join(events) + "\n  ]\n}\n"


def _events_first(trace: dict) -> str:
    return json.dumps({"traceEvents": trace["traceEvents"], **trace}, indent=1)


def _events_in_the_middle(trace: dict) -> str:
    rest = {key: value for key, value in trace.items() if key != "traceEvents"}
    head = dict(list(rest.items())[:2])
    tail = {"lists": [{"a": 1}, {"b": [{"c": 2}, {"d": 3}]}], **rest}
    return json.dumps({**head, "traceEvents": trace["traceEvents"], **tail})


def _keys_reversed(trace: dict) -> str:
    events = [dict(reversed(event.items())) for event in trace["traceEvents"]]
    return json.dumps({**trace, "traceEvents": events}, indent=4)


def _objects_in_arguments(trace: dict) -> str:
    """Borders of objects, brackets and the name of the list, inside events and inside text."""
    inside = [{"ph": "X", "name": "not an event"}, {"ph": "X", "list": [{"a": []}, {"ph": "Y"}]}]
    text = '}, {"ph": "X", "ts": 1.5}], "traceEvents": [{ \\" }'
    events = [
        {**event, "args": {**event.get("args", {}), "inside": inside, "text": text}} for event in trace["traceEvents"]
    ]
    return json.dumps({**trace, "note": text, "traceEvents": events}, indent=2)


_LAYOUTS: dict[str, Callable[[dict], str]] = {
    "minified": lambda trace: json.dumps(trace, separators=(",", ":")),
    "spaces": json.dumps,
    "indented by 4": lambda trace: json.dumps(trace, indent=4),
    "one key a line": _one_key_a_line,
    "windows line ends": lambda trace: json.dumps(trace, indent=2).replace("\n", "\r\n"),
    "events first": _events_first,
    "events in the middle": _events_in_the_middle,
    "keys reversed": _keys_reversed,
    "objects in arguments": _objects_in_arguments,
}


@pytest.fixture(scope="module")
def original() -> dict:
    return json.loads(gzip.decompress(_TRAIN.read_bytes()))


@pytest.mark.parametrize("slice_bytes", [700, 5000, 100_000, slicer.SLICE_BYTES])
@pytest.mark.parametrize("layout", _LAYOUTS)
def test_every_layout_reads_the_same(
    layout: str, slice_bytes: int, original: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "trace.json"
    path.write_text(_LAYOUTS[layout](original))
    monkeypatch.setattr(slicer, "SLICE_BYTES", slice_bytes)
    trace, problems = read_trace(path)
    assert problems == []
    monkeypatch.undo()
    _same(trace, read_trace(_TRAIN)[0])


@pytest.mark.parametrize("layout", _LAYOUTS)
def test_every_layout_reads_the_same_in_several_processes(
    layout: str, original: dict, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "trace.json"
    path.write_text(_LAYOUTS[layout](original))
    monkeypatch.setattr(parts, "HEAD_START", 50_000)
    monkeypatch.setattr(parts, "cores", lambda: 3)
    trace, problems = read_trace(path)
    assert problems == []
    _same(trace, read_trace(_TRAIN)[0])


def test_a_bare_list_lacks_only_the_metadata(original: dict, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(original["traceEvents"]))
    trace, problems = read_trace(path)
    assert problems == []
    assert trace.metadata.base_time_ns is None
    _same(replace(trace, metadata=read_trace(_TRAIN)[0].metadata), read_trace(_TRAIN)[0])


def test_gzip_is_told_by_content_and_may_have_several_members(original: dict, tmp_path: Path) -> None:
    text = json.dumps(original).encode()
    path = tmp_path / "trace.json"  # named as if it were plain
    path.write_bytes(gzip.compress(text[:1000]) + gzip.compress(text[1000:]) + b"\0" * 512)
    _same(read_trace(path)[0], read_trace(_TRAIN)[0])
    plain = tmp_path / "trace.json.gz"  # and as if it were gzipped
    plain.write_bytes(text)
    _same(read_trace(plain)[0], read_trace(_TRAIN)[0])


def test_the_order_of_events_does_not_matter_where_times_differ(original: dict, tmp_path: Path) -> None:
    events = list(original["traceEvents"])
    random.Random(5).shuffle(events)
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({**original, "traceEvents": events}))
    expected = attribute(read_trace(_TRAIN)[0])
    found = attribute(read_trace(path)[0])
    assert found.calls == expected.calls
    assert found.outside_ns == expected.outside_ns


def test_what_the_file_says_of_itself() -> None:
    trace, _ = read_trace(_TRAIN)
    assert trace.metadata.device == Device("NVIDIA H200", 1)
    assert trace.metadata.base_time_ns == 1790857026000000000
    assert trace.metadata.trace_id is not None
    assert trace.metadata.rank is None


def test_rank_and_stacks_are_known(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    frame = {"ph": "X", "cat": "python_function", "name": "f", "pid": 1, "tid": 1, "ts": 1.0, "dur": 1.0}
    path.write_text(json.dumps({"traceEvents": [frame], "distributedInfo": {"rank": 3, "world_size": 8}}))
    trace, _ = read_trace(path)
    assert (trace.metadata.rank, trace.metadata.world_size, trace.metadata.has_stacks) == (3, 8, True)
    assert len(trace.host) == 0


def _slice(cat: str, name: str, tid: object = 1, **args: object) -> dict:
    return {"ph": "X", "cat": cat, "name": name, "pid": 5, "tid": tid, "ts": 10, "dur": 4, "args": args}


def _read(tmp_path: Path, *events: dict) -> Trace:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": events}))
    trace, _ = read_trace(path)
    return trace


def test_the_schema_of_2021_is_read(tmp_path: Path) -> None:
    trace = _read(
        tmp_path,
        _slice("Operator", "ProfilerStep#4", "77"),
        _slice("Operator", "aten::mm", "77"),
        _slice("Runtime", "cudaLaunchKernel", "77", correlation=9),
        _slice("Kernel", "k", "stream 7", correlation=9, stream=7, device=0),
        _slice("Memcpy", "Memcpy HtoD", "stream 7", correlation=10, stream=7, device=0, bytes=64),
        _slice("Memset", "Memset", "stream 7", correlation=11, stream=7, device=0, bytes=64),
    )
    assert [trace.names[trace.host.name[index]] for index in trace.host.regions()] == ["ProfilerStep#4"]
    assert len(trace.host.operators()) == len(trace.host.api_calls()) == 1
    assert list(trace.device.kind) == [0, 1, 2]
    assert list(trace.device.copied_bytes) == [-1, 64, -1]
    assert list(trace.device.stream) == [7, 7, 7]


def test_a_thread_written_as_text_and_as_number_is_one(tmp_path: Path) -> None:
    flows = [
        {"ph": "s", "cat": "fwdbwd", "name": "fwdbwd", "id": 1, "pid": 5, "tid": -77, "ts": 10},
        {"ph": "f", "cat": "fwdbwd", "name": "fwdbwd", "id": 1, "pid": 5, "tid": 2, "ts": 12, "bp": "e"},
        {"ph": "f", "cat": "fwdbwd", "name": "fwdbwd", "id": 2, "pid": 5, "tid": 2, "ts": 13, "bp": "e"},
    ]
    trace = _read(tmp_path, _slice("cpu_op", "aten::mm", "-77"), *flows)
    assert trace.threads == (Thread("5", "-77"), Thread("5", "2"))
    assert list(trace.flows.forward_thread) == [0]  # the third flow has no start in the file
    assert list(trace.flows.backward_thread) == [1]


def test_odd_values_lose_no_slice(tmp_path: Path) -> None:
    trace = _read(
        tmp_path,
        _slice("cpu_op", "no sequence number", **{"Sequence number": 2**64 - 1, "External id": "12"}),
        _slice("cuda_runtime", "text", correlation="34"),
        _slice("kernel", "nothing known", correlation=None, stream="x", device=2**70),
        {**_slice("user_annotation", "no length"), "dur": None},
        {key: value for key, value in _slice("user_annotation", "no arguments").items() if key != "args"},
        {key: value for key, value in _slice("user_annotation", "no process").items() if key != "pid"},
        _slice("user_annotation", "open", finished="false"),
        {**_slice("user_annotation", "list as thread"), "tid": [1]},
    )
    assert next(iter(trace.host.sequence)) == -1
    assert next(iter(trace.host.external_id)) == 12
    assert list(trace.host.correlation)[1] == 34
    assert list(trace.device.correlation) == [-1]
    assert [trace.names[trace.host.name[index]] for index in trace.host.regions()] == [
        "no arguments",
        "no process",
        "open",
        "list as thread",
    ]
    assert [trace.names[trace.host.name[index]] for index in trace.host.unfinished] == ["open"]
    assert (
        len(
            {
                len(getattr(trace.host, each.name))
                for each in fields(trace.host)
                if not isinstance(getattr(trace.host, each.name), set)
            }
        )
        == 1
    )


def test_a_length_below_zero_becomes_zero_and_is_said(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": [{**_slice("kernel", "k"), "dur": -3}, _slice("kernel", "k")]}))
    trace, problems = read_trace(path)
    assert list(trace.device.duration_ns) == [0, 4000]
    assert [problem.code for problem in problems] == ["negative-duration"]


@pytest.mark.parametrize("was_on", [True, False])
def test_the_garbage_collector_is_left_as_it_was(was_on: bool, tmp_path: Path) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if was_on else gc.disable)()
        read_trace(_TRAIN)
        assert gc.isenabled() is was_on
        (tmp_path / "bad.json").write_text("no")
        with pytest.raises(Exception, match="not JSON"):
            read_trace(tmp_path / "bad.json")
        assert gc.isenabled() is was_on
    finally:
        (gc.enable if before else gc.disable)()

"""Damaged traces are repaired and what was repaired is said; a trace cut anywhere never gives silent numbers."""

import gzip
import json
import re
from pathlib import Path

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kinetoscope_core.analysis.attribution import attribute
from kinetoscope_core.errors import Problem, TraceError
from kinetoscope_core.trace import Trace, read_trace, slicer

_TRACES = Path(__file__).parent.parent / "traces"
_MADE = _TRACES / "made"


def _read(path: Path, data: bytes) -> tuple[Trace, dict[str, Problem]]:
    path.write_bytes(data)
    trace, problems = read_trace(path)
    return trace, {problem.code: problem for problem in problems}


def _regions(trace: Trace) -> list[tuple[str, int]]:
    return [(trace.names[trace.host.name[each]], trace.host.duration_ns[each]) for each in trace.host.regions()]


def _event(name: str, ts: float = 1.0) -> str:
    """An event as Kineto writes it, without escaping the name."""
    return (
        f'  {{\n    "ph": "X", "cat": "user_annotation", "name": "{name}", "pid": 1, "tid": 1,\n'
        f'    "ts": {ts:.3f}, "dur": 2.000,\n    "args": {{\n      "External id": 1,"Ev Idx": 0\n    }}\n  }}'
    )


def _trace(*events: str, tail: str = ',\n  "traceName": "x",\n  "displayTimeUnit": "ms"\n}') -> bytes:
    return ('{\n  "schemaVersion": 1,\n  "traceEvents": [\n' + ",\n".join(events) + "\n  ]" + tail).encode()


@pytest.mark.parametrize(
    ("name", "regions", "code"),
    [
        ("bad_quote", [('a"quote"', 2000)], "unescaped-quote"),
        ("bad_backslash", [("C:\\Users\\x", 2000)], "unescaped-backslash"),
        ("bad_control", [], "control-character"),
        ("bad_utf8", [], "not-utf8"),
        ("nan", [], "not-a-number"),
        ("truncated", [("r", 2000)], "cut-off"),
        ("trailing_comma", [("r", 2000)], "trailing-comma"),
        ("no_events", [], "no-events"),
        ("bare_list", [("r", 2000)], None),
    ],
)
def test_the_broken_traces_come_out_as_they_should(name: str, regions: list, code: str | None) -> None:
    trace, problems = read_trace(_MADE / f"broken_{name}.json")
    assert _regions(trace) == regions
    assert [problem.code for problem in problems] == ([] if code is None else [code])


def test_a_broken_kernel_still_counts_outside_any_region() -> None:
    trace, _ = read_trace(_MADE / "broken_nan.json")
    found = attribute(trace)
    assert (found.device_total_ns, found.outside_ns) == (2000, 2000)


_NAMES = [
    ('say "hi"', "unescaped-quote"),
    ('"', "unescaped-quote"),
    ('a"b', "unescaped-quote"),
    ('key": "value', "unescaped-quote"),
    ('ends with "', "unescaped-quote"),
    ('x", y", "z', "unescaped-quote"),
    ('{"json": [1, 2]}', "unescaped-quote"),
    ('}, {"a', "unescaped-quote"),
    ("C:\\dir\\new", "unescaped-backslash"),
    ("\\d+\\", "unescaped-backslash"),
    ('both \\ and "quotes"', "unescaped-quote"),
    ("line\nbreak", "control-character"),
    ("tab\tand \x01", "control-character"),
]


@pytest.mark.parametrize(("name", "code"), _NAMES)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_damaged_name_costs_no_event(name: str, code: str, place: int, tmp_path: Path) -> None:
    events = [_event("before", 1.0), _event("after", 9.0)]
    events.insert(place, _event(name, 5.0))
    trace, problems = _read(tmp_path / "trace.json", _trace(*events))
    assert sorted(_regions(trace)) == sorted([(name, 2000), ("before", 2000), ("after", 2000)])
    assert code in problems
    assert not {"cut-off", "unreadable-event"} & problems.keys()
    assert problems[code].evidence == {"count": 1}


@pytest.mark.parametrize("place", [0, 500, 999])
def test_damage_in_a_big_trace_costs_no_event(place: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slicer, "SLICE_BYTES", 20_000)
    events = [_event(f"r{number}", number * 10) for number in range(1000)]
    events[place] = _event('odd " quote', place * 10)
    trace, problems = _read(tmp_path / "trace.json", _trace(*events))
    assert len(_regions(trace)) == 1000
    assert ('odd " quote', 2000) in _regions(trace)
    assert list(problems) == ["unescaped-quote"]


def test_every_event_damaged_is_still_read(tmp_path: Path) -> None:
    trace, problems = _read(tmp_path / "trace.json", _trace(*(_event(f'a"{n}"', n) for n in range(3000))))
    assert len(_regions(trace)) == 3000
    assert problems["unescaped-quote"].evidence == {"count": 3000}


def test_an_event_beyond_repair_is_left_out_and_counted(tmp_path: Path) -> None:
    garbage = _event("r").replace('"ts":', '"ts" "ts" ???')
    for events in (
        [garbage, _event("one"), _event("two")],
        [_event("one"), garbage, _event("two")],
        [_event("one"), _event("two"), garbage],
    ):
        trace, problems = _read(tmp_path / "trace.json", _trace(*events))
        assert _regions(trace) == [("one", 2000), ("two", 2000)]
        assert problems["unreadable-event"].evidence == {"count": 1}


def test_two_files_written_over_each_other_do_not_crash(tmp_path: Path) -> None:
    one = _trace(*(_event(f"one {number}", number) for number in range(100)))
    two = _trace(*(_event(f"two {number}", number) for number in range(60)))
    for cut in range(3000, 3400, 7):
        both = one[:cut] + two[cut - 500 :]
        trace, problems = _read(tmp_path / "trace.json", both)
        assert len(_regions(trace)) > 50
        assert problems or json.loads(both)  # where the pieces fit together, nobody can tell


def test_text_that_json_allows_in_names_is_kept(tmp_path: Path) -> None:
    names = ["", "'", "%s {} </script>", "}, {", '\\"', "\\\\", "\\n", "é", "\\u00e9", "\x7f", "n, NaN]", ": NaN,"]
    trace, problems = _read(tmp_path / "trace.json", _trace(*(_event(name) for name in names)))
    assert [name for name, _ in _regions(trace)] == [json.loads(f'"{name}"') for name in names]
    assert problems == {}


def test_text_is_not_touched_where_another_value_is_repaired(tmp_path: Path) -> None:
    kernel = (
        '{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1.0,"dur":2.0,"args":{"w":[NaN,-Infinity,1e400]}}'
    )
    name = 'x\\": NaN, [NaN], \\"'
    trace, problems = _read(tmp_path / "trace.json", _trace(_event(name), kernel))
    assert [name for name, _ in _regions(trace)] == ['x": NaN, [NaN], "']
    assert len(trace.device) == 1
    assert "not-a-number" in problems


def test_other_damage_is_named(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    _, problems = _read(path, b"\xef\xbb\xbf" + _trace(_event("r")))
    assert list(problems) == ["byte-order-mark"]
    trace, problems = _read(path, _trace(_event("half \\ud83d pair")))
    assert list(problems) == ["lone-surrogate"]
    assert [name for name, _ in _regions(trace)] == ["half � pair"]
    trace, problems = _read(path, _trace(_event("r").replace('"Ev Idx": 0', '"Ev Idx": 0,')))
    assert list(problems) == ["trailing-comma"]
    assert len(_regions(trace)) == 1
    trace, problems = _read(path, _trace(_event("r"), tail=', "host": "a"b", "baseTimeNanoseconds": 123}'))
    assert trace.metadata.base_time_ns == 123
    assert list(problems) == ["unescaped-quote"]
    trace, problems = _read(path, _trace(_event("r"), tail=', "baseTimeNanoseconds": 123, ???}'))
    assert trace.metadata.base_time_ns == 123
    assert list(problems) == ["unreadable-metadata"]


@given(st.text(st.characters(codec="utf-8", exclude_characters='"\\', categories=None), max_size=30))
def test_any_name_without_quotes_survives_as_it_is(name: str) -> None:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        trace, _ = _read(Path(folder) / "trace.json", _trace(_event("before"), _event(name), _event("after")))
        assert [region for region, _ in _regions(trace)] == ["before", name, "after"]


@given(st.text('"\\{}[]:, ax\n', max_size=14))
@example('":{')
@example("\\")
def test_any_name_at_all_costs_no_other_event(name: str) -> None:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        trace, problems = _read(Path(folder) / "trace.json", _trace(_event("before"), _event(name), _event("after")))
        names = [region for region, _ in _regions(trace)]
        assert names[0] == "before"
        assert names[-1] == "after"
        assert len(names) == 3 or problems


def _whole(name: str) -> bytes:
    data = (_TRACES / name).read_bytes()
    return gzip.decompress(data) if name.endswith(".gz") else data


_CUT: dict[str, bytes] = {
    "as Kineto writes it": _whole("h200/odd_empty.json.gz")[:9000] + b"\n]}",
    "by hand": _whole("made/region_on_autograd_thread.json"),
    "minified": orjson.dumps(orjson.loads(_whole("made/nested_two_levels.json"))),
    "a bare list": orjson.dumps(orjson.loads(_whole("made/nested_two_levels.json"))["traceEvents"]),
    "metadata after the events": orjson.dumps(
        {
            "traceEvents": orjson.loads(_whole("made/copies_and_sets.json"))["traceEvents"],
            "deviceProperties": [{"id": 0, "name": "a"}, {"id": 1, "name": "b"}],
            "distributedInfo": {"rank": 1, "pg_config": [{"a": 1}, {"b": 2}]},
        }
    ),
    "absolute times": _whole("made/absolute_ns_timestamps.json"),
    "damaged too": _trace(_event('a "b"', 1.0), _event("c", 9.0), _event("d\\e", 15.0)),
}
# What was cut for the first case was cut inside an event: make it a whole number of them.
_CUT["as Kineto writes it"] = re.sub(rb",\s*\{[^{}]*(?:\{[^{}]*)?\n\]\}$", b"\n]}", _CUT["as Kineto writes it"])


def _cut_is_said(path: Path, data: bytes, whole: list[tuple[str, int]], whole_device: int) -> None:
    refusal = None
    try:
        trace, problems = _read(path, data)
    except TraceError as error:
        refusal = str(error)
    if refusal is not None:
        assert "\n" not in refusal
        return
    assert problems
    regions = _regions(trace)
    assert regions == whole[: len(regions)]
    assert sum(trace.device.duration_ns) <= whole_device
    found = attribute(trace)
    assert sum(each.cuda_self_ns or 0 for each in found.calls) + (found.outside_ns or 0) == sum(
        trace.device.duration_ns
    )


@pytest.mark.parametrize("layout", _CUT)
def test_a_trace_cut_anywhere_is_said_to_be_cut(layout: str, tmp_path: Path) -> None:
    data = _CUT[layout].rstrip()
    trace, problems = _read(tmp_path / "trace.json", data)
    assert "cut-off" not in problems
    regions, device = _regions(trace), sum(trace.device.duration_ns)
    step = max(1, len(data) // 1500)
    for length in range(0, len(data), step):
        _cut_is_said(tmp_path / "trace.json", data[:length], regions, device)


@pytest.mark.parametrize("slice_bytes", [64, 300])
def test_a_trace_of_many_slices_cut_anywhere_is_said_to_be_cut(
    slice_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slicer, "SLICE_BYTES", slice_bytes)
    data = _CUT["metadata after the events"]
    trace, _ = _read(tmp_path / "trace.json", data)
    regions, device = _regions(trace), sum(trace.device.duration_ns)
    for length in range(len(data)):
        _cut_is_said(tmp_path / "trace.json", data[:length], regions, device)


def test_a_gzip_file_cut_or_damaged_anywhere_is_said_to_be(tmp_path: Path) -> None:
    path = tmp_path / "trace.json.gz"
    plain = _whole("h200/matmul_add_64.json.gz")
    data = gzip.compress(plain)
    trace, _ = _read(path, data)
    regions, device = _regions(trace), sum(trace.device.duration_ns)
    for length in range(0, len(data), 7):
        _cut_is_said(path, data[:length], regions, device)
    found, problems = _read(path, data[:-3])
    assert _regions(found) == regions
    assert "cut-off" in problems
    found, problems = _read(path, data[: len(data) // 2] + b"\xff" * 400 + data[len(data) // 2 + 400 :])
    assert {"damaged-gzip", "cut-off"} <= problems.keys()
    assert _regions(found) == regions[: len(_regions(found))]


def test_what_cannot_be_read_is_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    cases: list[tuple[bytes, str]] = [
        (b"", "is empty"),
        (b" \n ", "is empty"),
        (b"\x1f\x8b", "cut off before its first event"),
        (b"\x1f\x8b" + b"\xff" * 50, "damaged gzip"),
        (b"PK\x03\x04" + b"\0" * 50, "zip archive"),
        (b"hello", "not JSON"),
        (b"{hello", "not JSON"),
        (b"{}", "JSON but not a trace"),
        (b'{"traceEvents": null}', "JSON but not a trace"),
        (b'{"traceEvents": {"a": 1}}', "JSON but not a trace"),
        (b'{"traceEvents": [{"a": 1}]}', "JSON but not a trace"),
        (b"[1, 2]", "JSON but not a trace"),
        (b'[{"a": 1}]', "JSON but not a trace"),
        (b'"text"', "not JSON"),
        (b'{"schemaVersion": 1, "deviceProperties": [', "cut off before its first event"),
    ]
    for data, message in cases:
        path.write_bytes(data)
        with pytest.raises(TraceError, match=message) as caught:
            read_trace(path)
        assert "\n" not in str(caught.value)
        assert str(path) in str(caught.value)


def test_a_file_that_cannot_be_opened_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TraceError, match="is a directory"):
        read_trace(tmp_path)
    with pytest.raises(TraceError, match="There is no file"):
        read_trace(tmp_path / "none.json")

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)  # as root, every file may be read
    with pytest.raises(TraceError, match="No permission"):
        read_trace(tmp_path / "trace.json")

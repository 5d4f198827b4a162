"""Times become nanoseconds exactly, in every way they are written."""

import json
from array import array
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinetoscope_core.trace import read_trace, times
from kinetoscope_core.trace.times import ns_from_us, packed_ns, with_absolute_times_as_text

_LONGEST_RELATIVE_NS = 7_889_238 * 10**9


@given(st.integers(0, _LONGEST_RELATIVE_NS))
def test_every_base_relative_time_is_exact(ns: int) -> None:
    assert ns_from_us(float(f"{ns // 1000}.{ns % 1000:03d}")) == ns


@given(st.integers(-(10**12), 10**12))
def test_times_below_zero_are_exact_too(ns: int) -> None:
    assert ns_from_us(float(Decimal(ns) / 1000)) == ns
    assert ns_from_us(str(Decimal(ns) / 1000)) == ns


@given(st.integers(0, 2 * 10**18))
def test_text_is_exact_to_nineteen_digits(ns: int) -> None:
    assert ns_from_us(f"{ns // 1000}.{ns % 1000:03d}") == ns


@pytest.mark.parametrize(
    ("value", "ns"),
    [(0, 0), (1695835542514261, 1695835542514261000), ("12", 12000), ("1.5", 1500), ("1e3", 1_000_000), ("0.0004", 0)],
)
def test_other_ways_to_write_a_time(value: int | str, ns: int) -> None:
    assert ns_from_us(value) == ns


@given(st.lists(st.integers(0, _LONGEST_RELATIVE_NS), max_size=50))
def test_many_times_at_once_are_as_exact(moments: list[int]) -> None:
    values = [float(f"{ns // 1000}.{ns % 1000:03d}") for ns in moments]
    assert list(array("q", packed_ns(values))) == moments


@given(st.lists(st.integers(-(10**12), 2 * 10**18).map(lambda ns: str(Decimal(ns) / 1000)) | st.integers(-9, 2**52)))
def test_times_of_all_kinds_can_stand_side_by_side(values: list[int | str]) -> None:
    mixed = [*values, 1.5, -2.25, -0.0]
    assert list(array("q", packed_ns(mixed))) == [ns_from_us(value) for value in mixed]


def test_a_processor_that_takes_small_floats_as_zero_spoils_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(times, "_AS_BITS", 0.0)
    assert list(array("q", packed_ns([1.5, 2.25]))) == [1500, 2250]


@pytest.mark.parametrize("value", [None, "", "soon", float("nan"), float("inf"), [], "Infinity", "NaN", True])
def test_what_is_not_a_time_is_refused(value: object) -> None:
    with pytest.raises((TypeError, ValueError, OverflowError)):
        ns_from_us(value)


def test_only_timestamps_become_text() -> None:
    text = b'{"ts":1712195495519689.123,"dur":1712195495519689.5,"name":"\\"ts\\": 1712195495519689.123","ts" : 4.5}'
    assert with_absolute_times_as_text(text) == text.replace(
        b'"ts":1712195495519689.123', b'"ts":"1712195495519689.123"'
    )


@given(st.lists(st.integers(10**18, 2 * 10**18), min_size=1, max_size=8))
def test_absolute_times_of_a_file_are_exact(moments: list[int]) -> None:
    from tempfile import TemporaryDirectory

    events = ",".join(
        f'{{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":{ns // 1000}.{ns % 1000:03d},"dur":1.5}}'
        for ns in moments
    )
    with TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        path.write_text(f'{{"traceEvents":[{events}]}}')
        trace, problems = read_trace(path)
    assert problems == []
    assert list(trace.device.start_ns) == moments


def test_whole_microseconds_stay_whole(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    event = {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1695835542514261, "dur": 12}
    path.write_text(json.dumps([event, {**event, "dur": 12.0}]))
    trace, _ = read_trace(path)
    assert list(trace.device.start_ns) == [1695835542514261000] * 2
    assert list(trace.device.duration_ns) == [12000] * 2

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinetoscope_core.text import count_text, size_text, time_text


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "0 ns"),
        (999, "999 ns"),
        (1_000, "1.00 µs"),
        (19_711, "19.7 µs"),
        (214_000, "214 µs"),
        (999_499, "999 µs"),
        (999_500, "1.00 ms"),
        (3_870_000, "3.87 ms"),
        (59_000_000_000, "59.0 s"),
        (1_234_000_000_000, "1234 s"),
        (-6_205_000, "-6.21 ms"),
    ],
)
def test_times_have_three_significant_digits(ns, text):
    assert time_text(ns) == text


@given(st.integers(min_value=1_000, max_value=999_000_000_000))
def test_a_time_is_never_off_by_more_than_half_of_its_last_digit(ns):
    number, unit = time_text(ns).split()
    size = {"µs": 1_000, "ms": 1_000_000, "s": 1_000_000_000}[unit]
    decimals = len(number.partition(".")[2])
    assert abs(float(number) * size - ns) <= 0.5000001 * size / 10**decimals
    assert 1 <= float(number) < 1_000


@pytest.mark.parametrize(
    ("size", "text"),
    [(999, "999 B"), (4_422, "4.4 kB"), (185_000_000, "185 MB"), (999_900, "1.0 MB"), (10**13, "10 TB")],
)
def test_sizes_are_decimal(size, text):
    assert size_text(size) == text


def test_counts_have_their_plural():
    assert [count_text(n, noun) for n, noun in ((1, "launch"), (2, "launch"), (0, "region"))] == [
        "1 launch",
        "2 launches",
        "0 regions",
    ]

"""The texts beside a line fit it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinetoscope_core.results.communication import OverRanks, RankSpread, SlowRank
from kinetoscope_core.results.measures import (
    Breakdown,
    CallInTrace,
    ChainLink,
    KernelShare,
    RegionMeasures,
    Spread,
    Unmeasured,
)
from kinetoscope_core.text import range_text
from kinetoscope_server.features.hint_texts import hint_parts, short_time_text
from kinetoscope_server.features.hover import hovers

TIMES = st.integers(0, 10**13)


def spread(ns):
    return Spread(ns, ns, ns, ns)


def measures(cpu, cpu_self, cuda, cuda_self, name="region"):
    call = CallInTrace(0, 0, cpu, cuda)
    has_cuda = cuda is not None
    return RegionMeasures(
        name=name, file="f.py", line=1, calls=8, measured=5, is_cold=False, unfinished=0,
        cpu_total_ns=spread(cpu), cpu_self_ns=spread(cpu_self),
        cuda_total_ns=spread(cuda) if has_cuda else None, cuda_self_ns=spread(cuda_self) if has_cuda else None,
        cuda_busy_ns=None, backward_cuda_ns=None, launches=None, overhead_ns=0, bound=None,
        median_call=call, first=call, breakdown=Breakdown(0, 0, 0, 0, None, None, (), 0, (), 0, (), 1, 0),
        call_times=(), cpu_recorded_ns=cpu * 8, cuda_recorded_ns=None,
    )  # fmt: skip


def unmeasured(at_least_ns, name="training"):
    unfinished = 0 if at_least_ns is None else 1
    return Unmeasured(name, "f.py", 1, 1, unfinished, at_least_ns, None, None, CallInTrace(0, 0, 1, None))


def text(*regions, pattern="region", stale=False, with_self=True, origin=""):
    return "".join(hint_parts(regions, pattern, is_stale=stale, with_self=with_self, origin=origin))


def test_self_stands_in_parentheses_where_it_is_not_the_total():
    assert text(measures(16_600_000, 94_000, 2_080_000, 5_000)) == "CUDA 2.08 ms (5 µs) · CPU 16.6 ms (94 µs)"
    assert text(measures(16_600_000, 94_000, 2_080_000, 2_080_000)) == "CUDA 2.08 ms · CPU 16.6 ms (94 µs)"
    assert text(measures(16_600_000, 94_000, None, None)) == "CPU 16.6 ms (94 µs)"
    assert text(measures(3_500_000, 3_460_000, 801_000, 0)) == "CUDA 801 µs · CPU 3.50 ms"


def test_the_slow_rank_stands_behind_the_times():
    region = measures(3_700_000, 94_000, 12_100_000, 5_000)
    region = replace(region, launches=spread(3))

    def with_slow(**slow):
        over = OverRanks(1, 1, 1, 0, 0)
        return replace(region, over_ranks=RankSpread(0, 8, over, over, SlowRank(**slow)))

    gpu = with_slow(rank=3, of="gpu", took_ns=14_100_000, others_ns=10_000_000)
    assert text(gpu) == "CUDA 12.1 ms · CPU 3.70 ms · rank 3 +41 %"
    cpu = with_slow(rank=511, of="cpu", took_ns=69_400_000, others_ns=1_000_000)
    assert text(cpu) == "CUDA 12.1 ms · rank 511 CPU ×69"
    assert text(replace(cpu, is_cold=True)) == "CUDA 12.1 ms ×5 cold · rank 511 CPU ×69"
    assert text(replace(region, over_ranks=None)) == text(region)


def test_stale_times_are_marked_and_what_does_not_fit_is_left_out_from_the_right():
    stale = text(measures(16_600_000, 94_000, 2_080_000, 5_000), stale=True)
    assert stale == "~ CUDA 2.08 ms (5 µs) · CPU 16.6 ms (94 µs)"
    assert len(stale) == 43
    long = measures(16_600_000, 9_440_000, 2_080_000, 1_250_000)
    assert text(long, stale=True) == "~ CUDA 2.08 ms (1.3 ms) · CPU 16.6 ms"


def test_many_names_at_a_line_are_summed_up():
    layers = [measures(1_000_000 * n, 5, 31_200 + n, 5, f"layer_{n}") for n in range(1, 13)]
    assert text(*layers, pattern="layer_{…}") == "×12 CUDA 31.2 µs · CPU 1.00–12.0 ms"
    assert text(*layers, pattern="l{…}") == "l{…} ×12 CUDA 31.2 µs · CPU 1.00–12.0 ms"


def test_a_series_is_one_set_of_numbers_with_the_number_of_its_names():
    series = replace(measures(3_400_000, 5, 1_230_000, 5, "step N"), names=12)
    assert text(series, pattern="step {i}") == "step N ×12 CUDA 1.23 ms · CPU 3.40 ms"
    assert text(replace(series, name="step of an epoch N")) == "×12 CUDA 1.23 ms · CPU 3.40 ms"
    assert text(replace(series, cuda_total_ns=None), stale=True) == "~ step N ×12 CPU 3.40 ms"
    other = replace(series, name="val N", names=3, cpu_total_ns=spread(5_000_000))
    assert text(series, other, pattern="{kind} {i}") == "×15 CUDA 1.23 ms · CPU 3.40–5.00 ms"


def test_times_that_are_not_sure_do_not_look_so():
    sure = measures(16_600_000, 94_000, 2_080_000, 5_000)
    assert text(replace(sure, measured=1, is_cold=True)) == "CUDA 2.08 ms (5 µs) · CPU 16.6 ms ×1 cold"
    assert text(replace(sure, measured=3, is_cold=True)) == "CUDA 2.08 ms (5 µs) · CPU 16.6 ms ×3 cold"
    assert text(replace(sure, measured=1)) == "CUDA 2.08 ms (5 µs) · CPU 16.6 ms ×1"
    assert text(replace(sure, measured=1), stale=True) == "~ CUDA 2.08 ms (5 µs) · CPU 16.6 ms ×1"
    wide = replace(sure, cpu_middle_ns=(9_400_000, 18_800_000), cuda_middle_ns=(2_000_000, 2_200_000))
    assert text(wide) == "CUDA 2.08 ms (5 µs) · CPU 9.40–18.8 ms"
    assert text(replace(wide, cpu_middle_ns=(9_400_001, 18_800_000))) == text(sure)
    assert text(sure, replace(sure, measured=1), pattern="layer_{…}") == "layer_{…} ×2 CUDA 2.08 ms · CPU 16.6 ms ×1"


def test_what_has_no_time_is_said_to_have_none():
    training = unmeasured(4_130_000_000)
    assert text(training) == "CPU at least 4.13 s, not ended"
    assert text(training, stale=True) == "~ CPU at least 4.13 s, not ended"
    assert text(unmeasured(None)) == "without times"
    assert text(training, unmeasured(None)) == "×2, not ended"
    assert text(training, measures(16_600_000, 94_000, None, None)) == "CPU 16.6 ms (94 µs)"


def test_calls_that_raised_are_told_as_such():
    failed = replace(measures(3_200_000, 94_000, None, None), raised=1, exception="ValueError", is_raised=True)
    assert text(failed) == "CPU 3.20 ms (94 µs) · raised ValueError"
    assert text(failed, origin="from infer.py") == "CPU 3.20 ms (94 µs) raised · from infer.py"
    both = replace(measures(16_600_000, 94_000, 2_080_000, 5_000), raised=2, exception="RuntimeError", is_raised=True)
    assert text(both) == "CUDA 2.08 ms · raised RuntimeError"
    assert text(failed, measures(1, 1, None, None)) == "region ×2 CPU 1 ns–3.20 ms · 1 raised"
    sometimes = replace(failed, is_raised=False, raised=2)
    assert text(sometimes) == "CPU 3.20 ms (94 µs)"
    assert list(hovers._notes(sometimes)) == ["5 of 8 calls measured; 2 raised ValueError, not counted"]


def test_where_other_times_are_from_is_always_said_before_cpu_if_need_be():
    both = measures(16_600_000, 94_000, 2_080_000, 5_000)
    assert text(both, origin="earlier run") == "CUDA 2.08 ms · CPU 16.6 ms · earlier run"
    assert text(both, origin="from infer.py") == "CUDA 2.08 ms · CPU 16.6 ms · from infer.py"
    assert text(both, origin="from benchmark_all.py") == "CUDA 2.08 ms · CPU 16.6 ms · from benchmar…"
    assert (
        text(measures(9_000, 9_000, None, None), origin="from infer.py", stale=True) == "~ CPU 9.00 µs · from infer.py"
    )
    many = [measures(1_000_000 * n, 5, 3_120 * n, 5) for n in (3, 999)]
    assert text(*many, origin="from infer.py") == "×2 CUDA 9.36 µs–3.12 ms · from infer.py"
    assert text(unmeasured(4_130_000_000), origin="from infer.py") == "not ended · from infer.py"


@pytest.mark.parametrize(
    ("ns", "expected"),
    [(5_000, "5 µs"), (94_400, "94 µs"), (1_250_000, "1.3 ms"), (999_999, "1 ms"), (0, "0 ns"), (287_000, "290 µs")],
)
def test_times_of_second_rank_have_two_digits(ns, expected):
    assert short_time_text(ns) == expected


def test_a_range_names_its_unit_once_where_it_can():
    assert range_text([1_200_000, 3_400_000, 2_000_000]) == "1.20–3.40 ms"
    assert range_text([980_000, 1_200_000]) == "980 µs–1.20 ms"
    assert range_text([1_000, 1_001]) == "1.00 µs"


ORIGINS = st.sampled_from(["", "earlier run", "from infer.py", "from " + "long" * 20])
PAIRS = st.none() | st.tuples(TIMES, TIMES).map(lambda pair: tuple(sorted(pair)))


@given(
    st.lists(st.tuples(TIMES, TIMES, st.none() | TIMES, TIMES), min_size=1, max_size=20),
    st.booleans(), st.text(), ORIGINS, st.integers(1, 10**6), st.booleans(), PAIRS, PAIRS, st.none() | st.text(),
)  # fmt: skip
def test_no_text_is_longer_than_a_line_shows(values, stale, pattern, origin, measured, is_cold, cpu, cuda, exception):
    others = {"measured": measured, "is_cold": is_cold, "cpu_middle_ns": cpu, "cuda_middle_ns": cuda}
    others |= {"exception": exception, "is_raised": exception is not None}
    found = text(*(replace(measures(*each), **others) for each in values), pattern=pattern, stale=stale, origin=origin)
    assert 0 < len(found) <= 43
    assert not origin or found.partition(" · " + origin[:8])[1]


def test_a_hover_names_other_threads_and_shortens_kernels_and_long_ways():
    links = [ChainLink("operator", f"op{n}") for n in range(9)]
    kernel = KernelShare("void " + "k" * 300, 5, 2_000)
    parts = Breakdown(
        cpu_nested_ns=0, cpu_operators_ns=0, cpu_api_calls_ns=0, cpu_self_ns=9, cuda_nested_ns=0, cuda_self_ns=2_000,
        kernels=(kernel,), kernel_names=1, operators=(), operator_names=0,
        chain=(ChainLink("region", "a|b"), ChainLink("region", "a|b"), *links, ChainLink("activity", kernel.name)),
        threads=3, on_other_threads=2,
    )  # fmt: skip
    region = replace(measures(9, 9, 2_000, 2_000), breakdown=parts)
    short = "k" * 59 + "…"
    assert list(hovers._notes(region)) == [
        "5 of 8 calls measured, on 3 threads: 2 calls not on the thread of the first",
        f"path to the most expensive kernel: a\\|b → op0 → op1 → op2 → … → op6 → op7 → op8 → {short}",
    ]
    launching = replace(region, launches=Spread(median=2, min=1, max=3, sum=10), overhead_ns=2_530_000)
    assert list(hovers._notes(launching))[1::2] == [
        "2 GPU launches per call",
        "the CPU times include 2.53 ms of profiler overhead",
    ]
    assert "".join(hovers._kernels(parts, region.cuda_total_ns)).endswith(f"| {short} | 5 | 2.00 µs | 100.0 % |")

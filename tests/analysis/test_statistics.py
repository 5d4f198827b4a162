"""Statistics over calls: warm-up, recursion, unfinished calls, several recordings, calls that capture a graph."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinetoscope_core.analysis import statistics
from kinetoscope_core.analysis.statistics import START_UP, Calls, RecordedCalls, RegionKey, median_of, regions_cpu_ns
from kinetoscope_core.analysis.unmeasured import start_up, unmeasured
from kinetoscope_core.results.measures import Breakdown, Call, RegionMeasures, Spread, StartUp

_PLAIN = Call(
    name="r",
    pid="1",
    tid="1",
    start_ns=0,
    parent=-1,
    thread_parent=-1,
    is_finished=True,
    cpu_total_ns=100,
    cpu_self_ns=40,
    sync_ns=0,
    overhead_ns=0,
    cuda_total_ns=50,
    cuda_self_ns=30,
    cuda_busy_ns=45,
    backward_cuda_ns=None,
    sync_idle_ns=0,
    launches=2,
)


_PARTS = Breakdown(0, 0, 0, 0, None, None, (), 0, (), 0, (), 1, 0)


def summarise(calls: Calls) -> list[RegionMeasures]:
    return statistics.summarise(calls, dict.fromkeys(calls.measured, _PARTS))


def _cpu(*totals: int) -> list[Call]:
    return [replace(_PLAIN, start_ns=index * 1000, cpu_total_ns=total) for index, total in enumerate(totals)]


@pytest.mark.parametrize(
    ("values", "median"), [([5], 5), ([1, 2], 1), ([4, 1], 1), ([9, 1, 5], 5), ([-3, 0], -3), ([1, 2, 3, 10], 2)]
)
def test_the_median_of_an_even_number_is_the_smaller_of_the_two_in_the_middle(values: list[int], median: int) -> None:
    assert median_of(values) == median


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=12))
def test_a_median_is_what_a_call_took_and_the_median_call_has_the_median_cpu_total(
    times: list[tuple[int, int]],
) -> None:
    calls = [
        replace(_PLAIN, start_ns=100 * place, cpu_total_ns=cpu, cpu_self_ns=cpu // 2, cuda_total_ns=cuda)
        for place, (cpu, cuda) in enumerate(times)
    ]
    (region,) = summarise(Calls(RecordedCalls.by_name(calls)))
    assert region.median_call.cpu_total_ns == region.cpu_total_ns.median
    cpu, cuda = zip(*times, strict=True)
    for spread, values in ((region.cpu_total_ns, cpu), (region.cuda_total_ns, cuda)):
        assert spread is not None
        assert spread.median in values
        # Half of the calls, or nearly so, took no longer, and half no less.
        assert 2 * sum(each <= spread.median for each in values) >= len(values)
        assert 2 * sum(each >= spread.median for each in values) >= len(values)
    assert region.cpu_self_ns.median <= region.cpu_total_ns.median


def test_regions_come_in_the_order_of_their_first_call() -> None:
    names = ["b", "a", "b", "c"]
    regions = summarise(Calls(RecordedCalls.by_name([replace(_PLAIN, name=name) for name in names])))
    assert [(region.name, region.calls, region.file, region.line) for region in regions] == [
        ("b", 2, None, None),
        ("a", 1, None, None),
        ("c", 1, None, None),
    ]


def test_one_name_at_two_places_is_two_regions() -> None:
    keys = [RegionKey("r", "a.py", 3), RegionKey("r", "a.py", 9), RegionKey("r", "a.py", 3)]
    regions = summarise(Calls(RecordedCalls(_cpu(1, 2, 3), keys)))
    assert [(region.line, region.cpu_total_ns.sum) for region in regions] == [(3, 4), (9, 2)]


def test_warm_up_calls_are_counted_and_not_measured() -> None:
    (region,) = summarise(
        Calls(RecordedCalls(_cpu(900, 10, 30, 20), [RegionKey("r")] * 4, [True, False, False, False]))
    )
    assert (region.calls, region.measured, region.is_cold) == (4, 3, False)
    assert region.cpu_total_ns == Spread(sum=60, median=20, min=10, max=30)
    assert region.first.cpu_total_ns == 900
    # Its share of the recording counts them: they are in the whole, too.
    assert (region.cpu_recorded_ns, region.cuda_recorded_ns) == (960, 200)


def test_a_region_of_warm_up_calls_alone_is_measured_cold() -> None:
    (region,) = summarise(Calls(RecordedCalls(_cpu(900, 10), [RegionKey("r")] * 2, [True, True])))
    assert (region.measured, region.is_cold, region.cpu_total_ns.max) == (2, True, 900)


@pytest.mark.parametrize(
    ("raised", "warmups", "expected"),
    [
        ([3], [0], (2, False, 1, "KeyError", 10)),  # a normal call is there
        ([1, 2, 3], [0], (1, False, 3, "KeyError", 900)),  # a cold one that returned tells more
        ([0, 1, 2, 3], [0], (3, True, 4, "KeyError", 20)),
    ],
)
def test_calls_that_an_exception_ended_are_measured_only_where_there_are_no_others(
    raised: list[int], warmups: list[int], expected: tuple[int, bool, int, str, int]
) -> None:
    part = RecordedCalls(
        _cpu(900, 10, 30, 20),
        [RegionKey("r")] * 4,
        [index in warmups for index in range(4)],
        raised=dict.fromkeys(raised, "KeyError"),
    )
    (region,) = summarise(Calls(part))
    median = region.cpu_total_ns.median
    assert (region.measured, region.is_raised, region.raised, region.exception, median) == expected
    assert [each.raised for each in region.call_times] == ["KeyError" if n in raised else None for n in range(4)]


def test_unfinished_calls_are_no_times() -> None:
    finished, unfinished = _cpu(10, 500)
    unfinished = replace(unfinished, is_finished=False)
    (region,) = summarise(Calls(RecordedCalls.by_name([finished, unfinished])))
    assert (region.calls, region.measured, region.unfinished, region.cpu_total_ns.max) == (2, 1, 1, 10)
    assert (region.at_least_ns, [each.cpu_total_ns for each in region.call_times or ()]) == (500, [10])
    assert summarise(Calls(RecordedCalls.by_name([unfinished]))) == []
    (open_one,) = unmeasured(Calls(RecordedCalls.by_name([unfinished])))
    assert (open_one.calls, open_one.unfinished, open_one.at_least_ns, open_one.cuda_at_least_ns) == (
        1,
        1,
        500,
        50,
    )
    assert unmeasured(Calls(RecordedCalls.by_name([finished, unfinished]))) == []


def test_calls_without_times_are_counted_and_not_measured() -> None:
    timed, untimed = _cpu(10, 0)
    untimed = replace(untimed, has_times=False)
    (region,) = summarise(Calls(RecordedCalls.by_name([timed, untimed])))
    assert (region.calls, region.measured, region.untimed, region.cpu_total_ns.min) == (2, 1, 1, 10)
    (unknown,) = unmeasured(Calls(RecordedCalls.by_name([untimed])))
    assert (unknown.calls, unknown.unfinished, unknown.at_least_ns) == (1, 0, None)


def test_a_call_whose_work_has_no_length_is_in_no_cuda_statistics() -> None:
    known, unknown = _cpu(10, 20)
    unknown = replace(unknown, cuda_total_ns=10**9, has_cuda_times=False, cuda_busy_ns=None)
    (region,) = summarise(Calls(RecordedCalls.by_name([known, unknown])))
    assert (region.measured, region.cpu_total_ns.max, region.cuda_total_ns) == (2, 20, Spread(50, 50, 50, 50))
    assert region.cuda_recorded_ns == 10**9 + 50
    (alone,) = summarise(Calls(RecordedCalls.by_name([unknown])))
    assert (alone.cuda_total_ns, alone.cuda_busy_ns) == (Spread(10**9, 10**9, 10**9, 10**9), None)


def test_our_own_launch_is_no_region() -> None:
    ours = replace(_PLAIN, name=START_UP.name)
    recorded = RecordedCalls.by_name([ours, _PLAIN])
    assert [region.name for region in summarise(Calls(recorded))] == ["r"]
    assert start_up([recorded]) == StartUp(cpu_ns=100, cuda_ns=50, launches=2)
    assert start_up([RecordedCalls.by_name([_PLAIN])]) is None
    assert regions_cpu_ns([recorded]) == 100


def test_recursion_counts_nothing_twice() -> None:
    outer = replace(_PLAIN, cpu_total_ns=100, cpu_self_ns=30, cuda_total_ns=80, cuda_self_ns=10, launches=5)
    between = replace(_PLAIN, name="other", parent=0, thread_parent=0)
    inner = replace(
        outer, parent=1, thread_parent=1, cpu_total_ns=60, cpu_self_ns=20, cuda_total_ns=70, cuda_self_ns=70
    )
    region, _ = summarise(Calls(RecordedCalls.by_name([outer, between, inner, replace(outer, cpu_total_ns=90)])))
    assert (region.calls, region.measured) == (3, 2)
    assert region.cpu_total_ns == Spread(sum=190, median=90, min=90, max=100)
    assert region.cpu_self_ns == Spread(sum=80, median=30, min=30, max=50)
    assert region.cuda_total_ns == Spread(sum=160, median=80, min=80, max=80)
    assert region.cuda_self_ns == Spread(sum=90, median=10, min=10, max=80)
    assert region.launches == Spread(sum=10, median=5, min=5, max=5)
    assert (region.cpu_recorded_ns, region.cuda_recorded_ns) == (190, 160)


def test_a_finished_call_inside_an_unfinished_one_is_measured() -> None:
    outer = replace(_PLAIN, is_finished=False, cpu_total_ns=1000)
    inner = replace(_PLAIN, parent=0, thread_parent=0)
    (region,) = summarise(Calls(RecordedCalls.by_name([outer, inner])))
    assert (region.measured, region.cpu_total_ns.sum) == (1, 100)


def test_nesting_across_threads_counts_for_the_device_alone() -> None:
    forward = _PLAIN
    hook = replace(_PLAIN, tid="2", parent=0, cpu_total_ns=20, cuda_total_ns=5)
    (region,) = summarise(Calls(RecordedCalls.by_name([forward, hook])))
    assert region.cpu_total_ns.sum == 120
    assert region.cuda_total_ns is not None
    assert region.cuda_total_ns.sum == 50


def test_recordings_are_summed_up_together_and_nesting_stays_inside_each() -> None:
    one = [replace(_PLAIN, name="outer"), replace(_PLAIN, parent=0, thread_parent=0)]
    two = [_PLAIN, replace(_PLAIN, cpu_total_ns=30, parent=0, thread_parent=0)]
    regions = {
        region.name: region for region in summarise(Calls(RecordedCalls.by_name(one), RecordedCalls.by_name(two)))
    }
    assert regions["r"].calls == 3
    assert regions["r"].measured == 2
    assert regions["r"].cpu_total_ns.sum == 200


def test_tasks_that_cross_are_calls_of_their_own() -> None:
    # heavy 0–100, light 90–200, heavy 110–210: the second heavy was entered inside light, after the first had ended.
    first = replace(_PLAIN, name="heavy")
    light = replace(_PLAIN, name="light", start_ns=90, cpu_total_ns=110, parent=0, thread_parent=0)
    second = replace(_PLAIN, name="heavy", start_ns=110, parent=1, thread_parent=1)
    heavy = next(
        each for each in summarise(Calls(RecordedCalls.by_name([first, light, second]))) if each.name == "heavy"
    )
    assert (heavy.calls, heavy.measured, heavy.cpu_total_ns.sum, heavy.cuda_total_ns.sum) == (2, 2, 200, 100)


def test_a_call_that_outlives_its_namesake_takes_its_own_time_but_no_device_work_twice() -> None:
    first = replace(_PLAIN, name="request")
    second = replace(_PLAIN, name="request", start_ns=50, parent=0, thread_parent=0)
    (request,) = summarise(Calls(RecordedCalls.by_name([first, second])))
    assert (request.measured, request.cpu_total_ns.sum) == (2, 200)
    assert request.cuda_total_ns == Spread(sum=50, median=50, min=50, max=50)


def test_device_numbers_come_from_the_recordings_that_have_them() -> None:
    without = replace(
        _PLAIN, cuda_total_ns=None, cuda_self_ns=None, cuda_busy_ns=None, launches=None, sync_idle_ns=None
    )
    (region,) = summarise(Calls(RecordedCalls.by_name([without])))
    assert region.cuda_total_ns is region.cuda_self_ns is region.cuda_busy_ns is region.launches is None
    (region,) = summarise(Calls(RecordedCalls.by_name([without]), RecordedCalls.by_name([_PLAIN])))
    assert region.cuda_total_ns == Spread(sum=50, median=50, min=50, max=50)


def test_backward_is_none_only_where_it_is_unknown() -> None:
    (region,) = summarise(Calls(RecordedCalls.by_name([_PLAIN])))
    assert region.backward_cuda_ns is None
    (region,) = summarise(Calls(RecordedCalls.by_name([replace(_PLAIN, backward_cuda_ns=0)])))
    assert region.backward_cuda_ns == Spread(sum=0, median=0, min=0, max=0)


def test_overhead_is_that_of_the_measured_calls() -> None:
    warm = replace(_PLAIN, overhead_ns=7)
    (region,) = summarise(
        Calls(RecordedCalls([replace(_PLAIN, overhead_ns=900), warm], [RegionKey("r")] * 2, [True, False]))
    )
    assert region.overhead_ns == 7


def test_a_call_that_captures_a_graph_is_not_measured_beside_others() -> None:
    capturing = replace(_PLAIN, cpu_total_ns=9000, captures=True)
    (region,) = summarise(Calls(RecordedCalls.by_name([capturing, _PLAIN, _PLAIN])))
    assert (region.calls, region.measured, region.is_cold, region.cpu_total_ns.max) == (3, 2, False, 100)
    (region,) = summarise(Calls(RecordedCalls.by_name([capturing, capturing])))
    assert (region.measured, region.cpu_total_ns.max) == (2, 9000)

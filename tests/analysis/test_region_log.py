"""Which entry of the log made which call of the trace."""

from pathlib import Path

from kinetoscope_core.analysis.region_log import (
    LoggedCall,
    LoggedRecording,
    LoggedRegion,
    RegionLog,
    match_entries,
    read_region_log,
)
from kinetoscope_core.results.measures import Call

BASE = 1_790_857_026_000_000_000


def call(name, start, tid="1"):
    return Call(
        name=name,
        pid="100",
        tid=tid,
        start_ns=start,
        parent=-1,
        thread_parent=-1,
        is_finished=True,
        cpu_total_ns=1,
        cpu_self_ns=1,
        sync_ns=0,
        overhead_ns=0,
        cuda_total_ns=None,
        cuda_self_ns=None,
        cuda_busy_ns=None,
        backward_cuda_ns=None,
        sync_idle_ns=None,
        launches=None,
    )


def region(name, line=1, safe_name=None):
    return LoggedRegion(name, safe_name or name, "a.py", line, "f", 1)


def matched(regions, entries, calls):
    """`entries` are (region, time) or (region, time, thread); the result are indices into them, None for no entry."""
    made = [LoggedCall(e[0], i, i, e[2] if len(e) > 2 else "1", BASE + e[1]) for i, e in enumerate(entries)]
    recorded = LoggedRecording(Path(), is_of_script=False, records_cuda=False, entries=made)
    log = RegionLog(regions, [recorded], [], 0, was_aside=False)
    return [entry and entry.call for entry in match_entries(log, recorded, calls, BASE)]


def test_equal_numbers_are_matched_in_order():
    assert matched([region("a")], [(0, 10), (0, 20)], [call("a", 12_000_000), call("a", 1)]) == [1, 0]


def test_one_name_at_two_places_is_told_apart_by_time():
    regions = [region("x", 1), region("x", 2)]
    assert matched(regions, [(0, 10), (1, 20), (0, 30)], [call("x", s) for s in (11, 21, 31)]) == [0, 1, 2]


def test_threads_are_matched_apart():
    entries = [(0, 10, "1"), (0, 11, "2")]
    assert matched([region("x")], entries, [call("x", 15, "2"), call("x", 16, "1")]) == [1, 0]


def test_a_rewritten_name_finds_its_true_one():
    assert matched([region('a "b"', safe_name="a 'b'")], [(0, 10)], [call("a 'b'", 12)]) == [0]


def test_torch_s_own_annotations_have_no_entry():
    assert matched([region("x")], [(0, 10)], [call("Optimizer.step#SGD.step", 12), call("x", 13)]) == [
        None,
        0,
    ]


def test_a_region_that_was_open_before_the_recording_takes_no_entry_of_another():
    # Its slice starts before any entry was noted; the clock says so.
    assert matched([region("x")], [(0, 1_000_000)], [call("x", 0), call("x", 1_000_100)]) == [None, 0]


def test_an_entry_without_an_call_is_passed_over():
    entries = [(0, 0), (0, 1_000_000), (0, 2_000_000)]
    assert matched([region("x")], entries, [call("x", 1_000_100), call("x", 2_000_100)]) == [1, 2]


def test_a_run_that_ended_before_it_wrote_a_log_has_none(tmp_path):
    assert read_region_log(tmp_path) is None

"""What is expected of a region against what was measured: the numbers, the names, and what cannot be told."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from kinetoscope_core.jobs.measure import measure_traces
from kinetoscope_core.results.checks import checks, summary, verdict
from kinetoscope_core.results.measures import CallInTrace, Spread, Unmeasured
from kinetoscope_core.results.result import from_dict, to_json
from kinetoscope_core.source.regions import SourceRegions

TRACES = Path(__file__).parents[1] / "traces"
HEAD = "from torch.profiler import record_function as rf\n"


@cache
def forward():
    """Recorded on an H200: four calls with 190 µs of CUDA time and 12 launches in their medians."""
    result = measure_traces([TRACES / "h200" / "train_mlp.json.gz"], [])
    return next(each for each in result.regions if each.name == "forward")


def spread(*values):
    ordered = sorted(values)
    return Spread(sum(values), ordered[(len(ordered) - 1) // 2], ordered[0], ordered[-1])


def checked(expected, *rows, with_missing=True, line="with rf('forward'):"):
    source = SourceRegions(f"{HEAD}{line}  # kinetoscope: expect {expected}\n    pass\n")
    region = source.regions[0]
    return checks(source, "/a.py", [(region, row) for row in rows], with_missing=with_missing)


def only(expected, *rows, **how):
    ((_, outcomes),) = checked(expected, *rows, **how)
    return outcomes


@pytest.mark.parametrize("quantity", ["cuda", "cuda self", "cpu", "cpu self", "backward", "launches"])
@pytest.mark.parametrize(
    ("comparison", "below", "same", "above"),
    [
        ("<", True, False, False),
        ("<=", True, True, False),
        (">", False, False, True),
        (">=", False, True, True),
        ("=", False, True, False),
        ("!=", True, False, True),
    ],
)
def test_the_median_is_compared_exactly(quantity, comparison, below, same, above):
    if quantity != "launches" and comparison in ("=", "!="):
        return
    field = {"cuda": "cuda_total_ns", "cpu": "cpu_total_ns", "backward": "backward_cuda_ns", "launches": "launches"}
    name = field.get(quantity, f"{quantity.replace(' ', '_')}_ns")
    unit = "" if quantity == "launches" else "ns"
    for value, holds in ((999_999, below), (1_000_000, same), (1_000_001, above)):
        row = replace(forward(), **{name: spread(1, value, 9_000_000)})
        (found,) = only(f"{quantity} {comparison} 1000000{unit}", row)
        assert (found.holds, found.value, found.limit) == (holds, value, 1_000_000)


@pytest.mark.parametrize(
    ("expected", "holds", "message"),
    [
        ("cuda < 1ms", True, "forward: CUDA 190 µs per call (middle half of 4 calls: 190–191 µs)"),
        ("launches <= 5", False, "forward: 12 launches per call (4 calls)"),
        ("bound = overhead", True, "forward: the bound is overhead"),
        ("bound != overhead-bound", False, "forward: the bound is overhead"),
    ],
)
def test_the_number_is_told_with_the_calls_that_it_is_of(expected, holds, message):
    (found,) = only(expected, forward())
    assert (found.holds, found.region, found.file, found.line) == (holds, "forward", "/a.py", 2)
    assert found.message == message


def test_a_number_that_would_read_as_its_limit_has_all_its_digits():
    row = replace(forward(), cuda_total_ns=spread(250_400), cuda_middle_ns=(250_400, 250_400), measured=1, is_cold=True)
    (found,) = only("cuda < 250us", row)
    assert found.message == "forward: CUDA 250,400 ns per call (1 call, cold)"


@pytest.mark.parametrize(
    ("change", "expected", "why"),
    [
        ({"cuda_total_ns": None}, "cuda < 1s", "no GPU work was measured, so cuda of forward is not known"),
        ({"cuda_total_ns": None}, "launches < 9", "no GPU work was measured, so launches of forward is not known"),
        ({"cuda_total_ns": None}, "bound != sync", "no GPU work was measured, so bound of forward is not known"),
        ({"bound": None}, "bound != sync", "it is not known what limits forward"),
        ({"backward_cuda_ns": None}, "backward < 1s", "backward of forward was not measured"),
    ],
)
def test_what_was_not_measured_neither_holds_nor_is_broken(change, expected, why):
    (found,) = only(expected, replace(forward(), **change))
    assert (found.holds, found.value, found.message) == (None, None, why)


def test_cpu_times_are_checked_without_a_gpu():
    (found,) = only("cpu < 9s", replace(forward(), cuda_total_ns=None))
    assert found.holds is True


def test_regions_that_did_not_come_or_did_not_end_are_told():
    call = CallInTrace(0, 0, 5, None)
    (found,) = only("cpu < 1s", Unmeasured("forward", "/a.py", 2, 1, 1, 5, None, None, call))
    assert (found.holds, found.message) == (None, "no call of forward has a time")
    (found,) = only("cpu < 1s")
    assert (found.holds, found.region, found.message) == (
        None,
        "forward",
        "no call of forward was measured at this line",
    )
    assert only("cpu < 1s", with_missing=False) == []
    source = SourceRegions("x = 1  # kinetoscope: expect cpu < 1s")
    ((_, (found,)),) = checks(source, "/a.py", [], with_missing=True)
    assert (found.holds, found.region, found.message) == (None, None, "no region was measured at this line")


def test_each_name_of_a_line_is_checked_and_told_of_once():
    rows = [
        replace(forward(), name=f"layer_{index}", cuda_total_ns=spread(time), cuda_middle_ns=None)
        for index, time in enumerate((200_000, 400_000, 300_000))
    ]
    outcomes = only("cuda < 250us", *rows, line="with rf(f'layer_{i}'):")
    assert [each.holds for each in outcomes] == [True, False, False]
    assert verdict(outcomes) is False
    assert summary(outcomes).startswith("2 of 3 regions at this line; the furthest off: layer_1: CUDA 400 µs per call")
    outcomes = only("cuda < 1ms", *rows, line="with rf(f'layer_{i}'):")
    assert verdict(outcomes) is True
    assert summary(outcomes).startswith("3 of 3 regions at this line; the closest: layer_1: ")
    outcomes = only("cuda < 1ms", rows[0], replace(rows[1], cuda_total_ns=None), line="with rf(f'layer_{i}'):")
    assert verdict(outcomes) is None
    assert summary(outcomes).startswith("1 of 2 regions at this line; the first: no GPU work")


def test_a_mistake_is_told_once_whatever_was_measured():
    for rows in ((), (forward(), forward())):
        (found,) = only("cuda < 250", *rows)
        assert (found.holds, found.region) == (None, None)
        assert found.message == "250 has no unit. Write ns, us, ms or s behind it."


def test_expectations_of_the_sources_are_in_the_result_and_its_json(tmp_path):
    source = tmp_path / "train.py"
    source.write_text(
        f"{HEAD}# kinetoscope: expect cuda < 1ms\nwith rf('forward'): pass\n"
        "with rf('elsewhere'): pass  # kinetoscope: expect cpu < 1s\n"
    )
    result = measure_traces([TRACES / "h200" / "train_mlp.json.gz"], [source])
    assert [(each.region, each.line, each.holds) for each in result.expectations] == [
        ("forward", 2, True),
        ("elsewhere", 4, None),
    ]
    values = json.loads(to_json(result))
    assert values["expectations"][0]["limit"] == 1_000_000
    assert from_dict(values).expectations == result.expectations

"""Verdicts: the exact distribution, how often they are wrong on recorded noise, and what they find."""

import json
import random
from itertools import combinations
from math import comb
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinetoscope_core.analysis.comparison import verdict
from kinetoscope_core.analysis.comparison.verdict import change_between

NOISE = Path(__file__).parent / "noise"
KINDS = ("cuda", "cpu")
DRAWS = 30
times = st.lists(st.integers(1_000, 10**8), min_size=1, max_size=8)
kinds = st.sampled_from(KINDS)


def pairs_won(a, b):
    return sum(one < other for one in a for other in b)


@pytest.mark.parametrize(("a", "b"), [(1, 1), (2, 3), (3, 3), (4, 5), (5, 5)])
def test_the_rank_test_counts_every_order(a, b):
    counts = [0] * (a * b + 1)
    for places in combinations(range(a + b), a):
        counts[pairs_won([place for place in range(a + b) if place not in places], places)] += 1
    assert verdict._u_counts(a, b) == counts
    assert sum(counts) == comb(a + b, a)


def test_four_processes_a_side_are_too_few_for_it_and_five_are_enough():
    assert verdict._left_out(4, 4) is None
    assert verdict._left_out(5, 5) == 1
    assert verdict._left_out(50, 1) is None  # one process is one sample, whatever the other side has


@settings(deadline=None)
@given(times, times, kinds)
def test_a_comparison_mirrors_its_reverse(a, b, kind):
    forth, back = change_between(a, b, kind, 3), change_between(b, a, kind, 3)
    opposite = {"faster": "slower", "slower": "faster"}
    assert (forth.a, forth.b) == (back.b, back.a)
    assert back.verdict == opposite.get(forth.verdict, forth.verdict)
    assert (1 + forth.change) * (1 + back.change) == pytest.approx(1, rel=1e-4)
    assert (1 + forth.low) * (1 + back.high) == pytest.approx(1, rel=1e-4)


@settings(deadline=None)
@given(times, kinds)
def test_a_side_compared_with_itself_has_no_difference(a, kind):
    change = change_between(a, a, kind)
    assert (change.verdict, change.change) == ("same", 0.0)


@settings(deadline=None)
@given(times, times, kinds)
def test_a_verdict_lies_on_the_side_of_its_interval(a, b, kind):
    change = change_between(a, b, kind)
    if change.verdict == "slower":
        assert 0 < change.low <= change.high
        assert change.change > 0
    if change.verdict in ("faster", "slower"):
        assert change.more_runs is None


def test_a_time_of_nothing_has_no_ratio():
    assert change_between([0], [5], "cuda") == verdict.Change(0, 5, None, None, None, "unknown")
    assert change_between([0, 0], [0], "cuda").verdict == "same"


def test_it_says_how_many_more_runs_would_do():
    steady = [100_000, 101_000, 99_500, 100_500, 100_200]
    few = change_between(steady, [90_000, 90_500, 89_800], "cpu")
    assert (few.verdict, few.more_runs) == ("unknown", 1)
    assert change_between(steady, [80_000, 80_500, 79_800, 80_100], "cpu").verdict == "faster"
    assert change_between([100_000], [90_000], "cpu").more_runs is None, "the other side is one process"


# --- recorded noise


def wrong(file, number, kind, draws):
    """Of how many comparisons of a region with itself, drawn from the recorded processes, how many had a difference."""
    drawn = random.Random(7)
    total = found = 0
    for regions in json.loads((NOISE / file).read_bytes()).values():
        for each in regions.values():
            values = list(zip(each[kind], each["launches"] or [0] * len(each[kind]), strict=True))
            if len(values) < 2 * number:
                continue
            for _ in range(draws):
                chosen = drawn.sample(values, 2 * number)
                a, b = ([time for time, _ in side] for side in (chosen[:number], chosen[number:]))
                found += change_between(a, b, kind, chosen[0][1]).verdict != "unknown" and (
                    change_between(a, b, kind, chosen[0][1]).verdict != "same"
                )
                total += 1
    return found, total


@pytest.mark.parametrize("number", [1, 2, 3, 5])
@pytest.mark.parametrize(
    ("file", "kind"),
    [
        ("h200_plain.json", "cuda"),
        ("h200_plain.json", "cpu"),
        ("h200_together.json", "cuda"),
        ("h200_together.json", "cpu"),
        ("cpu_busy.json", "cpu"),
        ("cpu_crowded.json", "cpu"),
    ],
)
def test_a_script_compared_with_itself_has_a_difference_in_five_of_a_hundred_at_most(file, kind, number):
    found, total = wrong(file, number, kind, DRAWS)
    assert total >= 200
    assert found <= 0.05 * total


def found_of(percent, number, region, kind):
    """How often more work on one side is found, of 100 draws."""
    cases = json.loads((NOISE / "h200_plain.json").read_bytes())
    before, now = cases["injected"][region], cases[f"injected_{percent}"][region]
    drawn = random.Random(3)
    launches = max(before["launches"] + now["launches"], default=0)
    sides = [(drawn.sample(before[kind], number), drawn.sample(now[kind], number)) for _ in range(100)]
    return sum(change_between(a, b, kind, launches).verdict == "slower" for a, b in sides)


def test_what_was_added_is_found():
    assert found_of(5, 1, "products", "cuda") == 100, "long kernels: one process each"
    assert found_of(5, 1, "small_operators", "cuda") == 0, "kernels of a microsecond: not from one process each"
    assert found_of(5, 5, "small_operators", "cuda") == 100
    assert found_of(30, 1, "small_operators", "cuda") == 100
    assert found_of(30, 1, "python_loop", "cpu") == 0, "CPU times lie up to a factor of 2 apart there"

"""Whether one set of processes took longer than another: the change, the interval it lies in, and a verdict.

A process is one sample, the median of its calls: calls of one process are not independent. Where each side has enough
processes the interval is that of the rank test (Hodges and Lehmann 1963; the exact distribution of Mann and Whitney
1947): it supposes nothing about how the times spread. Where one side has too few, it is a floor that was measured by
comparing runs with themselves on an H200 (docs/performance.md, "Noise"; benchmarks/noise.py).
"""

from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from math import comb, log
from typing import Final, Literal

from kinetoscope_core.results.comparison import Change

Kind = Literal["cpu", "cuda"]

ERROR: Final = 0.02
"""How often at most the rank test's interval misses the true change."""
FLOORS: Final[dict[Kind, float]] = {"cuda": 1.02, "cpu": 3.5}
"""By which factor two processes of the same code may differ, and besides:"""
PER_LAUNCH_NS: Final = 100
"""CUDA times by so much for each launch, as short kernels repeat less well,"""
TIME_SLICE_NS: Final = 5_000_000
"""CPU times by a time slice of the scheduler: on a busy machine each call of a process may wait for one."""
DRIFT: Final[dict[Kind, float]] = {"cuda": 1.005, "cpu": 1.10}
"""By which factor all processes of one side may differ from those of the other: clocks, temperature, other work."""
MATTERS: Final[dict[Kind, float]] = {"cuda": 1.03, "cpu": 1.20}
"""A change that is certainly within this factor is none."""
MOST_RUNS: Final = 20
"""More processes than this are not asked for."""


def change_between(a: Sequence[int], b: Sequence[int], kind: Kind, launches: int = 0) -> Change:
    """The change from the times of `a` to those of `b`, in ns, a process each. `launches` is that of a call.

    Both sides need a time at least. Where a time is 0 there is no ratio, and only two equal sides have a verdict.
    """
    a, b = sorted(a), sorted(b)
    middle_a, middle_b = a[(len(a) - 1) // 2], b[(len(b) - 1) // 2]
    if a == b or a[-1] == 0 == b[-1]:
        return Change(middle_a, middle_b, 0.0, 0.0, 0.0, "same")
    if a[0] <= 0 or b[0] <= 0:
        return Change(middle_a, middle_b, None, None, None, "unknown")
    ratio = middle_b / middle_a
    low, high = _interval(a, b, ratio, kind, launches)
    verdict: Literal["faster", "slower", "same", "unknown"] = "unknown"
    more = None
    if low * MATTERS[kind] >= 1 and high <= MATTERS[kind]:
        verdict = "same"
    elif low > 1 < ratio:
        verdict = "slower"
    elif high < 1 > ratio:
        verdict = "faster"
    else:
        more = _more_runs(len(a), len(b), high / low, ratio, kind)
    return Change(middle_a, middle_b, ratio - 1, low - 1, high - 1, verdict, more)


def _interval(a: Sequence[int], b: Sequence[int], ratio: float, kind: Kind, launches: int) -> tuple[float, float]:
    left_out = _left_out(len(a), len(b))
    if left_out is None:
        varies_ns = PER_LAUNCH_NS * launches if kind == "cuda" else TIME_SLICE_NS
        floor = FLOORS[kind] + varies_ns / min(a[0], b[0])
        return ratio / floor, ratio * floor
    ratios = sorted([now / before for now in b for before in a])
    return ratios[left_out] / DRIFT[kind], ratios[-1 - left_out] * DRIFT[kind]


@cache
def _left_out(a: int, b: int) -> int | None:
    """How many of the ratios of all pairs lie outside the interval on each side; None where all of them are not enough.

    The number of pairs in which one side's is the smaller has the distribution of U where nothing differs.
    """
    below = list(accumulate(_u_counts(a, b)))
    outside = bisect_right(below, ERROR / 2 * comb(a + b, a))
    return outside - 1 if outside else None


def _u_counts(a: int, b: int) -> list[int]:
    """In how many orders of `a` and `b` values U is 0, 1, 2, …, a·b."""
    # The Gaussian binomial coefficient: a factor (1 - x^(b+i)) / (1 - x^i) for each i.
    counts = [1] + [0] * (a * b)
    for i in range(1, a + 1):
        for u in range(a * b, b + i - 1, -1):
            counts[u] -= counts[u - b - i]
        for u in range(i, a * b + 1):
            counts[u] += counts[u - i]
    return counts


def _more_runs(a: int, b: int, width: float, ratio: float, kind: Kind) -> int | None:
    """With how many more runs on the side of `b` there would be a verdict, if they spread as these do. `width` is the
    factor from the lower to the upper end of the interval.

    None if that is no number of runs that somebody would wait for.
    """
    if _left_out(a, b) is None:
        return _runs_to_a_test(a, b)
    wanted = 2 * max(abs(log(ratio)), log(MATTERS[kind]))
    for more in range(1, MOST_RUNS + 1):
        # The interval shrinks with the root of 1/a + 1/b.
        if log(width) * ((1 / a + 1 / (b + more)) / (1 / a + 1 / b)) ** 0.5 <= wanted:
            return more
    return None


@cache
def _runs_to_a_test(a: int, b: int) -> int | None:
    """How many more of `b` the rank test needs to say anything."""
    return next((more for more in range(1, MOST_RUNS + 1) if _left_out(a, b + more) is not None), None)

"""What shown runs are compared with, made once for each; and what two stored runs differ in, when asked for."""

import logging
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property

from kinetoscope_core.errors import KinetoscopeError, UsageError
from kinetoscope_core.results.alike import History
from kinetoscope_core.results.comparison import Change, Comparison, RegionComparison
from kinetoscope_core.results.store import Store
from kinetoscope_server.results.by_file import Placed
from kinetoscope_server.results.shown import Row

log = logging.getLogger(__name__)

# jobs.sides brings what reads traces, which most sessions never want: so it is imported where it is used.


def comparison_of(run: str, other: str | None = None) -> Comparison | None:
    """From the other run to this one; without another, from its baseline, `None` where it has none.

    Raises `UsageError`.
    """
    from kinetoscope_core.jobs import sides  # noqa: PLC0415

    store = Store()
    if other is None:
        return sides.against_baseline(History(store), run)
    return sides.compared(store, store.stored(other).id, store.stored(run).id)


def pin_baseline(run: str, *, is_pinned: bool) -> None:
    """Makes a stored run the baseline of its command; or takes away which run it is that is pinned for that.

    Raises `UsageError`.
    """
    history = History(Store())
    ran = history.ran(run)
    if ran is None:
        raise UsageError(f"Only a stored run can be a baseline, and {run} is none.")
    if is_pinned:
        history.pin_baseline(ran)
    elif (pinned := history.pinned_of(ran)) is not None:
        history.unpin_baseline(pinned)


@dataclass(frozen=True, eq=False)
class Baseline:
    """The baseline of a shown run; without comparison where the run is itself the pinned one, or of its processes."""

    run: str
    started: str
    is_pinned: bool
    comparison: Comparison | None

    @cached_property
    def _regions(self) -> Mapping[object, RegionComparison]:
        regions = () if self.comparison is None else self.comparison.regions
        return {(each.name, each.file, each.line): each for each in regions if each.where != "a"}

    def region(self, row: Row) -> RegionComparison | None:
        """What changed of a region of the shown run."""
        return self._regions.get((row.name, row.file, row.line))


class Comparisons:
    """The baselines of runs, as far as they are known. `update` may be called in another thread, one call at a time."""

    def __init__(self) -> None:
        self._history = History(Store())
        self._known: dict[str, Baseline | None] = {}
        self._changed_ns = 0

    def of(self, run: str) -> Baseline | None:
        return self._known.get(run)

    def region(self, placed: Placed) -> RegionComparison | None:
        """What changed at a line since the baseline of the run that is shown there."""
        baseline = self.of(placed.measured.shown.run)
        return None if baseline is None else baseline.region(placed.measured.region)

    def wanted_runs(self, placed: Placed) -> int:
        """How many more runs would give all total times a verdict that could have one; 0 where none would, and where
        runs would be of other code.
        """
        region = self.region(placed)
        return 0 if region is None or placed.is_stale else _wanted_runs(region)

    def update(self, runs: Collection[str]) -> bool:
        """Compares these runs with their baselines where that is not known, or no longer; whether anything changed."""
        before, changed_ns = self._known, Store().changed_ns()
        is_current = changed_ns == self._changed_ns
        self._known = {run: before[run] if is_current and run in before else self._baseline_of(run) for run in runs}
        self._changed_ns = changed_ns
        return any(each is not before.get(run) for run, each in self._known.items())

    def _baseline_of(self, run: str) -> Baseline | None:
        from kinetoscope_core.jobs import sides  # noqa: PLC0415

        try:
            ran = self._history.ran(run)
            if ran is None:
                return None
            found, pinned = self._history.baseline_of(ran), self._history.pinned_of(ran)
            if found is None:
                return None if pinned is None else Baseline(pinned.stored.id, pinned.run.started, True, None)
            comparison = sides.against_baseline(self._history, run)
            return Baseline(found.stored.id, found.run.started, pinned is not None, comparison)
        except KinetoscopeError as error:
            log.warning("the run %s is not compared: %s", run, error)
            return None


def largest_change(region: RegionComparison) -> tuple[str, Change] | None:
    """Which of the total times changed most, `CUDA` or `CPU`; `None` where none did beyond noise."""
    times = (("CUDA", region.cuda_total_ns), ("CPU", region.cpu_total_ns))
    known = [(name, each) for name, each in times if each is not None and each.verdict in ("faster", "slower")]
    return max(known, key=lambda each: size_of_change(each[1]), default=None)


def size_of_change(change: Change) -> float:
    """As large for half the time as for twice the time."""
    factor = 1 + (change.change or 0.0)
    return max(factor, 1 / factor)


def _wanted_runs(region: RegionComparison) -> int:
    times = (region.cuda_total_ns, region.cpu_total_ns)
    return max((each.more_runs or 0 for each in times if each is not None), default=0)

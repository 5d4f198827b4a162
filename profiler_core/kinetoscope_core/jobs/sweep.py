"""A sweep: one script in several settings, run by turns, so that drift of the machine does not look like an effect."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone

from kinetoscope_core import log_file
from kinetoscope_core.analysis.comparison.compare import code_that_changed
from kinetoscope_core.analysis.comparison.swept import swept
from kinetoscope_core.errors import InterpreterError, KinetoscopeError, RunCancelled, RunError, UsageError
from kinetoscope_core.jobs.grid import Grid
from kinetoscope_core.jobs.problems import ending_error
from kinetoscope_core.jobs.profile import Profiling
from kinetoscope_core.results.result import Result
from kinetoscope_core.results.store import Store
from kinetoscope_core.results.sweep import Setting, Sweep, Sweeps, setting_title
from kinetoscope_core.run.outcome import Progress
from kinetoscope_core.run.process import RunnerProcess
from kinetoscope_core.runner.request import RunRequest

OnRun = Callable[[int, int, str], None]
"""Told before each run which it is, from 1, of how many, and its setting; of those of settings that failed, none."""


@dataclass(slots=True)
class _Side:
    """A setting with what its runs gave, the oldest first."""

    setting: Setting
    request: RunRequest
    results: list[Result] = field(default_factory=list[Result])


class Sweeping:
    """Runs each setting of a grid once, in order, and that `repeat` times; one that fails is not run again.

    `start` makes the process for a run, and there is only one at a time. `cancel` may be called from any thread, and
    from the handler of a signal.
    """

    def __init__(
        self,
        request: RunRequest,
        grid: Grid,
        repeat: int,
        store: Store,
        start: Callable[[RunRequest], RunnerProcess],
        *,
        on_run: OnRun,
        on_progress: Callable[[Progress], None],
    ) -> None:
        self._grid = grid
        self._store = store
        self._sweeps = Sweeps(store.root)
        self._start = start
        self._on_run = on_run
        self._on_progress = on_progress
        self._profiling: Profiling | None = None
        self._is_cancelled = False
        self._sides: list[_Side] = []
        for values in grid.settings():
            asked = grid.request(request, values)
            self._sides.append(_Side(Setting(values, asked.arguments), asked))
        self._sweep = Sweep(
            id=self._sweeps.new_id(),
            script=request.script,
            is_module=request.is_module,
            arguments=request.arguments,
            started=datetime.now(timezone.utc).isoformat(timespec="seconds"),
            repeat=repeat,
            axes=grid.axes,
            settings=tuple(each.setting for each in self._sides),
        )

    def cancel(self, *, by_terminal: bool = False) -> bool:
        """Ends the run that goes on, and makes no further one; its process is left out. See `Profiling.cancel`."""
        self._is_cancelled = True
        profiling = self._profiling
        return profiling is None or profiling.cancel(by_terminal=by_terminal)

    def abandon(self) -> None:
        """As `cancel`, when nobody is there any more to wait for it."""
        self._is_cancelled = True
        profiling = self._profiling
        if profiling is not None:
            profiling.abandon()

    def run(self) -> Sweep:
        """Makes the runs, and keeps the sweep after each. Raises a `KinetoscopeError` if the first cannot be made at
        all, since there is no such script or no Python for it, or the sweep cannot be stored.
        """
        number, count = 0, len(self._sides) * self._sweep.repeat
        for _ in range(self._sweep.repeat):
            for side in self._sides:
                if self._is_cancelled:
                    break
                number += 1
                if side.setting.failed is not None:
                    continue
                self._on_run(number, count, setting_title(self._grid.axes, side.setting.values))
                with suppress(KeyboardInterrupt):  # a cancel that does not wait any more; `cancel` has noted it
                    self._run(side, is_first=number == 1)
                self._keep()
        if self._is_cancelled:
            self._keep()
        return self._sweep

    def _run(self, side: _Side, *, is_first: bool) -> None:
        try:
            result, run, error = self._profiled(side.request)
        except (UsageError, InterpreterError) as failure:
            if is_first:
                raise
            result, run, error = None, None, failure
        except KinetoscopeError as failure:
            result, run, error = None, None, failure
        if isinstance(error, RunCancelled):
            self._is_cancelled = True
            return
        setting = side.setting
        if result is not None:
            side.results.append(result)
            runs = (*setting.runs, run) if run is not None else setting.runs
            setting = replace(setting, runs=runs, processes=len(side.results))
        side.setting = replace(setting, failed=None if error is None else str(error))

    def _profiled(self, request: RunRequest) -> tuple[Result, str | None, KinetoscopeError | None]:
        """A run, its id in the store, and what it failed by, if it did after something was measured."""
        with self._start(request) as runner:
            profiling = Profiling(request, self._store, runner, on_progress=self._on_progress)
            self._profiling = profiling
            try:
                if self._is_cancelled:  # while it was made
                    profiling.cancel()
                result, outcome = profiling.run()
            finally:
                try:
                    profiling.finish()  # the next one must not be measured beside its clean-up
                finally:
                    self._profiling = None
        error = ending_error(outcome)
        return result, profiling.run_id, error if isinstance(error, RunError) else None

    def _keep(self) -> None:
        sides = [each.results[::-1] for each in self._sides]
        measured = [index for index, side in enumerate(sides) if side]
        whole = [index for index in measured if self._sides[index].setting.failed is None]
        base = next(iter([*whole, *measured]), None)
        first = None if base is None else sides[base][0]
        self._sweep = replace(
            self._sweep,
            settings=tuple(each.setting for each in self._sides),
            regions=() if base is None else swept(sides, base),
            base=base,
            device=first and first.device,
            torch=first and first.torch,
            code_changed=tuple(code_that_changed([each for side in sides for each in side])),
            is_cancelled=self._is_cancelled,
        )
        if all(each.processes == 0 and each.failed is None for each in self._sweep.settings):
            return
        self._sweeps.keep(self._sweep)
        log_file.note("kept the sweep %s", self._sweep.id)

"""Scripts without a region of their own: their steps, by what torch's optimizers and DataLoaders enter themselves.

The recording begins with the first of these, and is full after as many steps as a region would have calls; after
`PATIENCE` times as many where the user's files name `record_function`. In it each step is marked as torch's own
schedule marks it, `ProfilerStep#N`. A region of the user's puts an end to all that.
"""

import sys
import threading
from typing import Any, Callable, Optional

from ..ending.end import End
from ..own_files import loaded_files
from ..request import RunRequest
from .schedule import PATIENCE

_open = open  # as it was before the script, which may patch it
_BATCH = "enumerate(DataLoader)#"
_STEP = "Optimizer.step#"
_BEGINNINGS = (_BATCH, _STEP, "Optimizer.zero_grad#")
_MOST_FILES = 200


class Steps:
    """Follows torch's own entries, on the thread of the first. `start` starts the recording and says whether it did;
    `stop` saves it, which is followed by the script's `end`.
    """

    def __init__(
        self,
        request: RunRequest,
        start: Callable[[], bool],
        stop: Callable[[str], None],
        is_over_budget: Callable[[], bool],
        end: End,
    ) -> None:
        self._needed = 0 if request.to_the_end else request.warmup + request.active
        self._start = start
        self._stop = stop
        self._is_over_budget = is_over_budget
        self._end = end
        self._is_wanted = not (request.has_focus or request.known_places or request.modules is not None)
        self._thread: Optional[int] = None
        self._mark: Any = None
        self._has_batches = False
        self._has_stepped = False
        self._has_ended = False
        self._finished = 0

    def give_way(self) -> bool:
        """That the recording is of regions; whether it was one of steps until now."""
        were_recorded = self._is_wanted and self._thread is not None
        self._is_wanted = False
        if were_recorded and self._mark is not None and self._thread == threading.get_ident():
            self._mark.__exit__(None, None, None)
        return were_recorded

    def note_stop(self) -> None:
        """That the recording is over; a step that goes on stays unfinished."""
        self._is_wanted = False

    def note_entry(self, name: Any) -> None:
        """That torch is about to enter something."""
        if not (isinstance(name, str) and name.startswith(_BEGINNINGS)):
            return
        if not self._is_wanted:
            if self._has_ended:
                self._end.note_entry(name)
            return
        self._end.note_entry(name)
        is_batch = name.startswith(_BATCH)
        if self._thread is None:
            if not self._start():
                self._is_wanted = False
                return
            if _may_have_regions():
                self._needed *= PATIENCE
            self._thread = threading.get_ident()
            if not name.startswith(_STEP):
                self._next()
        elif self._thread == threading.get_ident() and is_batch and (self._has_stepped or not _has_optimizer()):
            self._finish()
        self._has_batches = self._has_batches or is_batch

    def note_exit(self, name: Any, *, has_failed: bool) -> None:
        """That torch has left something; `has_failed`: by an exception."""
        if self._is_wanted and self._thread == threading.get_ident() and str(name).startswith(_STEP):
            self._has_stepped = True
            if not (self._has_batches or has_failed):
                self._finish()

    def _finish(self) -> None:
        """One step is over, if one was open, and the next begins."""
        if self._mark is not None:
            self._mark.__exit__(None, None, None)
            self._finished += 1
        self._has_stepped = False
        is_enough = 0 < self._needed <= self._finished
        if is_enough or self._is_over_budget():
            self._is_wanted = False
            self._has_ended = True
            self._end.begin_after(self._stop, "enough" if is_enough else "budget", is_raised_here=True)
        else:
            self._next()

    def _next(self) -> None:
        profiler: Any = sys.modules["torch.autograd.profiler"]
        self._mark = profiler.record_function(f"ProfilerStep#{self._finished}")
        self._mark.__enter__()


def _may_have_regions() -> bool:
    """Whether a file of the user's names `record_function`: its regions may come later, and are waited for."""
    for path in loaded_files()[:_MOST_FILES]:
        try:
            with _open(path, "rb") as file:
                if b"record_function" in file.read():
                    return True
        except OSError:
            continue
    return False


def _has_optimizer() -> bool:
    """Whether an optimizer was made: each patches the `step` of its class when it is."""
    kinds = [getattr(sys.modules.get("torch.optim.optimizer"), "Optimizer", object)]
    if kinds == [object]:
        return False
    for kind in kinds:
        if getattr(kind.__dict__.get("step"), "hooked", False):
            return True
        kinds += kind.__subclasses__()
    return False

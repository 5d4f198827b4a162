"""The script's end from inside: raised where it is, and followed until the script is at its own clean-up."""

import signal
import threading
from time import monotonic
from typing import Any, Callable, Optional, Tuple, Type

from .frameworks import exception_to_end_with, is_in_a_test, test_that_runs
from .interrupts import end_here, interrupt_main_thread, is_being_handled, place_of_main_thread, raise_in_main_thread

WAKEN_AFTER_S = 1.0
"""An exception that is raised from afar does not wake a call that blocks; SIGINT does."""


class EndOfRun(SystemExit):
    """Raised in the script's main thread when enough is measured, so that its `finally` blocks run.

    A SystemExit, since asyncio lets that end its loop, and keeps most other exceptions for itself.
    """


class End:
    """`is_over` once it was ended from inside, `was_stopped` once from outside, `has_left` when its code is done.

    Says `leaving` when it has come to its own clean-up, `goes_on` when it takes no notice.
    """

    def __init__(self, send: Callable[..., Any]) -> None:
        self.is_over = False
        self.was_stopped = False
        self.has_left = False
        self._send = send
        self._kind: Type[BaseException] = EndOfRun
        self._times_it_went_on = 0
        self._main_was_at: Optional[Tuple[int, int]] = None
        self._waken_at: Optional[float] = None

    def explains(self, error: BaseException) -> bool:
        """Whether the error is no failure of the script's, but how it was ended."""
        return (self.is_over or self.was_stopped) and isinstance(error, (self._kind, EndOfRun, KeyboardInterrupt))

    def interrupt(self) -> None:
        """As Ctrl-C does; where the process ignores that, ends it from inside."""
        self._main_was_at = place_of_main_thread()
        if not interrupt_main_thread():
            self.begin_from_afar()

    def repeat_if_swallowed(self) -> None:
        """Interrupts again where torch was imported though it was interrupted, and not by the script's clean-up.

        It begins by importing numpy, and goes on without it, whatever ended that (seen on 2.13).
        """
        is_main = threading.current_thread() is threading.main_thread()
        if self.was_stopped and is_main and not is_being_handled(KeyboardInterrupt):
            raise KeyboardInterrupt

    def begin_after(self, save: Callable[[str], None], why: str, *, is_raised_here: bool) -> None:
        """Saves what was measured, then ends the script, unless it is ending already."""
        is_first = not (self.is_over or self.was_stopped)
        self.is_over = self.is_over or is_first  # from here on a cancel finds a script that is leaving
        save(why)
        if is_first:
            self.begin(is_raised_here=is_raised_here)

    def begin(self, *, is_raised_here: bool) -> None:
        """Ends the script, from whichever of its threads this is; `is_raised_here` where nothing else is raised."""
        self.is_over = True
        if threading.current_thread() is not threading.main_thread():
            self.begin_from_afar()
            return
        self._choose_kind()
        self._send("leaving")
        if is_raised_here:
            end_here(self._kind)

    def begin_from_afar(self) -> None:
        """Raises it in the main thread; the watching thread sees whether that comes out of where it is."""
        self.is_over = True
        self._choose_kind()
        self._waken_at = monotonic() + WAKEN_AFTER_S
        self._main_was_at = place_of_main_thread()
        raise_in_main_thread(self._kind)

    def _choose_kind(self) -> None:
        """A test framework would take EndOfRun for a failure of the test that happens to run."""
        self._kind = exception_to_end_with(EndOfRun)
        if self._kind is not EndOfRun:
            where = test_that_runs() or "a test"
            message = (
                f"Enough was measured in {where}, so the tests after it were not run."
                " Let the script run to its end to run them all."
            )
            self._send("problem", code="tests-not-run", message=message)

    def note_entry(self, _place: Any = None) -> None:
        """A region was entered after the end: in the script's clean-up, or because it does not heed the end."""
        if not self.is_over:
            return
        if threading.current_thread() is threading.main_thread():
            if is_being_handled(EndOfRun, KeyboardInterrupt) or self.has_left:
                return
            if self._kind is not EndOfRun and not is_in_a_test():  # the framework tears down what it has set up
                return
            self._times_it_went_on += 1
            if self._times_it_went_on == 2:
                self._send("goes_on")
            # What catches any Exception has caught pytest's.
            if end_here(EndOfRun if self._kind is EndOfRun else KeyboardInterrupt):
                self._times_it_went_on -= 1  # the loop has yet to come to it
        elif self.has_left and not self._times_it_went_on:  # a thread that the script's end waits for
            self._times_it_went_on = 1
            self._send("goes_on")

    def look_at_main_thread(self) -> None:
        """Says `leaving` once the main thread has come out of where the end, or an interrupt, found it."""
        if self._main_was_at is None:
            return
        if self.has_left or place_of_main_thread() != self._main_was_at:
            self._main_was_at = self._waken_at = None
            self._send("leaving")
        elif self._waken_at is not None and monotonic() > self._waken_at:
            self._waken_at = None
            if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
                raise_in_main_thread(None)
                interrupt_main_thread()

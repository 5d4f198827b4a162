"""One run in a runner: asks for it, watches it, and says how it ended. Knows nothing of traces and numbers."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import msgspec

from kinetoscope_core import log_file
from kinetoscope_core.errors import InterpreterError, Problem
from kinetoscope_core.run import patience
from kinetoscope_core.run.failure import failure_problem
from kinetoscope_core.run.outcome import DeviceFacts, Ending, Outcome, Progress
from kinetoscope_core.run.patience import State
from kinetoscope_core.run.process import RunnerProcess, why_no_hello
from kinetoscope_core.runner.request import RunRequest

PHASES = {
    "running": "running",
    "torch-imported": "torch imported",
    "starting-profiler": "starting the profiler",
    "measuring": "measuring",
    "own-profiler": "the script's own profiler measures",
    "saving": "saving the trace",
}
_MEASURING = ("measuring", "own-profiler")
_ENDED_FROM_INSIDE = ("enough", "budget")


class ColdStartNeeded(Exception):
    """A prepared interpreter is not what this script has to run in; the text says why. Nothing is to be shown of it.

    `is_lasting` where that is the script's own doing, so that it will be so again.
    """

    def __init__(self, why: str, *, is_lasting: bool) -> None:
        super().__init__(why)
        self.is_lasting = is_lasting


class Run:
    """One run of a script in a runner that was started. `cancel` may be called from any thread.

    The runner leaves `regionlog.json` and `trace-N.json` in `folder`.
    """

    def __init__(
        self, request: RunRequest, folder: Path, runner: RunnerProcess, *, on_progress: Callable[[Progress], None]
    ) -> None:
        self._request = request
        self._folder = folder
        self._runner = runner
        self._on_progress = on_progress
        self._messages: dict[str, dict[str, Any]] = {}
        self._problems: list[Problem] = []
        self._phases: set[str] = set()
        self._started = 0.0
        self._seconds_to_recording: float | None = None
        self._is_left = False
        self._is_saving = False
        self._has_unsaved = False
        self._save_asked_at: float | None = None
        self._is_cut = False
        self._is_abandoned = False
        self._news = threading.Event()
        self._cancels = 0
        self._asked_at: float | None = None
        self._gave_up: State | None = None
        self._reaches_script = True
        self._stop_reason: Literal["cancelled", "time-limit"] | None = None

    def cancel(self, *, by_terminal: bool = False) -> None:
        """Asks the run to end, keeping what it has measured. `by_terminal`: the script has heard of it already.

        A second call ends the script as soon as that is saved, whatever it does; a third one at once. Sets no event: a
        signal may come while this thread waits for one and has its lock.
        """
        self._reaches_script = by_terminal
        self._cancels += 1
        if not self._is_left:
            self._stop_reason = "cancelled"

    def abandon(self) -> None:
        """As `cancel`, by nobody who could call it again."""
        self._is_abandoned = True
        self.cancel()

    def wait(self, *, is_hasty: bool = False) -> Outcome:
        """Runs until all is measured and said; a script that was ended early may still be leaving: `finish` waits.

        `is_hasty`: so may one that came to its own end without an error, though its process may yet crash.
        Raises `InterpreterError` if the interpreter does not work or is too old, and `ColdStartNeeded`.
        """
        start = self._started = time.monotonic()
        if not self._runner.is_prepared:
            self._on_progress(Progress("starting Python"))
        self._runner.listen(self._note)
        self._runner.run(self._request, self._folder)
        is_leaving = False
        try:
            is_leaving = self._watch(is_hasty=is_hasty)
        finally:
            exit_code = 0 if is_leaving else self._runner.end()  # what the script left running goes with it
        self._is_left = True
        outcome = self._outcome(exit_code, time.monotonic() - start)
        log_file.note("the run came to an end (%s) after %.3f s", outcome.ending, outcome.seconds)
        return outcome

    def finish(self) -> None:
        """Waits for the script's end, and ends what it leaves; says so where that cut off what the script did."""
        self._is_left = True
        self._gave_up = None
        try:
            self._watch()
        finally:
            self._runner.end()
        if self._gave_up is not None:
            self._on_progress(Progress(f"the script was ended: {self._why_given_up()}"))

    # --- what the runner says

    def _note(self, message: dict[str, Any]) -> None:
        event: str = message["event"]
        if event == "phase":
            if message["phase"] in _MEASURING and self._seconds_to_recording is None:
                self._seconds_to_recording = time.monotonic() - self._started
            self._phases.add(message["phase"])
            self._is_saving = message["phase"] == "saving"
            self._on_progress(Progress(PHASES[message["phase"]]))
            return
        if event == "progress":
            phase = "measuring" if message["state"] == "recording" else "warming up"
            self._on_progress(
                Progress(phase, message["region"], message["calls"], message["complete"], message["seen"])
            )
            return
        if event == "problem":
            self._problems.append(Problem(message["code"], message["message"]))
            self._is_saving = False
            self._has_unsaved = False
            return
        if event == "terminated":  # by who may be about to cancel, too: it is no cancel that counts
            self._stop_reason = self._stop_reason or ("cancelled" if not self._is_left else None)
            self._reaches_script = False
        if event == "unsaved":
            self._has_unsaved = True
        if event == "unfit":
            self._runner.why_unfit = message["why"]
        if event in ("measured", "ended"):
            self._is_saving = False
            self._has_unsaved = False
        self._messages[event] = message
        self._news.set()

    # --- watching and ending

    def _watch(self, *, is_hasty: bool = False) -> bool:
        """Returns when the process has ended, or is to be ended since a patience or a person's is over.

        True where all is measured and the script is only leaving; for `finish` that is not enough.
        """
        state, since, is_told = self._state(), time.monotonic(), False
        while not self._runner.has_ended():
            self._news.wait(0.05)
            self._news.clear()
            now = time.monotonic()
            if state != (state_now := self._state()):
                log_file.note("the run is now %s, after %.3f s of %s", state_now, now - since, state)
                state, since, is_told = state_now, now, False
            if state == "unheard" and now - since > patience.CUT_AFTER_S:
                self._is_cut = True
            if not self._is_left and self._has_said_all(state, now - since, is_hasty=is_hasty):
                return True
            self._ask_to_stop(state, now)
            if self._is_over(state, now - since):
                return False
            if not is_told and now - since > patience.told_after_s(state, has_said_all="ended" in self._messages):
                is_told = True
                text = patience.text_of(state, is_seen=not self._is_abandoned)
                self._on_progress(Progress(text, is_leaving=self._is_left))
        return False

    def _state(self) -> State:
        messages = self._messages
        if self._runner.hello is None:
            return "starting"
        if "lost" in messages and "ended" not in messages:
            return "unheard" if self._asked_at is None and not self._is_finished() else "leaving"
        if self._is_saving:
            return "saving"
        if "goes_on" in messages:
            return "going on"
        if "leaving" in messages or ("ended" in messages and (self._is_left or "stopping" in messages)):
            return "leaving"
        if "stopping" in messages or self._is_finished():
            return "caught"
        return "running" if self._asked_at is None else "asked"

    def _has_said_all(self, state: State, for_s: float, *, is_hasty: bool) -> bool:
        is_ending = state in ("leaving", "caught", "going on")
        if "ended" in self._messages:
            return is_ending or self._is_finished() or (is_hasty and self._has_ended_well())
        measured = self._messages.get("measured")
        is_all = measured is not None and measured["why"] in (*_ENDED_FROM_INSIDE, "stopped")
        return is_all and is_ending and for_s > patience.SHOWN_AFTER_S

    def _ask_to_stop(self, state: State, now: float) -> None:
        """Tells the runner, once, that the run was cancelled or has lasted too long."""
        limit = self._request.time_limit_s
        if limit is not None and now - self._started > limit and self._stop_reason is None and not self._is_left:
            self._stop_reason = "time-limit"
        if self._stop_reason is None or self._asked_at is not None or state == "starting":
            return
        self._asked_at = now
        log_file.note("the script is to end: %s", self._stop_reason)
        # Ctrl-C in a shared terminal has reached the script already.
        interrupt = not (self._reaches_script and self._runner.shares_terminal and self._stop_reason == "cancelled")
        if state == "unheard":
            if interrupt:
                self._runner.interrupt()
        elif state in ("running", "saving"):
            self._runner.send({"do": "stop", "interrupt": interrupt})

    def _is_over(self, state: State, for_s: float) -> bool:
        """Whether the script is to be ended now, whatever it does."""
        if for_s > patience.most_s(state, is_seen=not self._is_abandoned):
            if self._waits_for_own_profiler():
                return False
            self._gave_up = state
            return True
        if state == "starting":  # nothing has run that could end in order
            return self._stop_reason is not None
        is_heard = state != "asked" or for_s > patience.HEARS_WITHIN_S
        is_wanted = self._cancels >= 3 or (self._cancels == 2 and state not in ("running", "saving") and is_heard)
        if is_wanted and self._cancels == 2 and self._waits_for_own_profiler():
            return False
        if is_wanted:
            self._gave_up = "running"
        return is_wanted

    def _waits_for_own_profiler(self) -> bool:
        """Whether the script's own profiler has yet to be stopped and saved; asks for that, once."""
        if not self._has_unsaved:
            return False
        if self._save_asked_at is None:
            self._save_asked_at = time.monotonic()
            self._runner.send({"do": "save"})
        return time.monotonic() - self._save_asked_at < patience.PATIENCE_S["caught"]

    def _why_given_up(self) -> str:
        if self._gave_up is None or self._gave_up == "running":
            return "by a second cancel"
        return patience.why_given_up(self._gave_up, is_seen=not self._is_abandoned)

    def _is_finished(self) -> bool:
        """All is measured and the script was ended from inside; what remains is its own clean-up."""
        measured = self._messages.get("measured")
        return measured is not None and measured["why"] in _ENDED_FROM_INSIDE

    def _has_ended_well(self) -> bool:
        ended = self._messages["ended"]
        return not ended["exit_code"] and ended["left_by"] is None and self._stop_reason is None

    # --- the outcome

    def _outcome(self, exit_code: int, seconds: float) -> Outcome:
        messages = self._messages
        ended = messages.get("ended")
        hello = self._runner.hello
        if self._stop_reason is None and self._runner.is_prepared:
            self._check_that_it_ran()
        if hello is None and self._stop_reason is None:
            if self._gave_up == "starting":
                seconds = patience.PATIENCE_S["starting"]
                raise InterpreterError(f"{self._runner.interpreter} did not start within {seconds:g} s and was ended.")
            raise InterpreterError(why_no_hello(self._runner.interpreter, exit_code))
        outcome = Outcome(self._ending(exit_code), exit_code, seconds, self._runner.interpreter)
        outcome.python = hello["python"] if hello else None
        outcome.ended_for = messages["measured"]["why"] if self._is_finished() else None
        outcome.is_prepared = self._runner.is_prepared
        outcome.torch_was_imported = "torch-imported" in self._phases
        is_lost = "lost" in messages and ended is None and not self._is_finished()
        self._is_cut |= is_lost and not exit_code and self._runner.has_ended()
        outcome.is_leaving = not self._runner.has_ended() and ended is None
        outcome.lost_while = self._lost_while()
        outcome.problems = list(self._problems)
        if self._gave_up not in (None, "running"):
            outcome.problems.append(Problem("script-ended", f"The script was ended: {self._why_given_up()}."))
        if self._is_cut:
            outcome.problems.append(Problem("line-cut", _CUT))
        if self._has_unsaved and not outcome.is_leaving:
            outcome.problems.append(Problem("own-recording-lost", _OWN_LOST))
        if self._runner.why_unfit and outcome.ending != "failed":  # else the failure says it
            outcome.problems.append(Problem("prepared-unfit", self._runner.why_unfit))
        outcome.seconds_to_recording = self._seconds_to_recording
        # The first: naming the devices is what initialises CUDA, if nothing else did.
        first = messages.get("measured") or ended
        if first is not None:
            outcome.device = msgspec.convert(first["device"], DeviceFacts)
        if ended is not None:
            outcome.left_by = ended["left_by"]
        if "failed" in messages:
            outcome.failure = failure_problem(messages["failed"], outcome.interpreter)
        if "exited" in messages:
            outcome.script_code = messages["exited"]["code"]
        elif outcome.left_by and ended is not None and ended["exit_code"]:
            outcome.script_code = ended["exit_code"]
        if "not_found" in messages:
            outcome.message = messages["not_found"]["message"]
        return outcome

    def _lost_while(self) -> Literal["recording", "saving"] | None:
        if self._is_saving:
            return "saving"
        if "ended" in self._messages or "measured" in self._messages or self._is_cut:
            return None
        return "recording" if self._seconds_to_recording is not None and not self._problems else None

    def _check_that_it_ran(self) -> None:
        """Raises `ColdStartNeeded` if what was prepared was not fit for the script, or was no more."""
        if "needs_cold" in self._messages:
            raise ColdStartNeeded(self._messages["needs_cold"]["why"], is_lasting=True)
        if "not_prepared" in self._messages:
            raise ColdStartNeeded(self._messages["not_prepared"]["why"], is_lasting=False)
        if "running" not in self._phases:
            raise ColdStartNeeded("the prepared interpreter has ended", is_lasting=False)

    def _ending(self, exit_code: int) -> Ending:
        if self._stop_reason is not None:
            return self._stop_reason
        endings: dict[str, Ending] = {"not_found": "not-found", "failed": "failed", "exited": "exited"}
        for event, ending in endings.items():
            if event in self._messages:
                return ending
        if self._is_finished():
            return "ended"
        ended = self._messages.get("ended")
        if ended is not None and ended["left_by"] and ended["exit_code"]:
            return "exited"
        return "killed" if exit_code < 0 else "exited" if exit_code else "ended"


_OWN_LOST = "What the script's own profiler recorded is lost: the script was ended before it could be saved."
_CUT = (
    "The script closed the connection to Kinetoscope and ran on unmeasured. os.closerange does that, and so do"
    " libraries that make daemons."
)

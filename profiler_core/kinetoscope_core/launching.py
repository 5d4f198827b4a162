"""One run in a runner: asks for it, watches it, and says how it ended. Knows nothing of traces and numbers."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from kinetoscope_core.errors import InterpreterError
from kinetoscope_core.outcomes import DeviceFacts, Ending, Failure, Frame, Outcome, Progress
from kinetoscope_core.runconfig import RunConfig
from kinetoscope_core.starting import RunnerProcess, why_no_hello

_MEASURING = ("measuring", "the script's own profiler measures")

GRACE_S = 5.0
"""For `finally` blocks and `atexit` functions of a script that was asked to end."""


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
        self, config: RunConfig, folder: Path, runner: RunnerProcess, *, on_progress: Callable[[Progress], None]
    ) -> None:
        self._config = config
        self._folder = folder
        self._runner = runner
        self._on_progress = on_progress
        self._messages: dict[str, dict[str, Any]] = {}
        self._problems: list[tuple[str, str]] = []
        self._phases: set[str] = set()
        self._started = 0.0
        self._seconds_to_window: float | None = None
        self._is_left = False
        self._news = threading.Event()
        self._stop_wanted = threading.Event()
        self._stop_reason: Literal["cancelled", "time-limit"] | None = None

    def cancel(self) -> None:
        """Asks the run to end, keeping what it has measured; a second call kills it."""
        if self._stop_reason == "cancelled":
            self._runner.kill()
        self._stop_reason = "cancelled"
        self._stop_wanted.set()  # and not the news: a signal may come while this thread waits for it and has its lock

    def wait(self, *, is_hasty: bool = False) -> Outcome:
        """Runs until all is measured and said; a script that was ended early may still be leaving: `finish` waits.

        `is_hasty`: so may one that came to its own end without an error, though its process may yet crash.
        Raises `InterpreterError` if the interpreter does not work or is too old, and `ColdStartNeeded`.
        """
        start = self._started = time.monotonic()
        if not self._runner.is_prepared:
            self._on_progress(Progress("starting Python"))
        self._runner.listen(self._note)
        self._runner.send(self._request())
        is_leaving = False
        try:
            is_leaving = self._watch(is_hasty=is_hasty)
        finally:
            exit_code = 0 if is_leaving else self._runner.end()  # what the script left running goes with it
        return self._outcome(exit_code, time.monotonic() - start)

    def finish(self) -> None:
        """Waits for the script's end, and ends what it leaves; on a busy machine torch takes seconds to go."""
        self._is_left = True
        try:
            self._watch()
        finally:
            self._runner.end()

    # --- what the runner says

    def _note(self, message: dict[str, Any]) -> None:
        event: str = message["event"]
        if event == "phase":
            if message["phase"] in _MEASURING and self._seconds_to_window is None:
                self._seconds_to_window = time.monotonic() - self._started
            self._phases.add(message["phase"])
            self._on_progress(Progress(message["phase"]))
            return
        if event == "progress":
            phase = "measuring" if message["state"] == "open" else "warming up"
            self._on_progress(
                Progress(phase, message["region"], message["passages"], message["complete"], message["seen"])
            )
            return
        if event == "problem":
            self._problems.append((message["code"], message["message"]))
            return
        self._messages[event] = message
        self._news.set()

    def _request(self) -> dict[str, Any]:
        config = self._config
        focus = config.focus
        return {
            "do": "run",
            "run_id": self._runner.id,
            "own_group": not self._runner.shares_terminal,
            "folder": str(self._folder),
            "module": config.script if config.is_module else None,
            "script": None if config.is_module else config.script,
            "arguments": list(config.arguments),
            "warmup": config.warmup,
            "active": config.active,
            "to_the_end": config.to_the_end,
            "budget_s": config.budget_s,
            "focus_name": focus.name if focus else "",
            "focus_places": [(s.file, s.first, s.last) for s in focus.places] if focus else [],
            "known_places": [(s.file, s.first, s.last) for s in config.known_places],
        }

    # --- watching and ending

    def _watch(self, *, is_hasty: bool = False) -> bool:
        """Returns when the process has ended, or was asked to and did not within the grace.

        True where it is only leaving, after a script that was ended early; for `finish` that is not enough.
        """
        limit = self._config.time_limit_s
        kill_at: float | None = None
        while not self._runner.has_ended():
            self._news.wait(0.05)
            self._news.clear()
            has_said_all = "ended" in self._messages and not self._is_left
            if has_said_all and (self._is_finished() or (is_hasty and self._has_ended_well())):
                return True
            now = time.monotonic()
            if limit is not None and now - self._started > limit and self._stop_reason is None:
                self._stop_reason = "time-limit"
                self._stop_wanted.set()
            if self._stop_wanted.is_set():
                if self._runner.hello is None:  # nothing has run that could end in order
                    return False
                self._stop_wanted.clear()
                self._ask_to_stop()
                kill_at = now + GRACE_S
            if kill_at is None and self._is_finished():
                kill_at = now + GRACE_S
            if kill_at is not None and now > kill_at:
                return False
        return False

    def _is_finished(self) -> bool:
        """All is measured and the script was ended from inside; what remains is its own clean-up."""
        measured = self._messages.get("measured")
        return measured is not None and measured["why"] in ("enough is measured", "the time budget is over")

    def _has_ended_well(self) -> bool:
        ended = self._messages["ended"]
        return not ended["exit_code"] and ended["left_by"] is None and self._stop_reason is None

    def _ask_to_stop(self) -> None:
        # Ctrl-C in a shared terminal has reached the script already.
        interrupt = not (self._runner.shares_terminal and self._stop_reason == "cancelled")
        self._runner.send({"do": "stop", "interrupt": interrupt})

    # --- the outcome

    def _outcome(self, exit_code: int, seconds: float) -> Outcome:
        messages = self._messages
        ended = messages.get("ended")
        hello = self._runner.hello
        if self._stop_reason is None and self._runner.is_prepared:
            self._check_that_it_ran()
        if hello is None and self._stop_reason is None:
            raise InterpreterError(why_no_hello(self._config.interpreter, exit_code))
        outcome = Outcome(self._ending(exit_code), exit_code, seconds, self._config.interpreter)
        outcome.python = hello["python"] if hello else None
        outcome.was_ended_early = self._is_finished()
        outcome.is_prepared = self._runner.is_prepared
        outcome.torch_was_imported = "torch imported" in self._phases
        outcome.problems = list(self._problems)
        outcome.seconds_to_window = self._seconds_to_window
        # The first: naming the devices is what initialises CUDA, if nothing else did.
        first = messages.get("measured") or ended
        if first is not None:
            outcome.device = _device_facts(first["device"])
        if ended is not None:
            outcome.left_by = ended["left_by"]
        if "failed" in messages:
            outcome.failure = _failure(messages["failed"])
        if "exited" in messages:
            outcome.script_code = messages["exited"]["code"]
        elif outcome.left_by and ended is not None and ended["exit_code"]:
            outcome.script_code = ended["exit_code"]
        if "not_found" in messages:
            outcome.message = messages["not_found"]["message"]
        return outcome

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


def _failure(message: dict[str, Any]) -> Failure:
    frames = tuple(Frame(file, line or 0, function) for file, line, function in message["frames"])
    return Failure(message["type"], message["message"], message["traceback"], frames)


def _device_facts(message: dict[str, Any]) -> DeviceFacts:
    if not message:
        return DeviceFacts()
    return DeviceFacts(
        message["torch"], message["cuda"], tuple(message["devices"]), message["no_cuda_because"], message["is_used"]
    )

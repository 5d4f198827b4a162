"""One run of a command: watches all of its processes that enter regions, and says how they ended."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import msgspec

from kinetoscope_core import log_file
from kinetoscope_core.errors import Problem
from kinetoscope_core.run import patience
from kinetoscope_core.run.commands.agreement import Agreement, Why
from kinetoscope_core.run.commands.process import CommandProcess, Member
from kinetoscope_core.run.failure import failure_problem
from kinetoscope_core.run.outcome import DeviceFacts, Ending, Outcome, ProcessOutcome, Progress
from kinetoscope_core.run.patience import State
from kinetoscope_core.run.run import PHASES
from kinetoscope_core.runner.request import RunRequest

_ENOUGH = ("enough", "budget")
_NO_COMMON_END: dict[Why, str] = {
    "absent": "not every rank entered a region",
    "gone": "some ranks had ended before the others had enough",
    "no common region": "no region was entered by all of them",
    "not reached": "not every rank came to the call that they were to end at",
}


class CommandRun:
    """As `run.Run`, of a command. `cancel` may be called from any thread."""

    def __init__(
        self, request: RunRequest, folder: Path, process: CommandProcess, *, on_progress: Callable[[Progress], None]
    ) -> None:
        self._request = request
        self._folder = folder
        self._process = process
        self._on_progress = on_progress
        self._agreement = Agreement(process.members, may_close=not (request.to_the_end or request.has_focus))
        self._news = threading.Event()
        self._told: set[str] = set()
        self._cancels = 0
        self._reaches_all = True
        self._is_abandoned = False
        self._stop_reason: Literal["cancelled", "time-limit"] | None = None
        self._stop_since: float | None = None
        self._is_interrupted = False
        self._asked: set[int] = set()
        self._broke: Member | None = None
        """The first process that failed or was lost; what follows in others is no news."""
        self._is_left = False
        self._gave_up: State | None = None
        self._started = 0.0

    def cancel(self, *, by_terminal: bool = False) -> None:
        """As `Run.cancel`: a second call ends the command as soon as what is measured is saved, a third one at once."""
        self._reaches_all = by_terminal
        self._cancels += 1
        if not self._is_left:
            self._stop_reason = "cancelled"

    def abandon(self) -> None:
        """As `cancel`, by nobody who could call it again."""
        self._is_abandoned = True
        self.cancel()

    def wait(self) -> Outcome:
        """Runs until all is measured and said; what was ended early may still be leaving: `finish` waits.

        Raises `UsageError` if there is no such command.
        """
        start = self._started = time.monotonic()
        self._on_progress(Progress("starting the command"))
        self._process.start(self._request, self._folder, self._hear)
        is_leaving = False
        try:
            is_leaving = self._watch()
        finally:
            self._process.admit_no_more()
            exit_code = 0 if is_leaving else self._process.end()
        self._is_left = True
        outcome = self._outcome(exit_code, time.monotonic() - start, is_leaving=is_leaving)
        log_file.note("the command came to an end (%s) after %.3f s", outcome.ending, outcome.seconds)
        return outcome

    def finish(self) -> None:
        """Waits for the command's end, and ends what it leaves."""
        self._is_left = True
        self._gave_up = None
        try:
            self._watch()
        finally:
            self._process.end()
        if self._gave_up is not None:
            self._on_progress(Progress(f"the command was ended: {self._why_given_up()}"))

    # --- what the processes say

    def _hear(self, member: Member, message: dict[str, Any]) -> None:
        event = message["event"]
        if event == "phase" and message["phase"] in PHASES:
            self._tell(PHASES[message["phase"]])
        elif event == "failed" or (event == "lost" and member.is_lost):
            self._broke = self._broke or member
        elif event == "enough":
            self._tell("enough is recorded in one process; waiting for the others")
        elif event == "progress" and member is self._process.members[0]:
            phase = "measuring" if message["state"] == "recording" else "warming up"
            counts = message["calls"], message["complete"], message["seen"]
            self._on_progress(Progress(phase, message["region"], *counts))
        if event != "progress":
            self._news.set()

    def _tell(self, phase: str) -> None:
        if phase not in self._told:
            self._told.add(phase)
            self._on_progress(Progress(phase))

    # --- watching and ending

    def _watch(self) -> bool:
        """Returns when the command has ended, or is to be ended; True where all is measured and it is only leaving."""
        state, since, is_told = self._state(), time.monotonic(), False
        while not self._process.has_ended():
            self._news.wait(0.05)
            self._news.clear()
            now = time.monotonic()
            if state != (state_now := self._state()):
                log_file.note("the command is now %s, after %.3f s of %s", state_now, now - since, state)
                state, since, is_told = state_now, now, False
            if not self._is_left and self._has_said_all(state, now - since):
                return True
            if self._stop_reason is None:
                self._agreement.step()
            self._ask_to_stop(now)
            if self._is_over(state, now - since):
                return False
            if not is_told and now - since > patience.told_after_s(state, has_said_all=False):
                is_told = True
                text = patience.text_of(state, is_seen=not self._is_abandoned)
                self._on_progress(Progress(text, is_leaving=self._is_left))
        return False

    @property
    def _live(self) -> list[Member]:
        return [each for each in self._process.members if not each.is_gone]

    def _state(self) -> State:
        live = self._live
        if any(each.is_saving for each in live):
            return "saving"
        if self._stop_since is not None:
            has_all = all("stopping" in each.said or "ended" in each.said for each in live)
            return "asked" if not has_all else "leaving" if live else "going on"
        if self._agreement.has_failed:
            return "going on"
        if any("goes_on" in each.said for each in live):
            return "going on"
        return "leaving" if live and all("leaving" in each.said for each in live) else "running"

    def _has_said_all(self, state: State, for_s: float) -> bool:
        has_all = all("measured" in each.said or "ended" in each.said for each in self._live)
        return state == "leaving" and has_all and for_s > patience.SHOWN_AFTER_S

    def _ask_to_stop(self, now: float) -> None:
        """Has every process save what it has; then the command is interrupted, as by Ctrl-C."""
        limit = self._request.time_limit_s
        if limit is not None and now - self._started > limit and self._stop_reason is None and not self._is_left:
            self._stop_reason = "time-limit"
        if self._stop_reason is None and not self._agreement.has_failed:
            return
        if self._stop_since is None:
            self._stop_since = now
            log_file.note("the command is to end: %s", self._stop_reason or self._agreement.has_failed)
        live = self._live
        for each in live:
            if id(each) not in self._asked:  # one may call only now
                self._asked.add(id(each))
                each.send({"do": "stop", "interrupt": False})
        have_answered = all("stopping" in each.said or "ended" in each.said for each in live)
        if not self._is_interrupted and (have_answered or now - self._stop_since > patience.PATIENCE_S["asked"]):
            self._is_interrupted = True
            if not (self._reaches_all and self._stop_reason == "cancelled" and self._process.shares_terminal):
                self._process.interrupt()

    def _is_over(self, state: State, for_s: float) -> bool:
        most_s = patience.most_s(state, is_seen=not self._is_abandoned)
        if state == "leaving" and self._stop_reason != "cancelled" and self._stop_since is not None:
            most_s = patience.PATIENCE_S["asked"]  # nobody is there to cancel it a second time
        if for_s > most_s:
            self._gave_up = state
            return True
        is_wanted = self._cancels >= 3 or (self._cancels == 2 and self._is_interrupted and state != "saving")
        if is_wanted:
            self._gave_up = "running"
        return is_wanted

    def _why_given_up(self) -> str:
        if self._gave_up is None or self._gave_up == "running":
            return "by a second cancel"
        return patience.why_given_up(self._gave_up, is_seen=not self._is_abandoned)

    # --- the outcome

    def _outcome(self, exit_code: int, seconds: float, *, is_leaving: bool) -> Outcome:
        found = sorted(
            (_process_outcome(each) for each in self._process.members),
            key=lambda each: (each.rank is None, each.rank or 0),
        )
        outcome = Outcome(self._ending(exit_code), exit_code, seconds, self._process.command[0], processes=tuple(found))
        outcome.is_leaving = is_leaving
        outcome.torch_was_imported = bool(found)
        if self._was_ended_from_inside():
            reasons = [each.ended_for for each in found if each.ended_for]
            outcome.ended_for = "budget" if "budget" in reasons else "enough"
        if outcome.ending == "exited":
            outcome.script_code = exit_code
            if self._broke is not None and "failed" in self._broke.said:
                outcome.ending = "failed"
                outcome.failure = _failure(self._broke, is_one=len(found) == 1)
        why = self._agreement.has_failed
        if why:
            text = f"The ranks could not end at one call, since {_NO_COMMON_END[why]}; they were ended as by Ctrl-C."
            outcome.problems.append(Problem("no-common-end", text))
        if self._gave_up not in (None, "running"):
            outcome.problems.append(Problem("script-ended", f"The command was ended: {self._why_given_up()}."))
        return outcome

    def _was_ended_from_inside(self) -> bool:
        return bool(self._agreement.has_failed) or any("leaving" in each.said for each in self._process.members)

    def _ending(self, exit_code: int) -> Ending:
        if self._stop_reason is not None:
            return self._stop_reason
        # How a launcher takes the end that all its ranks came to says nothing.
        if self._was_ended_from_inside() or exit_code == 0:
            return "ended"
        return "killed" if exit_code < 0 else "exited"


def _failure(member: Member, *, is_one: bool) -> Problem:
    """Why a process failed, with its name if there are others."""
    failure = failure_problem(member.said["failed"], member.hello["executable"])
    who = "The script" if is_one else member.name.capitalize()
    return replace(failure, message=failure.message.replace("The script", who, 1))


def _process_outcome(member: Member) -> ProcessOutcome:
    hello, said = member.hello, member.said
    first = said.get("measured") or said.get("ended")
    measured = said.get("measured", {}).get("why")
    return ProcessOutcome(
        name=member.name,
        folder=Path(hello["folder"]),
        pid=hello["pid"],
        host=hello["host"],
        rank=hello["rank"],
        local_rank=hello["local_rank"],
        world_size=hello["world_size"],
        interpreter=hello["executable"],
        python=hello["python"],
        device=DeviceFacts() if first is None else msgspec.convert(first["device"], DeviceFacts),
        ended_for=measured if measured in _ENOUGH else None,
        is_lost=member.is_lost,
        while_recording=first is None and not member.problems,
        problems=tuple(Problem(each["code"], each["message"]) for each in member.problems),
    )

"""What is measured in one process: puts the log, the schedule, the profilers and the end together."""

import sys
import threading
import warnings
from os import getpid  # by its name, as all that is called within a region: the script may patch the module's
from time import monotonic
from typing import AbstractSet, Any, Dict, Optional

from . import channel as channels
from . import processes
from .ending import children
from .ending.end import End
from .ending.interrupts import call_in_main_thread, interrupt_main_thread, interrupts_deferred
from .ending.sigterm import Sigterm
from .imports import on_import
from .own_files import loaded_files
from .prewarm.imported_ahead import ImportedAhead
from .profiler.of_the_script import ScriptProfilers, ScriptRecording
from .profiler.recording import Profiler, device_facts, set_profiler_enabled
from .regions.log import NamedRegion, RegionLogger, recording_values
from .regions.loops import comes_again
from .regions.modules import ModuleRegions
from .regions.other_entries import hook_other_entries
from .regions.schedule import Schedule
from .regions.steps import Steps
from .regions.unmarked import Unmarked
from .report import Report
from .request import RunRequest

WATCH_SECONDS = 0.25


class Session:
    """The state of a run: `waiting`, `recording`, `recorded`, or `aside` for the script's own profiler."""

    _sigterm: Sigterm
    _watching: threading.Thread

    def __init__(
        self,
        channel: channels.Channel,
        message: Dict[str, Any],
        loaded_by_python: AbstractSet[str],
        ahead: Optional[ImportedAhead] = None,
        end: Optional[End] = None,
    ) -> None:
        self._ahead = ahead
        self._channel = channel
        self._loaded_by_python = loaded_by_python
        self._request = RunRequest.of(message["request"])
        self._run_id: str = message["run_id"]
        self._own_group: bool = message["own_group"]
        self._report = Report(channel, message["folder"])
        self._schedule = Schedule(self._request)
        self._end = end or End(channel.send)
        self._unmarked = Unmarked(self._request, self._start_recording)
        begin_steps = lambda: self._take_over(self._unmarked) or self._start_recording()  # noqa: E731
        self._steps = Steps(self._request, begin_steps, self._stop_recording, self._is_over_budget, self._end)
        self._log = RegionLogger(self._on_enter, self._on_exit, self._steps)
        choice = self._request.modules
        self._modules = None if choice is None else ModuleRegions(self._log, choice)
        self._profiler = Profiler(message["folder"])
        self._script_profilers = ScriptProfilers(
            lambda profile: self._is_child() or self._profiler.is_ours(profile),
            self._step_aside,
            self._begin_own_profiler,
            self._end_own_profiler,
            self._report.new_trace_path,
            self._report.trace_not_saved,
        )
        self._pid = getpid()
        self._state = "waiting"
        self._lock = threading.RLock()
        self._our_recording: Optional[Dict[str, Any]] = None
        self._has_torch = False
        self._has_other_entries = False
        self._recording_since = 0.0

    def finish(self, exit_code: Any = None, left_by: Optional[str] = None) -> None:
        """Closes what is open, saves all that was measured, and says so."""
        if exit_code is not None and not isinstance(exit_code, int):
            exit_code = 1
        self._stop_recording("the script ended")
        if self._script_profilers.has_unsaved:
            self._channel.send("phase", phase="saving")
        self._script_profilers.finish()
        self._save()
        self._channel.send("ended", exit_code=exit_code, left_by=left_by, device=device_facts())

    # --- hooks

    def _move_in(self) -> None:
        children.keep_before_leaving(self._is_child, self.finish)
        # Our watching thread must not be the reason for this warning in a script that turns warnings into errors.
        if sys.version_info >= (3, 12):
            warnings.filterwarnings("ignore", message=r".*use of fork\(\) may lead", category=DeprecationWarning)

    def _watch_imports(self) -> None:
        watch = on_import if self._ahead is None else self._ahead.stand_by
        of_modules = {} if self._modules is None else self._modules.hooks()
        watch(
            {
                "torch.autograd.profiler": self._hook_torch,
                "torch.profiler.profiler": self._hook_torch_later,
                "torch": self._unmarked.note_import,
                **of_modules,
            }
        )

    def _join(self) -> None:
        """There will be something to say. Where there is nobody to say it to, this is a child from then on."""

    def _is_child(self) -> bool:
        """In a forked child, nothing is measured and nothing said."""
        return getpid() != self._pid

    def _hook_torch(self, module: Any) -> None:
        self._log.hook(module)
        self._script_profilers.hook(module)
        # Some code makes regions only while this is set; it is as soon as we record, which begins at a region.
        set_profiler_enabled(self._state in ("waiting", "recording"))
        if not self._has_torch:
            self._has_torch = True
            self._channel.send("phase", phase="torch-imported")
            self._end.repeat_if_swallowed()

    def _hook_torch_later(self, module: Any) -> None:
        """What needs more of torch than there is when its first part has been imported."""
        self._script_profilers.hook_front(module)
        if not self._has_other_entries:  # they are not of the module, which a script may reload
            self._has_other_entries = True
            hook_other_entries(self._log, lambda: self._state == "recording")

    def _on_enter(self, region: NamedRegion, call: int) -> None:
        self._end.note_entry(region.place)
        is_free = self._take_over(self._steps, self._unmarked) or self._state == "waiting"
        if is_free and self._schedule.should_start(region, call, comes_again):
            self._start_recording()
        if not self._request.has_focus:
            self._schedule.note_entry(region)

    def _on_exit(self, region: NamedRegion, has_failed: bool) -> None:
        if self._state == "recording":
            self._schedule.note_exit(region, is_inside=self._log.open_calls > 0)
        if self._state in ("waiting", "recording"):
            self._report.progress(region, self._state, self._schedule.describe())
        is_full, is_over_budget = self._schedule.is_full, self._is_over_budget()
        if is_full and not is_over_budget and self._modules and self._modules.end_later(self._end_recording):
            return
        if is_full or (is_over_budget and self._only_long_ones_are_open()):
            self._end_recording("enough" if is_full else "budget", is_raised_here=not has_failed)

    def _end_recording(self, why: str = "enough", *, is_raised_here: bool = True) -> None:
        if self._state == "recording":
            self._end.begin_after(self._stop_recording, why, is_raised_here=is_raised_here)

    def _take_over(self, *kinds: Any) -> bool:
        """Whether what is recorded until now was of one of these. They give way, and the budget begins anew."""
        if not any(each.give_way() for each in kinds):
            return False
        self._recording_since = monotonic()
        return True

    def _start_recording(self) -> bool:
        with interrupts_deferred(), self._lock:
            if self._state != "waiting" or self._is_child() or not self._profiler.can_start_here():
                return False
            self._join()
            if self._is_child():
                return False
            self._channel.send("phase", phase="starting-profiler")
            try:
                self._profiler.start()
            except Exception as error:
                self._state = "recorded"
                message = f"torch.profiler could not be started: {type(error).__name__}: {error}"
                self._channel.send("problem", code="profiler-not-started", message=message)
                return False
            self._log.clear()
            self._log.is_recording = True
            self._recording_since = monotonic()
            self._state = "recording"
        self._channel.send("phase", phase="measuring")
        return True

    def _only_long_ones_are_open(self) -> bool:
        """Whether no call is open that may soon end: one around the whole training is not waited for."""
        return not self._log.open_calls or self._log.are_open_for(self._request.budget_s)

    def _is_over_budget(self, times: int = 1) -> bool:
        return not self._request.to_the_end and monotonic() - self._recording_since > times * self._request.budget_s

    def _stop_recording(self, why: Optional[str]) -> None:
        """Stops our profiler, saves its trace and the log, and says so, if that is why. Nothing unless it records."""
        with interrupts_deferred(), self._lock:
            if self._state != "recording" or not self._profiler.can_stop_here() or self._is_child():
                return
            self._state = "recorded"
            self._steps.note_stop()
            self._channel.send("phase", phase="saving")
            path = self._report.new_trace_path()
            still_open = self._log.open_regions()
            try:
                # Other threads go on while it stops, and what the trace holds of them must be in the log too.
                self._profiler.stop_and_export(path)
                self._log.is_recording = False
            except Exception as error:
                self._report.trace_not_saved(error)
                return
            records_cuda, entries = self._profiler.records_cuda, self._log.entries()
            self._our_recording = recording_values(path, False, records_cuda, entries, still_open)
            self._save()
        if why is not None:
            self._channel.send("measured", why=why, device=device_facts())

    # --- the script's own profilers

    def _step_aside(self) -> None:
        self._join()
        if self._is_child():
            return
        self._stop_recording("the script starts a profiler of its own")
        if self._state != "aside":
            if self._state == "waiting":
                set_profiler_enabled(False)
            self._state = "aside"
            self._watching.join(2 * WATCH_SECONDS)  # else its frames would be in what the script records of stacks
            self._channel.send("phase", phase="own-profiler")

    def _begin_own_profiler(self) -> None:
        self._log.clear()
        self._log.is_recording = True

    def _end_own_profiler(self, recording: ScriptRecording) -> None:
        self._log.is_recording = False
        recording.entries = self._log.entries()
        recording.still_open = self._log.open_regions()
        if self._end.was_stopped:  # a second cancel may not wait for what the script does now
            self._keep_own_recordings()

    def _keep_own_recordings(self) -> None:
        """Saves what the script's own profiler has recorded, once the run was stopped."""
        with interrupts_deferred(), self._lock:
            if self._script_profilers.has_unsaved:
                self._channel.send("phase", phase="saving")
                self._script_profilers.finish_now()
            if self._script_profilers.is_recording:  # the script is just stopping it, which leads here again
                return
            self._save()
        self._channel.send("measured", why="stopped", device=device_facts())

    def _save(self) -> None:
        """Writes the region log, whole or not at all; called whenever there is more to keep."""
        values = {
            **self._log.as_values(),
            "recordings": [*filter(None, [self._our_recording]), *self._script_profilers.logged()],
            "failures": self._profiler.failures,
            "script_recordings": len(self._script_profilers.recordings),
            "was_aside": self._state == "aside",
            "was_quietened": self._profiler.was_quietened,
            "has_children": not self._log.regions and children.have_worked(self._run_id),
            "files": loaded_files(),
            "modules": self._modules and self._modules.as_values(),
        }
        self._report.save(values)

    def _begin_to_watch(self, _heard: object = None) -> None:
        self._watching = threading.Thread(target=self._watch, name="kinetoscope", daemon=True)
        self._watching.start()
        if _heard is not None:
            raise SystemExit  # the end of the thread that has heard something

    def _watch(self) -> None:
        """Runs on a thread of its own until the run ends: obeys, watches the budget, and ends all with its starter."""
        while True:
            try:
                message = self._channel.receive(WATCH_SECONDS)
            except EOFError:
                if getpid() == self._pid:
                    processes.end_with_all(self._run_id, self._own_group)
                return
            except channels.LineCut:
                self._go_on_unmeasured()
                self._end_with_starter()
                return
            if self._sigterm.has_come():
                self._when_terminated()
            if message is not None:
                self._obey(message)
            is_idle = self._state == "aside" and not (self._end.was_stopped or self._end.is_over)
            if is_idle and self._channel.when_heard(self._begin_to_watch, WATCH_SECONDS, self._sigterm.descriptor):
                return
            self._end.look_at_main_thread()
            self._watch_budget()

    def _watch_budget(self) -> None:
        is_unmarked = self._unmarked.is_recorded()
        if is_unmarked and self._unmarked.imports_still():
            self._recording_since = monotonic()
        # A region that has been open for twice the budget will not come to its end in time.
        if self._state != "recording" or not self._is_over_budget(times=1 if is_unmarked else 2):
            return
        if is_unmarked and children.have_worked(self._run_id):
            self._stop_recording(None)  # the script may be there to start others, and goes on
            return
        self._end.begin_after(self._stop_recording, "budget", is_raised_here=False)

    def _when_terminated(self) -> None:
        self._channel.send("terminated")

    def _obey(self, message: Dict[str, Any]) -> None:
        if message["do"] == "stop":
            self._stop(message["interrupt"])
        elif message["do"] == "save":
            call_in_main_thread(self._keep_own_recordings)
            interrupt_main_thread()  # out of a call that blocks

    def _stop(self, interrupt: bool) -> None:
        """Saves what is measured, then interrupts the script, unless it is leaving already or the terminal did."""
        if not self._end.is_over:
            self._end.was_stopped = True
            self._stop_recording("stopped")
            if self._state == "waiting":
                self._state = "recorded"
            if self._script_profilers.is_recording:
                self._channel.send("unsaved")
            elif self._script_profilers.has_unsaved:
                self._keep_own_recordings()
        self._channel.send("stopping")  # at last: from here on, a second cancel ends the script
        if self._end.was_stopped and interrupt:
            self._end.interrupt()
        elif self._end.was_stopped:
            self._channel.send("leaving")

    def _go_on_unmeasured(self) -> None:
        """We are heard no more: keeps what is measured, and leaves the script alone."""
        self._sigterm.let_go()
        self._stop_recording("line-cut")
        if self._state == "waiting":
            self._state = "recorded"

    def _end_with_starter(self) -> None:
        processes.end_with_starter(self._run_id, self._own_group)

"""The script's own profilers: while one records, ours is not on, and its traces are what we measure.

Two profilers at once end in an error or a crash, and Kineto saves a trace once (facts/kineto.md). So the script's own
export comes first and we copy its file; what it does not export, we save when it can no longer want to.
"""

import functools
import os
import shutil
import threading
import weakref
from types import ModuleType
from typing import Any, Callable, Dict, List, Optional

from ..regions.log import recording_values


class ScriptRecording:
    """One recording of a profile of the script: from starting a trace to stopping it."""

    def __init__(self, profile: Any) -> None:
        self.profile = weakref.ref(profile)
        self.running = profile
        """Held while it records: nothing else may hold it, and torch crashes at exit if it is never stopped."""
        self.results: Any = None
        self.path: Optional[str] = None
        self.entries: Any = None
        self.still_open: Any = None
        activities = [str(activity) for activity in getattr(profile, "kineto_activities", ())]
        self.records_cuda = any(name.endswith("CUDA") for name in activities)


class ScriptProfilers:
    """Watches torch's profile classes.

    `ignores(profile)` holds for ours, and for all in forked children. `step_aside()` is called before a profile of the
    script prepares or starts; `begin()` and `end(recording)` when one records and has recorded; `new_path()` names the
    file for the next trace, and `not_kept(error)` is told when there is no copy of one.
    """

    def __init__(
        self,
        ignores: Callable[[Any], bool],
        step_aside: Callable[[], None],
        begin: Callable[[], None],
        end: Callable[[ScriptRecording], None],
        new_path: Callable[[], str],
        not_kept: Callable[[Exception], None],
    ) -> None:
        self.recordings: List[ScriptRecording] = []
        self._ignores = ignores
        self._step_aside = step_aside
        self._begin = begin
        self._end = end
        self._new_path = new_path
        self._not_kept = not_kept
        self._current: Optional[ScriptRecording] = None
        self._is_stopping = False
        self._lock = threading.RLock()

    def hook(self, autograd_profiler: ModuleType) -> None:
        """Patches `torch.autograd.profiler.profile`, through which every profile of Python passes, in place."""
        profile: Any = autograd_profiler.profile  # pyright: ignore[reportUnknownMemberType]
        _wrap(profile, "_prepare_trace", before=self._before_prepare)
        _wrap(profile, "_start_trace", before=self._before_prepare, after=self._after_start)
        _wrap(profile, "__exit__", before=self._before_stop, after=self._after_stop)
        for name in ("emit_nvtx", "emit_itt"):
            if hasattr(autograd_profiler, name):
                _wrap(getattr(autograd_profiler, name), "__enter__", before=self._before_prepare)
        self._hook_export(profile)

    def hook_front(self, profiler_profiler: ModuleType) -> None:
        """Patches `torch.profiler.profile`: started, it may wait for its schedule; ours must not begin then."""
        for name in ("_KinetoProfile", "profile"):
            _wrap(getattr(profiler_profiler, name), "start", before=self._before_prepare)

    def logged(self) -> List[Dict[str, Any]]:
        """What the region log says of each recording that has a trace."""
        return [
            recording_values(each.path, True, each.records_cuda, each.entries, each.still_open)
            for each in self.recordings
            if each.path is not None
        ]

    @property
    def is_recording(self) -> bool:
        return self._current is not None

    @property
    def has_unsaved(self) -> bool:
        """Whether `finish` has a trace to save."""
        return self.is_recording or any(each.path is None and each.results is not None for each in self.recordings)

    def flush(self) -> None:
        """Saves what the script recorded and has not exported. Any thread may."""
        with self._lock:
            for recording in self.recordings:
                if recording.path is None and recording.results is not None:
                    path = self._new_path()
                    try:
                        recording.results.save(path)
                    except RuntimeError as error:  # saved by the script in a way that we do not see
                        self._not_kept(error)
                    if os.path.exists(path):
                        recording.path = path
                recording.results = None

    def finish(self) -> None:
        """At the end of the script: stops a profile that still records (else torch crashes at exit), and saves."""
        current = self._current
        if current is not None:
            current.running.__exit__(None, None, None)
        self.flush()

    def finish_now(self) -> None:
        """The same before its end, on the main thread; what the script is just stopping is left to it."""
        if not self._is_stopping:
            self.finish()

    def _before_prepare(self, profile: Any) -> None:
        if not self._ignores(profile):
            self._step_aside()
            if self._current is None:
                self.flush()

    def _after_start(self, profile: Any) -> None:
        if not self._ignores(profile):
            self._current = ScriptRecording(profile)
            self._begin()

    def _before_stop(self, profile: Any) -> None:
        self._is_stopping = self._current is not None and self._current.running is profile

    def _after_stop(self, profile: Any) -> None:
        self._is_stopping = False
        recording = self._current
        if recording is None or recording.profile() is not profile:
            return
        self._current = recording.running = None
        recording.results = profile.kineto_results
        self.recordings.append(recording)
        self._end(recording)

    def _hook_export(self, profile: Any) -> None:
        original = profile.export_chrome_trace

        @functools.wraps(original)
        def export_chrome_trace(profile: Any, path: Any, *arguments: Any, **options: Any) -> Any:
            with self._lock:
                return self._export(functools.partial(original, profile), profile, path, *arguments, **options)

        profile.export_chrome_trace = export_chrome_trace

    def _export(self, export: Any, profile: Any, path: Any, *arguments: Any, **options: Any) -> Any:
        recording = next((r for r in reversed(self.recordings) if r.profile() is profile), None)
        if recording is not None and recording.path is not None and recording.results is None:
            # We have saved it already, and torch can do so only once.
            shutil.copyfile(recording.path, path)
            return None
        result = export(path, *arguments, **options)
        if recording is not None and recording.path is None and os.path.exists(path):
            copy = self._new_path()
            try:
                shutil.copyfile(path, copy)
                recording.path = copy
            except OSError as error:  # the script has its file all the same
                self._not_kept(error)
        return result


def _wrap(
    owner: Any,
    name: str,
    before: Optional[Callable[[Any], None]] = None,
    after: Optional[Callable[[Any], None]] = None,
) -> None:
    original = owner.__dict__.get(name)
    if original is None:
        return

    @functools.wraps(original)
    def wrapped(self: Any, *arguments: Any, **options: Any) -> Any:
        if before is not None:
            before(self)
        result = original(self, *arguments, **options)
        if after is not None:
            after(self)
        return result

    setattr(owner, name, wrapped)

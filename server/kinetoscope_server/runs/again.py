"""What a click on Profile runs: again what gave the times that are shown there; else what was run last for the file in
this session; else what the settings say. A setting that was changed since then goes before what was run with it.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from kinetoscope_core.source.regions import Region
from kinetoscope_server.results.by_file import Placed
from kinetoscope_server.results.shown import Shown
from kinetoscope_server.runs.command import Command, is_executable

_MOST_RECENT: Final = 50
_OF_SETTINGS: Final = ("script", "is_module", "arguments", "environment", "interpreter", "folder", "env_file")


class Commands:
    """What was run: in this session, and what gave the results that are known. Runs of this session have numbers; those
    before it have 0. So it is known which settings of a file were changed after a run.
    """

    def __init__(self) -> None:
        self._runs = 0
        self._last: dict[str, tuple[Command, int]] = {}
        self._numbers: dict[str, int] = {}
        self._settings: dict[str, Command] = {}
        self._changed: defaultdict[str, dict[str, int]] = defaultdict(dict)
        self._recent: list[Command] = []
        self.devices: dict[str, str] = {}
        """What was measured with each interpreter, by its path."""

    @property
    def recent(self) -> Sequence[Command]:
        """What was run, the newest last."""
        return self._recent

    def begins(self, path: str, command: Command) -> None:
        """Notes a run for a file."""
        self._runs += 1
        self._last[path] = command, self._runs
        self._note(command)

    def has_result(self, shown: Shown) -> None:
        """Notes what the last run has come to."""
        self._numbers[shown.run] = self._runs
        self._note_device(shown)

    def recalled(self, shown: Shown) -> None:
        """Notes a result of an earlier session, or of the command; the oldest first."""
        if shown.result.run is not None:
            self._note(Command.of_run(shown.result.run))
            self._note_device(shown)

    def reached_nothing(self, path: str) -> None:
        """Forgets the last run for a file."""
        self._last.pop(path, None)

    def again(self, path: str, shown: Shown | None, now: Command, *, prefers_last: bool = False) -> Command | None:
        """What was run for a file, `None` if nothing was. `shown` has the times there, and the settings say `now`."""
        self._note_settings(path, now)
        last = self._last.get(path)
        if shown is not None and shown.result.run is not None and not (prefers_last and last is not None):
            return self._with_changes(path, Command.of_run(shown.result.run), self._numbers.get(shown.run, 0), now)
        return None if last is None else self._with_changes(path, *last, now)

    def _with_changes(self, path: str, ran: Command, number: int, now: Command) -> Command:
        """What ran, with those of the settings that were changed since."""
        changed = {name: getattr(now, name) for name, after in self._changed[path].items() if after >= number}
        if "script" in changed or "is_module" in changed:
            return now
        # What is set may have been set since, and an editor may have started us anew for it.
        if (number == 0 and now.interpreter is not None) or not is_executable(ran.interpreter):
            changed["interpreter"] = now.interpreter
        found = replace(ran, **changed)
        return found if found.is_there else now

    def _note_settings(self, path: str, now: Command) -> None:
        before = self._settings.get(path, now)
        if before != now:
            names = [name for name in _OF_SETTINGS if getattr(before, name) != getattr(now, name)]
            self._changed[path] |= dict.fromkeys(names, self._runs)
        self._settings[path] = now

    def _note_device(self, shown: Shown) -> None:
        run, device = shown.result.run, shown.result.device
        if run is not None and device is not None:
            self.devices[run.interpreter] = device.name

    def _note(self, command: Command) -> None:
        self._recent = [*(each for each in self._recent[-_MOST_RECENT:] if each != command), command]


def gave_the_times(placed: Sequence[Placed], region: Region | None, shown: Shown | None) -> Shown | None:
    """The result of a run that is shown at the region; else the one that its file shows, else the newest there."""
    runs = [each.measured.shown for each in placed if each.measured.shown.result.run is not None]
    here = [each.measured.shown for each in placed if region is not None and each.region.line == region.line]
    found = next((each for each in here if each in runs), shown if shown is not None and shown.result.run else None)
    return found or max(runs, key=lambda each: each.result.run.started if each.result.run else "", default=None)

"""Source files as they were when a run began: the regions that stand in them, and their prints for later placing.

A file that was written since is not what ran: nothing is said of its lines beyond what the run itself noted.
"""

import itertools
import os
from collections import defaultdict, deque
from collections.abc import Container, Iterable
from contextlib import suppress
from pathlib import Path

from kinetoscope_core.source.placement import Fingerprint, fingerprints_of
from kinetoscope_core.source.placement.fingerprints import file_digest
from kinetoscope_core.source.regions import Region, SourceRegions
from kinetoscope_core.source.regions.which_region import RegionsByName, shown_at
from kinetoscope_core.source.suppressions import ignored_at, ignored_on_top_of

_MOST_FILES = 2_000
_NOT_THE_USER_S = (".", "__pycache__", "node_modules")
_Mark = tuple[int, int]


class Sources:
    """Reads each file once, as it was when this was made.

    Whether a file was written since is told by its content where it was read before the run; by its time and size where
    it lies in or below `folder`, the script's; else by whether its time is after `began`, in seconds since the epoch,
    which a file server with a clock of its own may get wrong.
    """

    def __init__(self, began: float = float("inf"), folder: Path | None = None) -> None:
        self._began = began
        self._marks = {} if folder is None else _marks_below(folder)
        self._read: dict[str, SourceRegions | None] = {}
        self._by_name: dict[str, RegionsByName] = {}
        self.changed: set[str] = set()

    def regions_of(self, file: str) -> list[Region]:
        """The regions of a file, none if it cannot be read or changed since the run began."""
        source = self.source_of(file)
        return [] if source is None else list(source.regions)

    def line_of(self, file: str, line: int, name: str) -> int:
        """Where a region that was entered at `line` is shown: at its `record_function` call."""
        region = self.region_at(file, line, name)
        return line if region is None else region.line

    def prints_of(self, file: str, measured: Iterable[tuple[int, str]] = ()) -> tuple[Fingerprint, ...]:
        """How the regions of a file stood, and the lines (from 1) of the `measured` names that are none of theirs; none
        if it cannot be read or changed since the run began.
        """
        source = self.source_of(file)
        if source is None:
            return ()
        known: defaultdict[int, list[Region]] = defaultdict(list)
        for region in source.regions:
            known[region.line].append(region)
        unknown = {line for line, name in measured if shown_at(known[line], line, name) is None}
        return tuple(fingerprints_of(source, unknown))

    def text_of(self, file: str) -> bytes:
        """The text of a file, empty if it cannot be read or changed since the run began."""
        source = self.source_of(file)
        return b"" if source is None else source.data

    def digests_of(self, files: Iterable[str]) -> dict[str, str]:
        """The digests of files, `""` for one that cannot be read or changed since the run began."""
        return {file: self._digest(Path(file)) for file in files}

    def ignored_at(self, file: str, line: int, name: str) -> Container[str]:
        """The codes of findings that comments at a region switch off."""
        source, region = self.source_of(file), self.entered_at(file, line, name)
        return () if source is None or region is None else ignored_at(region, source)

    def ignored_on_top_of(self, file: str) -> Container[str]:
        """The codes of findings of the run that a comment on the file's first line switches off."""
        source = self.source_of(file)
        return () if source is None else ignored_on_top_of(source)

    def region_at(self, file: str, line: int, name: str) -> Region | None:
        """The region that was entered at `line` under `name`."""
        if file not in self._by_name:
            self._by_name[file] = RegionsByName(self.regions_of(file))
        return self._by_name[file].entered_at(line, name)

    def entered_at(self, file: str, line: int, name: str) -> Region | None:
        """The same; where the source tells of none, the statement that entered it by a helper."""
        source = self.source_of(file)
        return self.region_at(file, line, name) or (source.statement_at(line - 1) if source else None)

    def source_of(self, file: str) -> SourceRegions | None:
        """A file with its regions; None if it cannot be read or changed since the run began."""
        if file not in self._read:
            self._read[file] = self._new_source(Path(file))
        return self._read[file]

    def _new_source(self, path: Path) -> SourceRegions | None:
        try:
            if self._has_changed(path):
                self.changed.add(str(path))
                return None
            return SourceRegions(path.read_bytes())
        except OSError:
            return None

    def _digest(self, path: Path) -> str:
        try:
            return "" if self._has_changed(path) else file_digest(path.read_bytes())
        except OSError:
            return ""

    def _has_changed(self, path: Path) -> bool:
        status = path.stat()
        mark = self._marks.get(os.path.realpath(path))
        return status.st_mtime > self._began if mark is None else mark != _mark_of(status)


def _marks_below(folder: Path) -> dict[str, _Mark]:
    """Time and size of the Python files in the folder and those below it, the nearest ones first."""
    marks: dict[str, _Mark] = {}
    waiting = deque([os.path.realpath(folder)])
    seen = 0
    while waiting and seen < _MOST_FILES:
        with suppress(OSError), os.scandir(waiting.popleft()) as entries:
            for entry in itertools.islice(entries, _MOST_FILES):
                seen += 1
                if entry.name.endswith(".py"):
                    marks[os.path.realpath(entry.path)] = _mark_of(entry.stat())
                elif entry.is_dir(follow_symlinks=False) and not entry.name.startswith(_NOT_THE_USER_S):
                    waiting.append(entry.path)
    return marks


def _mark_of(status: os.stat_result) -> _Mark:
    return status.st_mtime_ns, status.st_size

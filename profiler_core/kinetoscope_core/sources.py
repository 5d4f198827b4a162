"""Source files as they were when a run began: the regions that stand in them, and their prints for later placing.

A file that was written since is not what ran: nothing is said of its lines beyond what the run itself noted.
"""

from collections import defaultdict
from collections.abc import Container, Iterable
from pathlib import Path

from kinetoscope_core.findings.suppressing import ignored_at, ignored_codes
from kinetoscope_core.placing import RegionPrint, region_prints
from kinetoscope_core.regions import Region, SourceRegions, region_at


class Sources:
    """Reads each file once. `began` is the time in seconds since the epoch after which a file must not have changed."""

    def __init__(self, began: float = float("inf")) -> None:
        self._began = began
        self._read: dict[str, SourceRegions | None] = {}
        self.changed: set[str] = set()

    def regions_of(self, file: str) -> list[Region]:
        """The regions of a file, none if it cannot be read or changed since the run began."""
        source = self._source(file)
        return [] if source is None else list(source.regions)

    def line_of(self, file: str, line: int, name: str) -> int:
        """Where a region that was entered at `line` is shown: at its `record_function` call."""
        region = region_at(self.regions_of(file), line, name)
        return line if region is None else region.line

    def prints_of(self, file: str, measured: Iterable[tuple[int, str]] = ()) -> tuple[RegionPrint, ...]:
        """How the regions of a file stood, and the lines (from 1) of the `measured` names that are none of theirs; none
        if it cannot be read or changed since the run began.
        """
        source = self._source(file)
        if source is None:
            return ()
        known: defaultdict[int, list[Region]] = defaultdict(list)
        for region in source.regions:
            known[region.line].append(region)
        unknown = {line for line, name in measured if not any(each.matches(name) for each in known[line])}
        return tuple(region_prints(source, unknown))

    def ignored_at(self, file: str, line: int, name: str) -> Container[str]:
        """The codes of findings that comments at a region switch off."""
        source = self._source(file)
        if source is None:
            return ()
        region = region_at(source.regions, line, name) or source.statement_at(line - 1)
        if region is None:
            return ()
        return ignored_at(region, source.data.splitlines().__getitem__)

    def ignored_on_top_of(self, file: str) -> Container[str]:
        """The codes of findings of the run that a comment on the file's first line switches off."""
        source = self._source(file)
        return () if source is None else ignored_codes(source.data.splitlines()[:1])

    def _source(self, file: str) -> SourceRegions | None:
        if file not in self._read:
            self._read[file] = self._new_source(Path(file))
        return self._read[file]

    def _new_source(self, path: Path) -> SourceRegions | None:
        try:
            if path.stat().st_mtime > self._began:
                self.changed.add(str(path))
                return None
            return SourceRegions(path.read_bytes())
        except OSError:
            return None

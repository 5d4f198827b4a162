"""Results and traces in the user's cache folder: written atomically, listed, limited in number and size.

A complete run is `<cache>/runs/<id>` with `result.json`, `regionlog.json` and its traces, and an empty file `pinned` if
it is to stay, `baseline` if others are compared with it; one in the making lies in `<cache>/new/<id>`.
"""

import contextlib
import os
import secrets
import shutil
import time
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import cast

import orjson
import platformdirs

from kinetoscope_core.errors import UsageError
from kinetoscope_core.results.summary import Summary, summary_of

MOST_RUNS = 50
MOST_BYTES = 4_000_000_000
_ABANDONED_AFTER_S = 24 * 3600
LAST = "last"
"""In place of an id: the newest run."""
_PIN = "pinned"
_BASELINE = "baseline"


@dataclass(frozen=True, slots=True)
class StoredRun:
    """A complete run on disk. `size_bytes` is that of its whole folder."""

    id: str
    folder: Path
    size_bytes: int
    is_pinned: bool = False
    is_baseline: bool = False

    def result(self) -> dict[str, object]:
        """The stored result, as its JSON says. Raises `UsageError` if its file is damaged."""
        try:
            values: object = orjson.loads(self.text())
        except orjson.JSONDecodeError as error:
            raise UsageError(f"The stored run {self.id} cannot be read ({error}); delete {self.folder}.") from error
        if not isinstance(values, dict):
            raise UsageError(f"The stored run {self.id} holds no result; delete {self.folder}.")
        return cast("dict[str, object]", values)

    def summary(self) -> Summary:
        """What a list tells of it. Raises `UsageError` if its file is damaged, or of another version."""
        return summary_of(self.text())

    def text(self) -> bytes:
        """The stored result's JSON. Raises `UsageError` if its file cannot be read."""
        try:
            return (self.folder / "result.json").read_bytes()
        except OSError as error:
            raise UsageError(f"The stored run {self.id} cannot be read ({error}); delete {self.folder}.") from error

    def traces(self) -> list[Path]:
        return sorted(self.folder.rglob("trace-*.json"))


class Store:
    """The runs of one user. Several programs may use it at once: a run appears by one rename."""

    def __init__(self, root: Path | None = None) -> None:
        self.root = root or Path(platformdirs.user_cache_dir("kinetoscope", appauthor=False))

    def new_folder(self) -> Path:
        """An empty folder for a run in the making, private to the user, since traces name files and arguments.

        Raises `UsageError` if the cache cannot be written.
        """
        stamp = datetime.now(timezone.utc).strftime("%Y%m%d-%H%M%S")
        folder = self.root / "new" / f"{stamp}-{secrets.token_hex(3)}"
        try:
            folder.mkdir(parents=True, mode=0o700)
        except OSError as error:
            raise UsageError(
                f"The cache folder {self.root} cannot be written ({error.strerror}); set XDG_CACHE_HOME to another one."
            ) from error
        return folder

    def final_folder(self, folder: Path) -> Path:
        """Where a folder of `new_folder` will lie once it is kept."""
        return self.root / "runs" / folder.name

    def keep(self, folder: Path, result: bytes) -> StoredRun:
        """Adds the result to a folder of `new_folder` and makes it a stored run, in one step; then removes old runs."""
        try:
            (folder / "result.json").write_bytes(result)
        except OSError as error:
            raise UsageError(f"The result could not be stored in {self.root}: {error.strerror}.") from error
        final = self.final_folder(folder)
        try:
            final.parent.mkdir(exist_ok=True, mode=0o700)
            folder.rename(final)
        except OSError as error:
            raise UsageError(f"The result could not be stored in {final.parent}: {error.strerror}.") from error
        self._limit(final.name)
        return _stored(final)

    def discard(self, folder: Path) -> None:
        """Removes a run in the making that came to nothing."""
        shutil.rmtree(folder, ignore_errors=True)

    def runs(self) -> list[StoredRun]:
        """All stored runs, newest first. What is none is passed over: a `.DS_Store`, a folder without a result."""
        folder = self.root / "runs"
        found: list[StoredRun] = []
        for path in sorted(_entries(folder), reverse=True):
            with contextlib.suppress(OSError):  # removed by another program meanwhile, or not for us to read
                if (path / "result.json").is_file():
                    found.append(_stored(path))
        return found

    def pin(self, run: str, *, is_pinned: bool) -> None:
        """Keeps a run from being removed for newer ones, or no longer. Raises `UsageError`."""
        self._mark(run, _PIN, is_there=is_pinned)

    def mark_baseline(self, run: str, *, is_baseline: bool) -> None:
        """Keeps a run for others to be compared with, or no longer. Raises `UsageError`."""
        self._mark(run, _BASELINE, is_there=is_baseline)

    def _mark(self, run: str, name: str, *, is_there: bool) -> None:
        marker = self.stored(run).folder / name
        try:
            marker.touch(mode=0o600) if is_there else marker.unlink(missing_ok=True)
            os.utime(self.root / "runs")  # as when a run comes or goes: see `changed_ns`
        except OSError as error:
            raise UsageError(f"The run {run} could not be marked: {error.strerror}.") from error

    def delete(self, run: str) -> None:
        """Removes a run with its traces; it is gone from the list in one step. Raises `UsageError`."""
        folder = self.stored(run).folder
        going = self.root / "new" / f"{run}-{secrets.token_hex(3)}"
        try:
            going.parent.mkdir(exist_ok=True, mode=0o700)
            folder.rename(going)
        except OSError as error:
            raise UsageError(f"The run {run} could not be deleted: {error.strerror}.") from error
        self.discard(going)

    def changed_ns(self) -> int:
        """When a run last came, went, or was marked, by any program; 0 where there never was one."""
        try:
            return (self.root / "runs").stat().st_mtime_ns
        except OSError:
            return 0

    def stored(self, run: str) -> StoredRun:
        """The run of that id, or the `last`. Raises `UsageError` where it is no longer stored."""
        runs = self.runs()
        found = next((each for each in runs if run in (each.id, LAST)), None)
        if found is None and run == LAST:
            raise UsageError("No run is stored yet. Make one: kinetoscope profile SCRIPT")
        if found is None:
            raise UsageError(f"There is no stored run {run}. List them: kinetoscope runs")
        return found

    def why_not_written(self) -> str | None:
        """Why no run could be kept; None where one could."""
        try:
            self.discard(self.new_folder())
        except UsageError as error:
            return str(error)
        return None

    def _limit(self, newest: str) -> None:
        kept_bytes = 0
        for number, run in enumerate(
            (each for each in self.runs() if not each.is_pinned and not each.is_baseline), start=1
        ):
            kept_bytes += run.size_bytes
            if run.id != newest and (number > MOST_RUNS or kept_bytes > MOST_BYTES):
                shutil.rmtree(run.folder, ignore_errors=True)
        for folder in _entries(self.root / "new"):
            with contextlib.suppress(OSError):
                if time.time() - folder.stat().st_mtime > _ABANDONED_AFTER_S:
                    shutil.rmtree(folder, ignore_errors=True)


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _stored(folder: Path) -> StoredRun:
    names = {file.name for file in folder.iterdir()}
    size = sum(file.stat().st_size for file in folder.rglob("*"))
    return StoredRun(folder.name, folder, size, _PIN in names, _BASELINE in names)

"""What a session leaves in the run's folder and tells the other side while it runs."""

import os
from json import dump
from os import replace
from time import monotonic  # by its name: the script may patch the module's
from typing import Any, Dict

from .channel import Channel
from .regions.entered_names import NamedRegion

_open = open  # as it was before the script, which may patch it
SECONDS_BETWEEN_PROGRESS = 0.2


class Report:
    """Traces and log of one run in its folder, and its progress."""

    def __init__(self, channel: Channel, folder: str) -> None:
        self._channel = channel
        self.folder = folder
        self._traces = 0
        self._last_progress = 0.0

    def new_trace_path(self) -> str:
        """The file of the next trace."""
        self._traces += 1
        return os.path.join(self.folder, f"trace-{self._traces}.json")

    def trace_not_saved(self, error: Exception) -> None:
        self._channel.send("problem", code="trace-not-saved", message=f"The trace was not saved: {error}")

    def save(self, log: Dict[str, Any]) -> None:
        """Writes the region log, whole or not at all."""
        try:
            self._write(log)
        except OSError as error:
            self._channel.send("problem", code="log-not-saved", message=f"The region log was not saved: {error}")

    def _write(self, log: Dict[str, Any]) -> None:
        path = os.path.join(self.folder, "regionlog.json")
        with _open(path + ".tmp", "w", encoding="utf-8", errors="surrogatepass") as file:
            dump(log, file)
        replace(path + ".tmp", path)

    def progress(self, region: NamedRegion, state: str, measured: Dict[str, Any]) -> None:
        """Says what is being entered, at most five times a second."""
        now = monotonic()
        if now - self._last_progress < SECONDS_BETWEEN_PROGRESS:
            return
        self._last_progress = now
        self._channel.send("progress", region=region.name, calls=region.place.finished, state=state, **measured)

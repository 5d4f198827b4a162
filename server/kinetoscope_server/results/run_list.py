"""The list of what was measured, for views of it: stored runs of any program, and traces that were loaded here."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from kinetoscope_core.errors import UsageError
from kinetoscope_core.results.store import Store
from kinetoscope_core.results.summary import Summary, summary_of
from kinetoscope_server.results.archive import Archive


class RunList:
    """Reads each result once."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._known: dict[str, Summary | str] = {}

    def rows(self) -> list[dict[str, Any]]:
        """What `kinetoscope/runs` answers (docs/lsp.md): loaded traces, then runs, the newest first of each."""
        loaded = [
            {**self._row(run, lambda text=text: summary_of(text)), "is_loaded": True}
            for run, text in reversed(self._archive.loaded.items())
        ]
        stored = [
            {
                **self._row(run.id, run.summary),
                "is_pinned": run.is_pinned,
                "is_baseline": run.is_baseline,
                "size_bytes": run.size_bytes,
            }
            for run in Store().runs()
        ]
        return [*loaded, *stored]

    def _row(self, run: str, read: Callable[[], Summary]) -> dict[str, Any]:
        if run not in self._known:
            try:
                self._known[run] = read()
            except UsageError as error:
                self._known[run] = str(error)
        known = self._known[run]
        told = {"problem": known, **_NOTHING} if isinstance(known, str) else {"problem": None, **asdict(known)}
        return {"id": run, "is_loaded": False, "is_pinned": False, "is_baseline": False, "size_bytes": None, **told}


_NOTHING = {
    "title": "",
    "script": "",
    "arguments": (),
    "started": None,
    "seconds": None,
    "device": None,
    "regions": 0,
    "largest": None,
}
"""Of a result that cannot be read."""

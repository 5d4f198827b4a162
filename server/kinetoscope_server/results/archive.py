"""Whole results by their ids: those of runs in the store, those of traces from elsewhere in memory. As their JSON says.

What is shown beside the lines is a small part of them (by_file.py), and all that is held of most.
"""

from typing import Any, cast

import orjson

from kinetoscope_core.results.store import Store

Values = dict[str, Any]


class Archive:
    """Gives ids to results that the store does not have, and finds both kinds."""

    def __init__(self) -> None:
        self._number = 0
        self.loaded: dict[str, bytes] = {}
        """Those that the store does not have, by their ids, the last one last."""

    def replaced_by(self, values: Values) -> list[str]:
        """The ids of what is kept of the same traces, with no other source files."""
        kept = {run: orjson.loads(text) for run, text in self.loaded.items()}
        same = {run: each for run, each in kept.items() if each["traces"] == values["traces"]}
        return [run for run, each in same.items() if each["sources"].keys() <= values["sources"].keys()]

    def keep(self, values: Values) -> str:
        """Keeps a result until the server ends; returns its id."""
        self._number += 1
        run = f"loaded-{self._number}"
        self.loaded[run] = orjson.dumps(values)
        return run

    def find(self, run: str) -> Values | None:
        """The result, `None` where there is none of that id any more. Raises `UsageError` if it cannot be read."""
        loaded = self.loaded.get(run)
        if loaded is not None:
            return orjson.loads(loaded)
        stored = next((each for each in Store().runs() if each.id == run), None)
        return None if stored is None else cast("Values", stored.result())

"""What runs ran into, at lines of files: the run that has just ended, and stored ones whose files are as they were.

How it is shown is for diagnostics.py.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kinetoscope_core.results.measures import Problem
from kinetoscope_core.source.placement.fingerprints import file_digest
from kinetoscope_server.results.by_file import Shown, resolved
from kinetoscope_server.runs.worker import Event

_TRACEBACK: Final = "Traceback (most recent call last)"


@dataclass(frozen=True, slots=True)
class Trouble:
    """A problem of a run at a line of a file. `text` is that line as it was then: the line is found again by it."""

    problem: Problem
    traceback: str
    text: str


Troubles = dict[str, list[Trouble]]
"""By resolved path."""


def troubles_of(problems: Iterable[Problem]) -> Troubles:
    """Those problems that have a line, when the files are as they were run."""
    found: Troubles = {}
    for problem in problems:
        if problem.file is not None and problem.line is not None:
            path = resolved(problem.file)
            traceback = str(problem.evidence.get("traceback", ""))
            last = traceback[max(traceback.rfind(_TRACEBACK), 0) :]
            found.setdefault(path, []).append(Trouble(problem, last, _line_of(path, problem.line)))
    return found


def stored_troubles_of(shown: Shown) -> Troubles:
    """Those of a stored run, for each file that it measured; none for a file that is another one by now."""
    found = troubles_of(shown.result.problems)
    return {
        file: found.get(file, []) if fingerprints and _is_as_it_was(file, fingerprints[0].file) else []
        for file, fingerprints in shown.fingerprints.items()
    }


def problem_of(event: Event) -> Problem:
    """The problem that a worker's error amounts to, at the line of the user's that the runner found."""
    code = "run-failed" if event["kind"] == "RunError" else "run-problem"
    file, line = event.get("place") or (None, None)
    return Problem(code, event["message"], {"traceback": event["traceback"]}, file, line)


def _is_as_it_was(file: str, digest: str) -> bool:
    try:
        return file_digest(Path(file).read_bytes()) == digest
    except OSError:
        return False


def _line_of(path: str, line: int) -> str:
    try:
        lines = Path(path).read_bytes().splitlines()
    except OSError:
        return ""
    return lines[line - 1].decode("utf-8", "replace") if 0 < line <= len(lines) else ""

"""The problems of runs at lines of files: of the run that has just ended, and of stored ones whose files are as they
were. How they are shown is for diagnostics.py.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kinetoscope_core.errors import Problem
from kinetoscope_core.source.placement.fingerprints import file_digest
from kinetoscope_server.results.shown import Shown, resolved


@dataclass(frozen=True, slots=True)
class LineProblem:
    """A problem at a line of a file. `text` is that line as it was then: the line is found again by it."""

    problem: Problem
    text: bytes

    def row_in(self, lines: Sequence[bytes]) -> int | None:
        """The row, from 0, nearest to where the line was that still has its text; None once the line was changed."""
        row = (self.problem.line or 1) - 1
        if _text_at(lines, row) == self.text:
            return row
        rows = (number for number, line in enumerate(lines) if line.strip() == self.text)
        return min(rows, key=lambda each: abs(each - row), default=None) if self.text else None


LineProblems = dict[str, list[LineProblem]]
"""By resolved path."""


def line_problems(problems: Iterable[Problem]) -> LineProblems:
    """Those problems that have a line, when the files are as they were run."""
    found: LineProblems = {}
    for problem in problems:
        if problem.file is not None and problem.line is not None:
            path = resolved(problem.file)
            found.setdefault(path, []).append(LineProblem(problem, _text_at(lines_of(path), problem.line - 1)))
    return found


def stored_line_problems(shown: Shown) -> LineProblems:
    """Those of a stored run, for each file that it measured; none for a file that is another one by now."""
    found = line_problems(shown.result.problems)
    return {
        file: found.get(file, []) if fingerprints and _is_as_it_was(file, fingerprints[0].file) else []
        for file, fingerprints in shown.fingerprints.items()
    }


def _is_as_it_was(file: str, digest: str) -> bool:
    try:
        return file_digest(Path(file).read_bytes()) == digest
    except OSError:
        return False


def lines_of(path: str) -> list[bytes]:
    """The lines of a file, as UTF-8; none where it cannot be read."""
    try:
        return Path(path).read_bytes().decode("utf-8", "replace").encode().splitlines()
    except OSError:
        return []


def _text_at(lines: Sequence[bytes], row: int) -> bytes:
    return lines[row].strip() if 0 <= row < len(lines) else b""

"""What can be done with a region, above its line: profile, and after a run trace and details."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from lsprotocol import types

from kinetoscope_server import methods
from kinetoscope_server.documents import Document
from kinetoscope_server.measured import Placed
from kinetoscope_server.runs import ActiveRun

_MAIN_GUARD: Final = re.compile(rb"""^if[ \t(]+__name__[ \t]*==[ \t]*["']__main__["']""", re.MULTILINE)


def code_lenses(document: Document, placed: Sequence[Placed], active: ActiveRun | None) -> Iterator[types.CodeLens]:
    """The lenses of a file, in the order of its lines. A file without regions has none."""
    if not document.regions:
        return
    measured = {each.region.line for each in placed}
    traced = {each.region.line for each in placed if each.measured.shown.result.traces}
    file_row = _row_for_the_file(document)
    running = _row_of_the_run(document, active, file_row)
    rows = {region.line - 1: region.name for region in reversed(document.regions)}
    for row in sorted({*rows, file_row}):
        here = document.line_range(row)
        if active is not None and row == running:
            yield _lens(here, active.phase, "")
            yield _lens(here, "Cancel", methods.CANCEL, [], "End the run; what was measured is kept")
        if row in rows:
            arguments = [document.uri, row, rows[row]]
            yield _lens(here, "▷ Profile", methods.PROFILE_REGION, arguments, "Run the script and measure this region")
            if row + 1 in traced:
                yield _lens(here, "Trace", methods.OPEN_TRACE, arguments, "Open the trace in Perfetto at this region")
            if row + 1 in measured:
                yield _lens(here, "Details", methods.SHOW_DETAILS, arguments, "Everything measured of this region")
        if row == file_row:
            tooltip = "Run the script and measure every region that it reaches"
            yield _lens(here, "▷ Profile file", methods.PROFILE_FILE, [document.uri], tooltip)


def _lens(
    place: types.Range, title: str, command: str, arguments: Sequence[object] = (), tooltip: str | None = None
) -> types.CodeLens:
    # An empty command is plain text.
    return types.CodeLens(place, types.Command(title, command, tooltip, list(arguments) if command else None))


def _row_for_the_file(document: Document) -> int:
    guard = _MAIN_GUARD.search(document.source.data)
    return document.regions[0].line - 1 if guard is None else document.source.position(guard.start()).row


def _row_of_the_run(document: Document, active: ActiveRun | None, file_row: int) -> int | None:
    if active is None or active.uri != document.uri:
        return None
    if active.region is None:
        return file_row
    line, name = active.region
    rows = [region.line - 1 for region in document.regions if region.name == name]
    return min(rows, key=lambda row: abs(row - line), default=file_row)

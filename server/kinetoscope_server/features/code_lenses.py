"""What can be done with a region, above its line: profile, and after a run trace and details."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from lsprotocol import types

from kinetoscope_core.results.summary import title_of
from kinetoscope_core.source.regions import Region
from kinetoscope_core.source.regions.which_region import nearest_named
from kinetoscope_server.protocol import methods
from kinetoscope_server.results.by_file import Placed
from kinetoscope_server.results.shown import Shown
from kinetoscope_server.results.titles import result_text
from kinetoscope_server.runs.manager import ActiveRun
from kinetoscope_server.text.documents import Document

_MAIN_GUARD: Final = re.compile(rb"""^if[ \t(]+__name__[ \t]*==[ \t]*["']__main__["']""", re.MULTILINE)
_TORCH_IMPORT: Final = re.compile(rb"^[ \t]*(?:import|from)[ \t]+torch\b", re.MULTILINE)


def code_lenses(
    document: Document,
    placed: Sequence[Placed],
    active: ActiveRun | None,
    shown: Shown | None,
    results: Sequence[Shown],
    told: Callable[[Region | None], str],
    times: Mapping[int, str],
) -> Iterator[types.CodeLens]:
    """The lenses of a file, in the order of its lines. One without regions, known or measured, that does not import
    torch either has none. `shown` is the one of its `results` that it shows; `told` says what a click
    runs for a region, or for the file; `times` has, by row, what stands there where no hint does.
    """
    measured_lines = [each for each in placed if each.region.kind == "statement"]
    # A module's line has but a hint: a model has one at every other line.
    others = (each.region for each in measured_lines if not each.measured.is_module)
    regions = [*document.regions, *document.helped, *others]
    of_modules = {each.region.line - 1: each.region for each in measured_lines if each.measured.is_module}
    classes = {each.line - 1: each for each in document.module_classes}
    file_row = _row_for_the_file(document, regions)
    if file_row is None:
        return
    measured = {each.region.line for each in placed}
    traced = {each.region.line for each in placed if each.measured.shown.result.traces}
    running = _row_of_the_run(document, active, regions, file_row)
    rows = {region.line - 1: region for region in reversed(regions)}
    inner = _inner_rows(regions)
    own = (each.region.line - 1 for each in placed if not each.origin)
    result_row = next((row for row in own if row in rows), min(classes, default=file_row))
    for row in sorted({*rows, *classes, *(of_modules if times else ()), file_row}):
        here = document.line_range(row)
        if active is not None and row == running:
            yield _lens(here, active.phase, "")
            yield _lens(here, "Cancel", methods.CANCEL, [], "End the run. What was measured is kept")
        if row in rows:
            arguments = [document.uri, row, rows[row].name]
            tooltip = f"Measure this region: {told(rows[row])}"
            yield _lens(here, "▷" if row in inner else "▷ Profile", methods.PROFILE_REGION, arguments, tooltip)
            if row in times:
                yield _lens(here, times[row], methods.SHOW_DETAILS, arguments, "Show all that was measured here")
            if row + 1 in traced and row not in inner:
                yield _lens(here, "Trace", methods.OPEN_TRACE, arguments, "Open the trace in Perfetto at this region")
            if row + 1 in measured and row not in inner:
                yield _lens(here, "Details", methods.SHOW_DETAILS, arguments, "Show all that was measured here")
        elif row in times:
            arguments = [document.uri, row, of_modules[row].name]
            yield _lens(here, times[row], methods.SHOW_DETAILS, arguments, "Show all that was measured here")
        if row in classes:
            title = "▷" if classes[row].is_part else "▷ Profile modules"
            tooltip = f"Measure the modules of the model: {told(None)}"
            yield _lens(here, title, methods.PROFILE_MODULES, [document.uri, None], tooltip)
        if row == file_row:
            tooltip = f"Measure every region that is reached: {told(None)}"
            yield _lens(here, "▷ Profile file", methods.PROFILE_FILE, [document.uri], tooltip)
            if shown is not None and shown.result.run is not None and shown.result.run.modules is not None:
                tooltip = "Measure the regions alone, in the same way otherwise"
                yield _lens(here, "without modules", methods.PROFILE_MODULES, [document.uri, False], tooltip)
            tooltip = "Profile the file with other arguments, or another script"
            yield _lens(here, "⌄", methods.PROFILE_WITH, [document.uri, None, None], tooltip)
        if row == result_row and shown is not None:
            yield _of_result(here, document, shown, results)


def _inner_rows(regions: Sequence[Region]) -> set[int]:
    """The rows of regions that stand in the body of another. They have one short lens, as each of seven full ones says
    the same: what else there is stands in their hint, hover and code actions. A server does not know the cursor.
    """
    found: set[int] = set()
    around = None
    for region in sorted(regions, key=lambda each: each.item.start):
        if around is not None and around.start <= region.item.start < around.end:
            found.add(region.line - 1)
        elif region.body is not None:
            around = region.body
    return found


def _of_result(here: types.Range, document: Document, shown: Shown, results: Sequence[Shown]) -> types.CodeLens:
    """What the times of the file are of; with several results one can choose another."""
    left_out = (each for each in shown.result.problems if each.code == "modules-left-out")
    text = " · ".join([result_text(shown), *(f"{each.evidence['modules']} modules left out" for each in left_out)])
    if len(results) == 1:
        return _lens(here, text, "")
    place = f"{results.index(shown) + 1} of {len(results)} results"
    tooltip = f"{title_of(shown.result.run, shown.result.traces)}: show another result"
    return _lens(here, f"{text} · {place}", methods.CHOOSE_RESULT, [document.uri], tooltip)


def _lens(
    place: types.Range, title: str, command: str, arguments: Sequence[object] = (), tooltip: str | None = None
) -> types.CodeLens:
    # An empty command is plain text.
    return types.CodeLens(place, types.Command(title, command, tooltip, list(arguments) if command else None))


def _row_for_the_file(document: Document, regions: Sequence[Region]) -> int | None:
    """Where the whole file is started, else where its first region stands, else where it imports torch: its regions may
    be made elsewhere.
    """
    text = document.source.data
    imported = None if regions or b"torch" not in text else _first(_TORCH_IMPORT, document)
    if not regions and imported is None:
        return None
    if (guard := _first(_MAIN_GUARD, document)) is not None:
        return document.source.position(guard.start()).row
    if imported is not None:
        return document.source.position(imported.start()).row
    return min(region.line for region in regions) - 1


def _first(pattern: re.Pattern[bytes], document: Document) -> re.Match[bytes] | None:
    source = document.source
    return next((match for match in pattern.finditer(source.data) if source.is_code(match.start() + 1)), None)


def _row_of_the_run(
    document: Document, active: ActiveRun | None, regions: Sequence[Region], file_row: int
) -> int | None:
    if active is None or active.job.uri != document.uri:
        return None
    if active.job.region is None:
        return file_row
    line, name = active.job.region
    region = nearest_named(regions, name, line + 1)
    return file_row if region is None else region.line - 1

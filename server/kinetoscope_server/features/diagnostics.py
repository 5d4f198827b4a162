"""What the reader of a file should know at a line: what was found, what a run ran into, what measures amiss.

Each has a code, a page in docs/findings and a severity that users set.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from lsprotocol import types

from kinetoscope_core.output.measures_text import finding_text
from kinetoscope_core.results.measures import Finding, Problem
from kinetoscope_core.source.regions import Region
from kinetoscope_core.source.suppressions import ignored_at, ignored_codes
from kinetoscope_core.text import printable
from kinetoscope_server.results.by_file import Placed, resolved, rows_to_show
from kinetoscope_server.runs.run_errors import Trouble
from kinetoscope_server.settings.settings import Settings, Severity
from kinetoscope_server.text.documents import Document, uri_of
from kinetoscope_server.text.finding_pages import page_of

SOURCE: Final = "kinetoscope"

MOST_AT_A_REGION: Final = 4
"""Findings shown as diagnostics; the hover has all."""

_MOST_OTHERS: Final = 10
"""Lines that a region of the same name is told of."""

_SEVERITIES: Final = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "information": types.DiagnosticSeverity.Information,
    "hint": types.DiagnosticSeverity.Hint,
}

_FRAME: Final = re.compile(r'^  File "(?P<file>[^"\n]+)", line (?P<line>\d+)(?:, in (?P<function>.*))?$', re.MULTILINE)

_DECORATED: Final = {
    "async": "measures how long it takes to create the coroutine, not to run it",
    "generator": "measures how long it takes to create the generator, not to run it",
    "recursive": "is ended by each inner call, so its times are too short",
}


def diagnostics(
    document: Document, placed: Sequence[Placed], troubles: Iterable[Trouble], settings: Settings
) -> list[types.Diagnostic]:
    """All diagnostics of an open file, in no order."""
    making = _Making(document, settings)
    found = [
        *making.findings(placed),
        *making.of_run(placed),
        *making.troubles(troubles),
        *making.same_names(),
        *making.decorators(),
    ]
    return [each for each in found if each is not None]


class _Making:
    """The diagnostics of one text; those switched off are None."""

    def __init__(self, document: Document, settings: Settings) -> None:
        self._document = document
        self._settings = settings

    def findings(self, placed: Sequence[Placed]) -> Iterator[types.Diagnostic | None]:
        for each in placed:
            place = self._document.in_client_units(each.region.item)
            for finding in shown_of(self._document, each, self._settings):
                severity = self._settings.severity_of(finding.code, finding.severity)
                data = {"region": each.measured.region.name, "code": finding.code}
                yield self._made(finding.code, place, finding_text(finding), data=data, severity=severity)

    def of_run(self, placed: Sequence[Placed]) -> Iterator[types.Diagnostic | None]:
        for finding in shown_of_run(self._document, placed, self._settings):
            severity = self._settings.severity_of(finding.code, finding.severity)
            yield self._made(finding.code, self._document.line_range(0), finding_text(finding), severity=severity)

    def troubles(self, troubles: Iterable[Trouble]) -> Iterator[types.Diagnostic | None]:
        for trouble in troubles:
            row = self._row_of(trouble)
            if row is None:
                continue
            problem = trouble.problem
            code = _code_of(problem)
            yield self._made(code, self._document.line_range(row), printable(problem.message), _stack(trouble))

    def same_names(self) -> Iterator[types.Diagnostic | None]:
        by_name: defaultdict[str, list[Region]] = defaultdict(list)
        for region in self._document.regions:
            if region.is_exact:
                by_name[region.name].append(region)
        for name, regions in by_name.items():
            for region in regions if len(regions) > 1 else []:
                others = list(islice((other for other in regions if other is not region), _MOST_OTHERS))
                more = len(regions) - 1 - len(others)
                lines = ", ".join(str(other.line) for other in others) + (f" and {more} more" if more else "")
                message = (
                    f"{printable(name)} also stands at line {lines}. Kinetoscope keeps them apart by their lines;"
                    " torch's own table adds them up."
                )
                related = [self._related(other, f"{printable(name)} also stands here") for other in others]
                yield self._made("same-name", self._document.in_client_units(region.item), message, related)

    def decorators(self) -> Iterator[types.Diagnostic | None]:
        for region in self._document.regions:
            what = _DECORATED.get(region.decorates or "")
            if what is not None:
                kind = "an async" if region.decorates == "async" else f"a {region.decorates}"
                message = (
                    f"record_function as a decorator of {kind} function {what}."
                    " Put `with record_function(…):` inside the function."
                )
                place = self._document.in_client_units(region.item)
                yield self._made(f"decorator-{region.decorates}", place, message)

    def _made(
        self,
        code: str,
        place: types.Range,
        message: str,
        related: list[types.DiagnosticRelatedInformation] | None = None,
        data: object = None,
        severity: Severity | None = None,
    ) -> types.Diagnostic | None:
        shown = _SEVERITIES.get(severity or self._settings.severity_of(code))
        if shown is None:
            return None
        return types.Diagnostic(
            range=place,
            message=message,
            severity=shown,
            code=code,
            code_description=types.CodeDescription(page_of(code)),
            source=SOURCE,
            related_information=related or None,
            data=data,
        )

    def _related(self, region: Region, message: str) -> types.DiagnosticRelatedInformation:
        place = self._document.in_client_units(region.item)
        return types.DiagnosticRelatedInformation(types.Location(self._document.uri, place), message)

    def _row_of(self, trouble: Trouble) -> int | None:
        """The row nearest to where the line was that still has its text; None once the line was changed."""
        row = (trouble.problem.line or 1) - 1
        wanted = trouble.text.strip().encode("utf-8", "surrogatepass")
        if self._document.line(row).strip() == wanted:
            return row
        rows = (number for number, line in enumerate(self._document.source.data.splitlines()) if line.strip() == wanted)
        return min(rows, key=lambda each: abs(each - row), default=None) if wanted else None


def shown_of(document: Document, placed: Placed, settings: Settings) -> list[Finding]:
    """The findings of a region to show as diagnostics: the costliest few that no comment or setting switches off.

    None of a region that has changed since: they were about other code.
    """
    found = placed.measured.findings
    if placed.is_stale or not found:
        return []
    ignored = ignored_at(placed.region, document.line)
    wanted = [
        each for each in found if each.code not in ignored and settings.severity_of(each.code, each.severity) != "off"
    ]
    return wanted[:MOST_AT_A_REGION]


def codes_at(
    document: Document, placed: Sequence[Placed], position: types.Position, settings: Settings
) -> frozenset[str]:
    """The codes of the findings whose diagnostics stand at a position."""
    places = ((each, document.in_client_units(each.region.item)) for each in placed)
    here = (each for each, place in places if place.start <= position <= place.end)
    return frozenset(finding.code for each in here for finding in shown_of(document, each, settings))


def shown_of_run(document: Document, placed: Sequence[Placed], settings: Settings) -> list[Finding]:
    """The findings of the newest run as a whole, to show at the first line of the file that its first region stands in;
    none that a comment there or a setting switches off.
    """
    fresh = [each.measured.shown for each in placed if not each.is_stale]
    if not fresh:
        return []
    result = max(fresh, key=lambda shown: shown.run or "").result
    first = next((region.file for region in rows_to_show(result) if region.file), None)
    if first is None or resolved(first) != document.path:
        return []
    ignored = ignored_codes([document.line(0)])
    return [
        each
        for each in result.findings or ()
        if each.code not in ignored and settings.severity_of(each.code, each.severity) != "off"
    ]


def elsewhere(trouble: Trouble, settings: Settings) -> types.Diagnostic | None:
    """The diagnostic of a trouble in a file that is not open, None where its line is another one by now."""
    if not _stands_on_disk(trouble):
        return None
    severity = _SEVERITIES.get(settings.severity_of(_code_of(trouble.problem)))
    if severity is None:
        return None
    place = _line_place(trouble.problem.line or 1)
    code = _code_of(trouble.problem)
    return types.Diagnostic(
        place,
        printable(trouble.problem.message),
        severity,
        code,
        types.CodeDescription(page_of(code)),
        SOURCE,
        related_information=_stack(trouble) or None,
    )


def _stands_on_disk(trouble: Trouble) -> bool:
    try:
        lines = Path(trouble.problem.file or "").read_bytes().splitlines()
    except OSError:
        return False
    row = (trouble.problem.line or 1) - 1
    return row < len(lines) and lines[row].decode("utf-8", "replace").strip() == trouble.text.strip()


def _code_of(problem: Problem) -> str:
    return problem.code if problem.code in ("region-not-reached", "run-failed") else "run-problem"


def _stack(trouble: Trouble) -> list[types.DiagnosticRelatedInformation]:
    """The calls of the last traceback of the text, the innermost first."""
    calls: list[types.DiagnosticRelatedInformation] = []
    for frame in _FRAME.finditer(trouble.traceback):
        file, line = frame["file"], int(frame["line"])
        if not file.startswith("<"):
            location = types.Location(uri_of(file), _line_place(line))
            calls.append(types.DiagnosticRelatedInformation(location, f"in {frame['function'] or '<module>'}"))
    return calls[::-1]


def _line_place(line: int) -> types.Range:
    return types.Range(types.Position(line - 1, 0), types.Position(line, 0))

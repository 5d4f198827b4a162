"""What the reader of a file should know at a line: findings, the problems of a run, what measures amiss.

Each has a code, a page in docs/findings and a severity that users set.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Final

from lsprotocol import types

from kinetoscope_core.errors import Problem
from kinetoscope_core.results.checks import EXPECTATION
from kinetoscope_core.results.measures import Finding
from kinetoscope_core.source.regions import Region
from kinetoscope_core.source.suppressions import ignored_on_top_of
from kinetoscope_core.text import printable
from kinetoscope_server.features.expectations import expectation_problems
from kinetoscope_server.features.told import by_item, told_at
from kinetoscope_server.results.by_file import Placed
from kinetoscope_server.results.problems import LineProblem, lines_of
from kinetoscope_server.results.shown import resolved, rows_to_show
from kinetoscope_server.settings.settings import Settings, Severity
from kinetoscope_server.text.documents import Document, uri_of
from kinetoscope_server.text.finding_pages import page_of

SOURCE: Final = "kinetoscope"

_MOST_OTHERS: Final = 10
"""Lines that a region of the same name is told of."""

_SEVERITIES: Final = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "information": types.DiagnosticSeverity.Information,
    "hint": types.DiagnosticSeverity.Hint,
}

_DECORATED: Final = {
    "async": "measures how long it takes to create the coroutine, not to run it",
    "generator": "measures how long it takes to create the generator, not to run it",
    "recursive": "is ended by each inner call, so its times are too short",
}


def diagnostics(
    document: Document, placed: Sequence[Placed], problems: Sequence[LineProblem], settings: Settings
) -> list[types.Diagnostic]:
    """All diagnostics of an open file, in no order."""
    making = _Making(document, settings)
    found = [
        *making.findings(placed),
        *making.of_run(placed),
        *making.expectations(placed),
        *making.problems(problems),
        *making.same_names(),
        *making.decorators(),
    ]
    return [each for each in found if each is not None]


class _Making:
    """The diagnostics of one text; those switched off are None."""

    def __init__(self, document: Document, settings: Settings) -> None:
        self._document = document
        self._settings = settings
        self._made = partial(_diagnostic, settings)

    def findings(self, placed: Sequence[Placed]) -> Iterator[types.Diagnostic | None]:
        for here in by_item(placed):
            place = self._document.in_client_units(here[0].region.item)
            for told in told_at(self._document, here, self._settings):
                data = {"region": told.placed.measured.region.name, "code": told.code}
                yield self._made(told.code, place, told.message, data=data, severity=told.severity)

    def of_run(self, placed: Sequence[Placed]) -> Iterator[types.Diagnostic | None]:
        for finding in shown_of_run(self._document, placed, self._settings):
            severity = self._settings.severity_of_finding(finding.code, finding.severity)
            yield self._made(finding.code, self._document.line_range(0), finding.message, severity=severity)

    def expectations(self, placed: Sequence[Placed]) -> Iterator[types.Diagnostic | None]:
        for place, message, severity in expectation_problems(self._document, placed):
            if self._settings.severity_of(EXPECTATION) != "off":
                at = self._document.in_client_units(place)
                yield self._made(EXPECTATION, at, message, severity=severity)

    def problems(self, problems: Sequence[LineProblem]) -> Iterator[types.Diagnostic | None]:
        lines = self._document.source.data.splitlines() if problems else []
        for each in problems:
            row = each.row_in(lines)
            if row is not None:
                yield _of_problem(each.problem, self._document.line_range(row), self._settings)

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

    def _related(self, region: Region, message: str) -> types.DiagnosticRelatedInformation:
        place = self._document.in_client_units(region.item)
        return types.DiagnosticRelatedInformation(types.Location(self._document.uri, place), message)


def codes_at(
    document: Document, placed: Sequence[Placed], position: types.Position, settings: Settings
) -> frozenset[str]:
    """The codes of the findings whose squiggles stand at a position. A hint has none: VS Code shows what it says at its
    first two characters alone.
    """
    places = ((here, document.in_client_units(here[0].region.item)) for here in by_item(placed))
    at = (here for here, place in places if place.start <= position <= place.end)
    return frozenset(told.code for here in at for told in told_at(document, here, settings) if told.is_to_do)


def shown_of_run(document: Document, placed: Sequence[Placed], settings: Settings) -> list[Finding]:
    """The findings of the file's result as a whole, to show at the first line of the file that its first region stands
    in; none that a comment there or a setting switches off.
    """
    result = next((each.measured.shown.result for each in placed if not each.is_stale and not each.origin), None)
    if result is None:
        return []
    first = next((region.file for region in rows_to_show(result) if region.file), None)
    if first is None or resolved(first) != document.path:
        return []
    ignored = ignored_on_top_of(document.source)
    return [
        each
        for each in result.findings
        if each.code not in ignored and settings.severity_of_finding(each.code, each.severity) != "off"
    ]


def elsewhere(path: str, problems: Sequence[LineProblem], settings: Settings) -> list[types.Diagnostic]:
    """The diagnostics of a file that is not open."""
    lines = lines_of(path) if problems else []
    rows = ((each.problem, each.row_in(lines)) for each in problems if lines)
    found = (_of_problem(problem, _whole_row(row), settings) for problem, row in rows if row is not None)
    return [each for each in found if each is not None]


def _of_problem(problem: Problem, place: types.Range, settings: Settings) -> types.Diagnostic | None:
    code = problem.code if problem.code in ("region-not-reached", "run-failed") else "run-problem"
    calls = [
        types.DiagnosticRelatedInformation(
            types.Location(uri_of(each.file), _whole_row(each.line - 1)), f"in {each.function}"
        )
        for each in reversed(problem.frames)
        if not each.file.startswith("<")
    ]
    return _diagnostic(settings, code, place, printable(problem.message), calls)


def _diagnostic(
    settings: Settings,
    code: str,
    place: types.Range,
    message: str,
    related: list[types.DiagnosticRelatedInformation] | None = None,
    data: object = None,
    severity: Severity | None = None,
) -> types.Diagnostic | None:
    """None where the code is switched off."""
    shown = _SEVERITIES.get(severity or settings.severity_of(code))
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


def _whole_row(row: int) -> types.Range:
    return types.Range(types.Position(row, 0), types.Position(row + 1, 0))

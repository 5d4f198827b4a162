"""What can be done at a line with a region. Asked for at each cursor move, so answered from what is at hand."""

from collections.abc import Iterator, Sequence

from lsprotocol import types

from kinetoscope_core.analysis.findings import BOUNDS
from kinetoscope_core.text import printable
from kinetoscope_server.features.diagnostics import SOURCE, shown_of, shown_of_run
from kinetoscope_server.features.fixes import fix, suppression
from kinetoscope_server.protocol import methods
from kinetoscope_server.results.by_file import Placed
from kinetoscope_server.runs.targets import RUN_PLAIN
from kinetoscope_server.settings.settings import Settings
from kinetoscope_server.text.documents import Document


def code_actions(
    document: Document,
    placed: Sequence[Placed],
    params: types.CodeActionParams,
    settings: Settings,
    plain_again: Sequence[object] = (),
) -> list[types.CodeAction]:
    """The actions for the regions that are entered in the asked lines, and for the failure of the last run, which
    `plain_again` repeats without the prepared interpreter.
    """
    only = params.context.only
    if only is not None and not any(_holds(kind, types.CodeActionKind.QuickFix) for kind in only):
        return []
    first, last = params.range.start.line + 1, params.range.end.line + 1
    actions = list(_of_run(document, placed, params.context.diagnostics, settings)) if first == 1 else []
    about = [each for each in params.context.diagnostics if each.source == SOURCE and each.code == "run-failed"]
    if plain_again and about:
        actions.append(_command(RUN_PLAIN, about, methods.PROFILE_PLAIN, list(plain_again)))
    statements = {each.region.line: each.region for each in placed if each.region.kind == "statement"}
    for region in [*document.regions, *statements.values()]:
        if region.last_line < first or region.statement_line > last:
            continue
        here = [each for each in placed if each.region == region]
        place = document.in_client_units(region.item)
        ours = [
            each
            for each in params.context.diagnostics
            if each.source == SOURCE and each.range.start.line == place.start.line
        ]
        arguments = [document.uri, region.line - 1, region.name]
        name = printable(region.name)
        wanted = [(f"{'Profile again' if here else 'Profile'}: {name}", methods.PROFILE_REGION)]
        wanted.append((f"Profile with…: {name}", methods.PROFILE_WITH))
        if any(each.measured.shown.result.traces for each in here):
            wanted.append((f"Open the trace in Perfetto at {name}", methods.OPEN_TRACE))
        if here:
            wanted.append((f"Show the details of {name}", methods.SHOW_DETAILS))
            wanted.append((f"Clear the times of {name}", methods.CLEAR))
        actions += _of_findings(document, here, ours, settings)
        actions += [
            types.CodeAction(
                title=title,
                kind=types.CodeActionKind.QuickFix,
                diagnostics=ours or None,
                command=types.Command(title, command, arguments=list[object](arguments)),
            )
            for title, command in wanted
        ]
    return actions


def _of_findings(
    document: Document, here: Sequence[Placed], ours: Sequence[types.Diagnostic], settings: Settings
) -> Iterator[types.CodeAction]:
    """What can be done about each finding that is shown, once where names of the same line share it: of those that were
    asked about, if any were.

    VS Code asks about those under the cursor alone, and about none where it stands beside them.
    """
    told: set[str] = set()
    for placed in here:
        region = placed.region
        for finding in shown_of(document, placed, settings):
            code = finding.code
            about = [each for each in ours if each.code == code]
            if (ours and not about) or code in told:
                continue
            told.add(code)
            if (found := fix(document, region, finding)) is not None:
                title, edit = found
                yield _edit(document, title, about, edit)
            # A bound shows in the median call, where the region's own link leads.
            if finding.spot is not None and code not in BOUNDS and placed.measured.shown.result.traces:
                at: list[object] = [document.uri, region.line - 1, region.name, code]
                yield _command(f"Open the trace where it shows: {code}", about, methods.OPEN_TRACE_AT, at)
            yield from _of_any(document, region.last_line - 1, code, about)


def _of_run(
    document: Document, placed: Sequence[Placed], asked: Sequence[types.Diagnostic], settings: Settings
) -> Iterator[types.CodeAction]:
    """The same for those of the run, at the first line."""
    for finding in shown_of_run(document, placed, settings):
        about = [each for each in asked if each.code == finding.code and each.range.start.line == 0]
        yield from _of_any(document, 0, finding.code, about)


def _of_any(document: Document, row: int, code: str, about: Sequence[types.Diagnostic]) -> Iterator[types.CodeAction]:
    yield _command(f"Explain: {code}", about, methods.EXPLAIN, [code])
    if (edit := suppression(document, row, code)) is not None:
        yield _edit(document, f"Ignore here: {code}", about, edit)


def _command(title: str, about: Sequence[types.Diagnostic], command: str, arguments: list[object]) -> types.CodeAction:
    named = types.Command(title, command, arguments=arguments)
    return types.CodeAction(title, types.CodeActionKind.QuickFix, diagnostics=list(about) or None, command=named)


def _edit(document: Document, title: str, about: Sequence[types.Diagnostic], edit: types.TextEdit) -> types.CodeAction:
    changes = types.WorkspaceEdit(changes={document.uri: [edit]})
    return types.CodeAction(title, types.CodeActionKind.QuickFix, diagnostics=list(about) or None, edit=changes)


def _holds(wider: str, narrower: str) -> bool:
    """Whether a kind of action is the other or one of its parents; the empty kind holds all."""
    return not wider or narrower == wider or narrower.startswith(wider + ".")

"""What can be done at a line with a region: edits first, then very few commands. Asked for at each cursor move, so
answered from what is at hand.
"""

from collections.abc import Iterator, Sequence

from lsprotocol import types

from kinetoscope_core.results.checks import EXPECTATION
from kinetoscope_core.text import count_text, printable
from kinetoscope_server.features.diagnostics import SOURCE, shown_of_run
from kinetoscope_server.features.expectations import checked, wider
from kinetoscope_server.features.fixes import fix, suppression
from kinetoscope_server.features.told import told_at
from kinetoscope_server.protocol import methods
from kinetoscope_server.results.by_file import Placed
from kinetoscope_server.results.comparisons import Comparisons
from kinetoscope_server.runs.targets import PROFILE_MODULES, RUN_PLAIN
from kinetoscope_server.settings.settings import Settings
from kinetoscope_server.text.documents import Document


def code_actions(
    document: Document,
    placed: Sequence[Placed],
    params: types.CodeActionParams,
    settings: Settings,
    comparisons: Comparisons,
    plain_again: Sequence[object] = (),
    *,
    has_links: bool = False,
) -> list[types.CodeAction]:
    """The actions for the regions that are entered in the asked lines, and for the failure of the last run, which
    `plain_again` repeats without the prepared interpreter.

    With `has_links`, the hover links to most commands, and they are not offered here.
    """
    only = params.context.only
    if only is not None and not any(holds(kind, types.CodeActionKind.QuickFix) for kind in only):
        return []
    first, last = params.range.start.line + 1, params.range.end.line + 1
    asked = [each for each in params.context.diagnostics if each.source == SOURCE]
    actions = list(_of_run(document, placed, asked, settings, has_links=has_links)) if first == 1 else []
    about = [each for each in asked if each.code == "run-failed"]
    if plain_again and about:
        actions.append(_command(RUN_PLAIN, about, methods.PROFILE_PLAIN, list(plain_again)))
    actions += _of_expectations(document, placed, params, asked)
    actions += _of_modules(document, first, last, asked)
    made = [each for each in placed if not each.measured.is_forward]
    statements = {each.region.line: each.region for each in made if each.region.kind == "statement"}
    for region in [*document.regions, *statements.values()]:
        if region.last_line < first or region.statement_line > last:
            continue
        here = [each for each in placed if each.region == region]
        row = document.in_client_units(region.item).start.line
        ours = [each for each in asked if each.range.start.line == row]
        actions += _of_findings(document, here, ours, settings, has_links=has_links)
        place: list[object] = [document.uri, region.line - 1, region.name]
        name = printable(region.name)
        actions.append(_command(f"{'Profile again' if here else 'Profile'}: {name}", [], methods.PROFILE_REGION, place))
        actions.append(_command(f"Profile with…: {name}", [], methods.PROFILE_WITH, place))
        if here and not has_links:
            if any(each.measured.shown.result.traces for each in here):
                actions.append(_command(f"Open the trace in Perfetto at {name}", [], methods.OPEN_TRACE, place))
            actions.append(_command(f"Show the details of {name}", [], methods.SHOW_DETAILS, place))
            more = max((comparisons.wanted_runs(each) for each in here), default=0)
            if more:
                title = f"Measure {name} {count_text(more, 'more time')}"
                actions.append(_command(title, [], methods.MEASURE_MORE, [*place, more]))
    return sorted(actions, key=lambda each: each.edit is None)


def _of_modules(
    document: Document, first: int, last: int, asked: Sequence[types.Diagnostic]
) -> Iterator[types.CodeAction]:
    """At classes of modules, and where a run is said to have entered no region."""
    about = [each for each in asked if each.code == "run-problem"] if not document.regions else []
    if about or any(first <= each.line <= last for each in document.module_classes):
        yield _command(PROFILE_MODULES, about, methods.PROFILE_MODULES, [document.uri, None])


def _of_findings(
    document: Document,
    here: Sequence[Placed],
    ours: Sequence[types.Diagnostic],
    settings: Settings,
    *,
    has_links: bool,
) -> Iterator[types.CodeAction]:
    """What can be done about each finding that has a squiggle: of those that were asked about, if any were.

    VS Code asks about those under the cursor alone, and about none where it stands beside them.
    """
    for told in told_at(document, here, settings):
        about = [each for each in ours if each.code == told.code]
        if told.finding is None or not told.is_to_do or (ours and not about):
            continue
        region = told.placed.region
        if (found := fix(document, region, told.finding)) is not None:
            title, edit = found
            yield _edit(document, title, about, edit, is_preferred=True)
        if told.finding.spot is not None and told.placed.measured.shown.result.traces and not has_links:
            at: list[object] = [document.uri, region.line - 1, region.name, told.code]
            yield _command(f"Open the trace where it shows: {told.code}", about, methods.OPEN_TRACE_AT, at)
        yield from _of_any(document, region.last_line - 1, told.code, about, has_links=has_links)


def _of_expectations(
    document: Document, placed: Sequence[Placed], params: types.CodeActionParams, asked: Sequence[types.Diagnostic]
) -> Iterator[types.CodeAction]:
    """A limit that holds, for each broken expectation in the asked lines, or for those that were asked about."""
    places = [each.range for each in asked if each.code == EXPECTATION]
    for check in checked(document, placed):
        place = document.in_client_units(check.term.place)
        is_asked = place in places if places else params.range.start.line <= place.start.line <= params.range.end.line
        if is_asked and (text := wider(check)) is not None:
            about = [each for each in asked if each.range == place]
            yield _edit(document, f"Change to: expect {text}", about, types.TextEdit(place, text))


def _of_run(
    document: Document,
    placed: Sequence[Placed],
    asked: Sequence[types.Diagnostic],
    settings: Settings,
    *,
    has_links: bool,
) -> Iterator[types.CodeAction]:
    """The same for those of the run, at the first line."""
    for finding in shown_of_run(document, placed, settings):
        about = [each for each in asked if each.code == finding.code and each.range.start.line == 0]
        yield from _of_any(document, 0, finding.code, about, has_links=has_links)


def _of_any(
    document: Document, row: int, code: str, about: Sequence[types.Diagnostic], *, has_links: bool
) -> Iterator[types.CodeAction]:
    if not has_links:  # else the diagnostic's code links to its page
        yield _command(f"Explain: {code}", about, methods.EXPLAIN, [code])
    if (edit := suppression(document, row, code)) is not None:
        yield _edit(document, f"Ignore here: {code}", about, edit)


def _command(title: str, about: Sequence[types.Diagnostic], command: str, arguments: list[object]) -> types.CodeAction:
    named = types.Command(title, command, arguments=arguments)
    return types.CodeAction(title, types.CodeActionKind.QuickFix, diagnostics=list(about) or None, command=named)


def _edit(
    document: Document,
    title: str,
    about: Sequence[types.Diagnostic],
    edit: types.TextEdit,
    *,
    is_preferred: bool | None = None,
) -> types.CodeAction:
    changes = types.WorkspaceEdit(changes={document.uri: [edit]})
    return types.CodeAction(
        title,
        types.CodeActionKind.QuickFix,
        diagnostics=list(about) or None,
        edit=changes,
        is_preferred=is_preferred,
    )


def holds(wider: str, narrower: str) -> bool:
    """Whether a kind of action is the other or one of its parents; the empty kind holds all."""
    return not wider or narrower == wider or narrower.startswith(wider + ".")

"""Times at the end of each region's line, as inlay hints. The tooltip is made when it is asked for."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from lsprotocol import types

from kinetoscope_core.output.comparison_text import arrow_text
from kinetoscope_server.features.expectations import checked
from kinetoscope_server.features.hint_texts import NO_ARROWS, Arrows, hint_parts
from kinetoscope_server.features.hover import hovers
from kinetoscope_server.features.hover.links import Links
from kinetoscope_server.protocol import methods
from kinetoscope_server.results.by_file import Placed
from kinetoscope_server.results.changes import Changes
from kinetoscope_server.results.comparisons import Comparisons, largest_change
from kinetoscope_server.settings.settings import Settings
from kinetoscope_server.text.documents import Document


def by_row(placed: Iterable[Placed]) -> dict[int, list[Placed]]:
    """The measures by the row (from 0) that they are shown at."""
    rows: defaultdict[int, list[Placed]] = defaultdict(list)
    for each in placed:
        rows[each.region.line - 1].append(each)
    return rows


def inlay_hints(
    document: Document,
    placed: Sequence[Placed],
    comparisons: Comparisons,
    settings: Settings,
    asked: types.Range,
) -> list[types.InlayHint]:
    """One hint for each line with measures in the asked range: an editor cuts all hints of a line together."""
    if settings.hints in ("off", "lens"):
        return []
    return [
        types.InlayHint(
            position=document.end_of_line(row),
            label=_label(document, row, here, comparisons, settings),
            padding_left=True,
            data={"uri": document.uri},
        )
        for row, here in by_row(placed).items()
        if asked.start.line <= row <= asked.end.line
    ]


def times_at(here: Sequence[Placed], comparisons: Comparisons, settings: Settings) -> tuple[str, ...]:
    """What is told of a line in a few characters, in one or two parts."""
    if any(not each.measured.is_forward for each in here):
        here = [each for each in here if not each.measured.is_forward]
    pattern = here[0].region.name if len({each.region.call for each in here}) == 1 else "regions"
    if all(each.measured.is_module for each in here):
        pattern = "forward:" if here[0].measured.is_forward else "modules"
    return hint_parts(
        [each.measured.region for each in here],
        pattern,
        is_stale=any(each.is_stale for each in here),
        with_self=settings.hints != "total",
        origin=here[0].origin,
        arrows=_arrows(here[0], comparisons),
    )


def _label(
    document: Document, row: int, here: Sequence[Placed], comparisons: Comparisons, settings: Settings
) -> list[types.InlayHintLabelPart]:
    parts = times_at(here, comparisons, settings)
    arguments = [document.uri, row, here[0].region.name]
    commands = [types.Command("Show details", methods.SHOW_DETAILS, arguments=arguments) for _ in parts]
    if here[0].measured.shown.result.traces:
        commands[0] = types.Command("Open the trace", methods.OPEN_TRACE, arguments=arguments)
    return [types.InlayHintLabelPart(text, command=command) for text, command in zip(parts, commands, strict=True)]


def _arrows(placed: Placed, comparisons: Comparisons) -> Arrows:
    """One at most: of what changed most since the baseline."""
    region = comparisons.region(placed)
    largest = None if region is None else largest_change(region)
    if largest is None:
        return NO_ARROWS
    arrow = f" {arrow_text(largest[1])}"
    return (arrow, "") if largest[0] == "CUDA" else ("", arrow)


def resolved(
    hint: types.InlayHint,
    document: Document,
    placed: Sequence[Placed],
    changes: Changes,
    comparisons: Comparisons,
    *,
    has_links: bool,
) -> types.InlayHint:
    """The hint with its tooltip: all that a hover says of the line."""
    here = by_row(placed).get(hint.position.line)
    if here:
        links = Links(document.uri, here) if has_links else None
        text = hovers.text(here, changes, comparisons, document.path, links=links, expected=checked(document, here))
        hint.tooltip = types.MarkupContent(types.MarkupKind.Markdown, text)
    return hint

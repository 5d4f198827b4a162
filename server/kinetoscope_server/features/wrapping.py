"""Refactorings that put a region around code and take it out again, where the cursor or the selection is.

Clients that resolve code actions get the edits only for the one that was chosen. What cannot be done is shown, with the
reason, to clients that show such actions; VS Code shows them where a person asked for refactorings.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from lsprotocol import types

from kinetoscope_core.source.regions import Edit, Range, SourceRegions
from kinetoscope_core.source.regions.which_region import around
from kinetoscope_core.source.wrapping import (
    Measured,
    Refusal,
    Removed,
    measure_block,
    measure_function,
    measure_loop_body,
    remove_region,
)
from kinetoscope_core.text import printable
from kinetoscope_server.features.code_actions import holds
from kinetoscope_server.protocol.client import Client
from kinetoscope_server.text.documents import Document

KIND: Final = types.CodeActionKind.RefactorRewrite
BLOCK, FUNCTION, LOOP, REMOVE = (f"{KIND.value}.{name}" for name in ("block", "function", "loop", "remove"))


class _Offer(NamedTuple):
    kind: str
    title: str
    what: Measured | Removed | Refusal


def wrapping_actions(document: Document, params: types.CodeActionParams, client: Client) -> list[types.CodeAction]:
    """What can be measured or no longer be measured at the asked place, in a file that has to do with torch.

    Nothing is offered by itself at a mere cursor: editors ask at each of its moves, and would always show a light bulb.
    """
    context, place = params.context, params.range
    is_automatic = context.trigger_kind == types.CodeActionTriggerKind.Automatic and not context.only
    if (is_automatic and place.start == place.end) or not _has_torch(document):
        return []
    actions: list[types.CodeAction] = []
    for offer in _offers(document, place):
        if context.only is not None and not any(holds(kind, offer.kind) for kind in context.only):
            continue
        action = types.CodeAction(offer.title, offer.kind)
        if isinstance(offer.what, Refusal):
            if not client.shows_disabled_actions:
                continue
            action.disabled = types.CodeActionDisabled(offer.what.reason)
        elif client.resolves_edits_of_actions:
            start, end = place.start, place.end
            at = [start.line, start.character, end.line, end.character]
            action.data = {"uri": document.uri, "kind": offer.kind, "title": offer.title, "at": at}
        else:
            action.edit = _edit(document, offer.what.edits())
        actions.append(action)
    return actions


def resolved_action(action: types.CodeAction, data: Mapping[str, Any], document: Document | None) -> types.CodeAction:
    """The action with its edit, for the text as it now is; without one if it no longer applies there."""
    if document is None:
        return action
    at = data["at"]
    place = types.Range(types.Position(at[0], at[1]), types.Position(at[2], at[3]))
    for offer in _offers(document, place):
        is_it = offer.kind == data.get("kind") and offer.title == data.get("title")
        if is_it and not isinstance(offer.what, Refusal):
            action.edit = _edit(document, offer.what.edits())
    return action


def _offers(document: Document, place: types.Range) -> Iterator[_Offer]:
    source = document.source
    first, last = place.start.line, place.end.line
    if last > first and place.end.character == 0:
        last -= 1  # a selection of whole lines ends at the start of the next one
    block = measure_block(source, first, last)
    if first < last or not isinstance(block, Refusal):
        yield _Offer(BLOCK, "Measure this block", block)
    if first < last:
        return
    ways: list[tuple[str, str, Callable[[SourceRegions, int], Measured | Refusal | None]]] = [
        (FUNCTION, "Measure this function", measure_function),
        (LOOP, "Measure the loop body", measure_loop_body),
    ]
    for kind, title, measure in ways:
        what = measure(source, first)
        if what is not None:
            yield _Offer(kind, title, what)
    for region in around(document.regions, first + 1):
        removed = remove_region(source, region)
        if removed is not None:
            yield _Offer(REMOVE, f"Remove the region: {printable(region.name)}", removed)


def _has_torch(document: Document) -> bool:
    return bool(document.regions) or b"torch" in document.source.data


def _edit(document: Document, edits: list[Edit]) -> types.WorkspaceEdit:
    # From the first place of the text to the last: so those at the same place are put in this order.
    return types.WorkspaceEdit(changes={document.uri: [_text_edit(document, edit) for edit in reversed(edits)]})


def _text_edit(document: Document, edit: Edit) -> types.TextEdit:
    position = document.source.position
    return types.TextEdit(document.in_client_units(Range(position(edit.start), position(edit.end))), edit.text)

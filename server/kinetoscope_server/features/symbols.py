"""Regions as document symbols, so that an outline and breadcrumbs show them."""

from lsprotocol import types

from kinetoscope_core.source.regions import Range, Region
from kinetoscope_core.text import printable
from kinetoscope_server.text.documents import Document


def document_symbols(document: Document) -> list[types.DocumentSymbol]:
    """The regions of the file, nested as they are in its text."""
    top: list[types.DocumentSymbol] = []
    around: list[tuple[Range, types.DocumentSymbol]] = []
    for region in document.regions:
        whole = _whole(region)
        symbol = types.DocumentSymbol(
            name=printable(region.name) or '""',  # editors refuse an empty name
            kind=types.SymbolKind.Event,
            range=document.in_client_units(whole),
            selection_range=document.in_client_units(region.item),
            detail="record_function",
            children=[],
        )
        while around and around[-1][0].end < whole.end:
            around.pop()
        siblings = around[-1][1].children if around else None
        (top if siblings is None else siblings).append(symbol)  # type: ignore[union-attr]
        around.append((whole, symbol))
    return top


def _whole(region: Region) -> Range:
    """From what enters the region to the end of what runs inside."""
    body = region.body
    if body is None:
        return region.item
    return Range(min(region.item.start, body.start), max(region.item.end, body.end))

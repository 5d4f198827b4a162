"""The results of a file as plain values, for clients that draw them in their own way (docs/lsp.md)."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from kinetoscope_server.results.by_file import Placed
from kinetoscope_server.results.comparisons import Baseline
from kinetoscope_server.results.shown import share_in
from kinetoscope_server.text.documents import Document


def results_notice(document: Document, placed: Sequence[Placed], baseline: Baseline | None) -> dict[str, Any]:
    """The parameters of `kinetoscope/results`: the file's regions with their measures, as in docs/measures.md, and the
    baseline of the shown run.
    """
    return {
        "uri": document.uri,
        "version": document.version,
        "regions": [_region(document, each) for each in placed if not each.measured.is_forward],
        "baseline": baseline and {"run": baseline.run, "started": baseline.started, "is_pinned": baseline.is_pinned},
    }


def _region(document: Document, placed: Placed) -> dict[str, Any]:
    place = document.in_client_units(placed.region.item)
    shown = placed.measured.shown
    result = shown.result
    return {
        "name": placed.measured.region.name,
        "pattern": placed.region.name,
        "line": placed.region.line - 1,
        "range": {
            "start": {"line": place.start.line, "character": place.start.character},
            "end": {"line": place.end.line, "character": place.end.character},
        },
        "stale": list(placed.reasons),
        "origin": placed.origin,
        "measures": placed.measured.values,
        "bound": placed.measured.values["bound"],
        "share": share_in(result, placed.measured.region),
        "run": shown.run,
        "started": result.run.started if result.run else None,
        "is_prepared": result.run.is_prepared if result.run else False,
        "device": asdict(result.device) if result.device else None,
        "torch": result.torch,
    }

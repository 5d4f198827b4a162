"""All that was measured in one run, for clients that show it in a way of their own (docs/lsp.md, `kinetoscope/run`)."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from kinetoscope_core.results.measures import RegionMeasures, RegionName
from kinetoscope_core.results.summary import title_of
from kinetoscope_core.source.placement import Fingerprint, Placement, Placer
from kinetoscope_core.source.regions.which_region import shown_at
from kinetoscope_server.results.archive import Values
from kinetoscope_server.results.by_file import reasons_of
from kinetoscope_server.results.shown import Row, Shown, resolved, share_in, values_of, with_names
from kinetoscope_server.runs.command import Command
from kinetoscope_server.text.documents import Document, Documents, uri_of

GONE = "it is no longer in the text"
CHANGED = "its file has changed on disk since it was measured"

_AS_MEASURED = ("run", "traces", "device", "torch", "device_total_ns", "outside_regions_ns", "no_cuda_because")


def whole_run(
    values: Values, shown: Shown, documents: Documents, has_changed: Callable[[Shown, str], bool]
) -> dict[str, Any]:
    """The answer for a result: its JSON, with each region's place in the text as it is now.

    `has_changed` says whether a file that is not open is another one on disk than when it was measured.
    """
    places = _Places(shown, documents, has_changed)
    regions = with_names(shown.result)
    tree = _Tree(regions)
    measured = (*shown.result.regions, *shown.result.groups)
    raw = (*values["regions"], *values.get("groups", ()))
    whole = {id(region): measures for region, measures in zip(measured, raw, strict=True)}
    return {
        "id": shown.run,
        "script": _script_of(shown),
        "title": title_of(shown.result.run, shown.result.traces),
        **{name: values[name] for name in _AS_MEASURED},
        "backward": values.get("backward"),
        "contents": values.get("contents"),
        "problems": values["problems"],
        "findings": values["findings"],
        "regions": [
            {
                "index": index,
                "measures": whole.get(id(region)) or values_of(region),
                **places.of(region),
                "share": share_in(shown.result, region),
                "parent": tree.index_of(region.parent),
                "series": tree.series_of(region),
                "inside": tree.inside_of(region),
            }
            for index, region in enumerate(regions)
        ],
    }


def _script_of(shown: Shown) -> str | None:
    """The file that ran."""
    run = shown.result.run
    return None if run is None or run.is_module else uri_of(Command.of_run(run).script)


class _Tree:
    """Which row a name is part of, and which name a region is inside."""

    def __init__(self, regions: Sequence[Row]) -> None:
        self._regions = regions
        self._index_of = {_name_of(each): index for index, each in enumerate(regions)}
        self._names: defaultdict[int, list[int]] = defaultdict(list)
        for index, region in enumerate(regions):
            series = self.series_of(region)
            if series is not None:
                self._names[series].append(index)

    def index_of(self, name: RegionName | None) -> int | None:
        return None if name is None else self._index_of.get(name)

    def series_of(self, region: Row) -> int | None:
        series = region.series if isinstance(region, RegionMeasures) else None
        return None if series is None else self._index_of.get(RegionName(series, region.file, region.line))

    def inside_of(self, region: Row) -> int | None:
        """The innermost name of a series that the region is a part of by its own name: `layers.3` of `layers.3.mlp`."""
        around = self.index_of(region.parent)
        while around is not None:
            for index in self._names[around]:
                if _is_within(region.name, self._regions[index].name):
                    return index
            around = self.index_of(self._regions[around].parent)
        return None


def _name_of(region: Row) -> RegionName:
    return RegionName(region.name, region.file, region.line)


def _is_within(name: str, other: str) -> bool:
    """Whether a module is one of another's: names are paths, and those in a backward pass say so at the end."""
    path, _, ending = name.partition(" ")
    around, _, other_ending = other.partition(" ")
    return ending == other_ending and path.startswith(f"{around}.")


@dataclass(slots=True)
class _File:
    """A measured file: where it is open, and there the placement of each region that it had."""

    uri: str
    document: Document | None
    placements: dict[Fingerprint, Placement]
    has_changed: bool


class _Places:
    """Where the regions of one result are now."""

    def __init__(self, shown: Shown, documents: Documents, has_changed: Callable[[Shown, str], bool]) -> None:
        self._shown = shown
        self._files = {file: self._file(file, documents, has_changed) for file in shown.fingerprints}

    def _file(self, file: str, documents: Documents, has_changed: Callable[[Shown, str], bool]) -> _File:
        for document in documents.of_path(file):
            placed = Placer(self._shown.fingerprints[file]).place(document.source)
            return _File(document.uri, document, {each.fingerprint: each for each in placed}, has_changed=False)
        return _File(uri_of(file), None, {}, has_changed(self._shown, file))

    def of(self, region: Row) -> dict[str, Any]:
        """`uri`, `row` and `stale` of the answer."""
        if region.file is None:
            return {"uri": None, "row": None, "stale": []}
        name = resolved(region.file)
        row = None if region.line is None else region.line - 1
        file = self._files.get(name)
        if file is None:
            return {"uri": uri_of(name), "row": row, "stale": []}
        found = shown_at(self._shown.fingerprints[name], region.line, region.name)
        placement = None if found is None else file.placements.get(found)
        if placement is not None:
            row = None if placement.region is None else placement.region.line - 1
        return {"uri": file.uri, "row": row, "stale": list(_stale(file, placement))}


def _stale(file: _File, placement: Placement | None) -> Iterator[str]:
    if file.has_changed:
        yield CHANGED
    if placement is not None and placement.is_gone:
        yield GONE
    elif placement is not None:
        yield from reasons_of(placement)

"""Which region of one result is which of another: by place, then by name, then by what moved."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath

from kinetoscope_core.results.measures import RegionMeasures
from kinetoscope_core.results.result import Result, rows_of
from kinetoscope_core.source.placement import Fingerprint, matched
from kinetoscope_core.source.regions.which_region import shown_at

Pair = tuple[RegionMeasures | None, RegionMeasures | None]


def pairs_of(a: Result, b: Result) -> list[Pair]:
    """The rows of both, each once: those of `b` in their order, with what they were in `a`; then what only `a` has."""
    old, new = rows_of(a), rows_of(b)
    old_in, new_in = _by_file(old), _by_file(new)
    found: dict[int, int] = {}
    for file, now in _files_of(a, b).items():
        old_prints, new_prints = a.sources.get(file, ()), b.sources.get(now, ())
        moved = matched(old_prints, new_prints)
        standing = _standing(old_in[file], old_prints)
        now_standing = _standing(new_in[now], new_prints)
        for place, was in standing.items():
            _pair(found, was, now_standing.get(moved.get(place, -1), []), old, new)
    _pair_by_place(found, old, new)
    _pair_by_name(found, old, new)
    was_of = {now: old[was] for was, now in found.items()}
    both: list[Pair] = [(was_of.get(index), region) for index, region in enumerate(new)]
    return both + [(region, None) for index, region in enumerate(old) if index not in found]


def _files_of(a: Result, b: Result) -> dict[str, str]:
    """The files of `a` and what they are in `b`: of the same path, else the only one of that name on both sides."""
    found = {file: file for file in a.sources if file in b.sources}
    names: defaultdict[str, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for side, result in enumerate((a, b)):
        for file in result.sources:
            if file not in found:
                names[PurePath(file).name][side].append(file)
    return found | {olds[0]: news[0] for olds, news in names.values() if len(olds) == 1 == len(news)}


def _by_file(rows: Sequence[RegionMeasures]) -> defaultdict[str, list[tuple[int, RegionMeasures]]]:
    files: defaultdict[str, list[tuple[int, RegionMeasures]]] = defaultdict(list)
    for index, row in enumerate(rows):
        if row.file is not None:
            files[row.file].append((index, row))
    return files


def _standing(rows: Iterable[tuple[int, RegionMeasures]], prints: Sequence[Fingerprint]) -> dict[int, list[int]]:
    """The rows of a file by the fingerprint they stand at."""
    by_line: defaultdict[int | None, list[Fingerprint]] = defaultdict(list)
    for each in prints:
        by_line[each.line].append(each)
    places = {id(each): place for place, each in enumerate(prints)}
    standing: defaultdict[int, list[int]] = defaultdict(list)
    for index, row in rows:
        print_ = shown_at(by_line[row.line], row.line, row.name)
        if print_ is not None:
            standing[places[id(print_)]].append(index)
    return standing


def _pair(
    found: dict[int, int],
    olds: Sequence[int],
    news: Sequence[int],
    old: Sequence[RegionMeasures],
    new: Sequence[RegionMeasures],
) -> None:
    """One place may have many names: those alike are the same, and where one is left on each side, it was renamed."""
    if len(olds) == 1 == len(news):
        found[olds[0]] = news[0]
        return
    by_name = {new[index].name: index for index in news}
    for index in olds:
        if old[index].name in by_name:
            found[index] = by_name.pop(old[index].name)
    left = [index for index in olds if index not in found]
    if len(left) == 1 == len(by_name):
        found[left[0]] = next(iter(by_name.values()))


def _pair_by_place(found: dict[int, int], old: Sequence[RegionMeasures], new: Sequence[RegionMeasures]) -> None:
    places = {(each.name, each.file, each.line): index for index, each in _free(new, found.values())}
    for index, each in _free(old, found):
        now = places.pop((each.name, each.file, each.line), None)
        if now is not None:
            found[index] = now


def _pair_by_name(found: dict[int, int], old: Sequence[RegionMeasures], new: Sequence[RegionMeasures]) -> None:
    """A name that both sides have once."""
    olds, news = _by_name(_free(old, found)), _by_name(_free(new, found.values()))
    for name, indices in olds.items():
        now = news.get(name, [])
        if len(indices) == 1 == len(now):
            found[indices[0]] = now[0]


def _by_name(rows: Iterable[tuple[int, RegionMeasures]]) -> Mapping[str, list[int]]:
    names: defaultdict[str, list[int]] = defaultdict(list)
    for index, each in rows:
        names[each.name].append(index)
    return names


def _free(rows: Sequence[RegionMeasures], taken: Iterable[int]) -> list[tuple[int, RegionMeasures]]:
    paired = set(taken)
    return [(index, each) for index, each in enumerate(rows) if index not in paired]

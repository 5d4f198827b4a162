"""One module says which region is meant: by a name alone, by what a person typed, or as one of another text."""

import pytest

from kinetoscope_core.source.regions import SourceRegions, find_regions
from kinetoscope_core.source.regions.which_region import (
    RegionsByName,
    nearest_named,
    places_of_names,
    same_in,
    standing_at,
    written_as,
)

HEAD = "from torch.profiler import record_function as rf\n"
SOURCE = f"""{HEAD}def f(i):
    with rf("a"):
        pass
    with rf(f"layer_{{i}}"):
        pass


def g(x):
    with rf(x): pass
    with rf("a"): pass
    with helper("b"):
        pass
"""


@pytest.mark.parametrize(
    ("one", "other", "name", "found"),
    [
        ("with rf('a'): pass", "", "a", ("one", 2)),
        ("with rf('a'): pass", "with rf('a'): pass", "a", None),
        ("with rf('a'): pass", "with rf(f'a{x}'): pass", "a", ("one", 2)),
        ("with rf('a'): pass", "with rf(f'a{x}'): pass", "ab", ("other", 2)),
        ("with rf('a1'), rf('a1'): pass", "with rf(f'a{x}'): pass", "a1", None),
        ("with rf(x): pass", "", "a", None),
        ("", "", "a", None),
    ],
)
def test_a_name_alone_means_a_region_where_it_can_be_no_other(
    one: str, other: str, name: str, found: tuple[str, int] | None
):
    files = {file: RegionsByName(find_regions(HEAD + text)) for file, text in (("one", one), ("other", other))}
    place = places_of_names(files, [name]).get(name)
    assert (place and (place[0], place[1].line)) == found


def test_a_line_means_its_regions_else_its_statement():
    source = SourceRegions(SOURCE)
    assert [region.name for region in standing_at(source, 3)] == ["a"]
    assert [region.name for region in standing_at(source, 10)] == ["{…}"]
    assert [(region.kind, region.name) for region in standing_at(source, 12)] == [("statement", 'with helper("b"):')]
    assert standing_at(source, 7) == []
    assert standing_at(source, 99) == []


def test_a_name_with_gaps_is_taken_as_it_is_written_and_as_it_is_shown():
    regions = find_regions(SOURCE)
    assert [region.line for region in written_as(regions, "layer_{i}")] == [5]
    assert [region.line for region in written_as(regions, "layer_{…}")] == [5]
    assert written_as(regions, "a") == []


def test_of_one_name_the_nearest_is_meant():
    regions = find_regions(SOURCE)
    assert [found.line for line in (1, 6, 9) if (found := nearest_named(regions, "a", line))] == [3, 3, 11]
    assert nearest_named(regions, "b", 3) is None


def test_in_another_text_the_region_of_the_same_function_is_the_same():
    first, _, _, second = find_regions(SOURCE)
    moved = SourceRegions(SOURCE.replace("def f(i)", "\n" * 9 + "def f(i)"))
    assert [found.line for each in (first, second) if (found := same_in(moved, each))] == [12, 20]
    gone = SourceRegions(SOURCE.replace("def g(x)", "def h(x)"))
    assert [found.line for each in (first, second) if (found := same_in(gone, each))] == [3, 11]
    (statement,) = standing_at(SourceRegions(SOURCE), 12)
    assert [found.line for text in (moved, gone) if (found := same_in(text, statement))] == [21, 12]
    assert same_in(SourceRegions(""), first) is None

"""Which region holds which, against the calls walked one by one, and in recorded traces."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinetoscope_core.analysis.region_tree import parents_of
from kinetoscope_core.analysis.statistics import RecordedCalls, RegionKey
from kinetoscope_core.jobs.measure import measure_traces
from kinetoscope_core.results.measures import Call
from kinetoscope_core.results.result import share_of

_CALL = Call("r", "1", "1", 0, -1, -1, True, 100, 40, 0, 0, None, None, None, None, None, None)
_TRACES = Path(__file__).parents[1] / "traces" / "h200"


def _recorded(parents: list[int], names: str) -> RecordedCalls:
    return RecordedCalls.by_name(
        [replace(_CALL, name=name, parent=parent) for name, parent in zip(names, parents, strict=True)]
    )


@st.composite
def forests(draw: st.DrawFn) -> tuple[list[int], str]:
    number = draw(st.integers(1, 30))
    parents = [draw(st.integers(max(-1, place - 4), place - 1)) for place in range(number)]
    return parents, draw(st.text("abcd", min_size=number, max_size=number))


@given(forests())
def test_the_parent_holds_every_call_and_is_the_innermost_that_does(forest: tuple[list[int], str]) -> None:
    parents, names = forest
    around: list[list[str]] = []
    for name, parent in zip(names, parents, strict=True):
        ways = [names[parent], *around[parent]] if parent >= 0 else []
        around.append(ways[len(ways) - ways[::-1].index(name) :] if name in ways else ways)
    found = {key.name: parent.name for key, parent in parents_of([_recorded(parents, names)]).items()}
    is_recursive = any(len(set(ways)) < len(ways) for ways in around)
    for name in names:
        of_calls = [around[place] for place in range(len(names)) if names[place] == name]
        common = set(of_calls[0]).intersection(*of_calls)
        if name in found:
            assert found[name] in common
        if not is_recursive:
            assert found.get(name) == next((each for each in of_calls[0] if each in common), None)
        seen = {name}
        while (name := found.get(name, "")) != "":
            assert name not in seen
            seen.add(name)


@given(forests(), st.data())
def test_no_region_is_inside_of_itself_whichever_calls_are_warm_ups(
    forest: tuple[list[int], str], data: st.DataObject
) -> None:
    parents, names = forest
    flags = data.draw(st.lists(st.booleans(), min_size=len(names), max_size=len(names)))
    found = parents_of([replace(_recorded(parents, names), is_warmup=flags)])
    for key in found:
        seen = [key]
        while seen[-1] in found:
            seen.append(found[seen[-1]])
            assert seen.count(seen[-1]) == 1


def test_a_recording_that_begins_inside_a_region_knows_what_is_nested_in_it() -> None:
    #                      (step) backward step backward step backward
    recorded = _recorded([-1, -1, 1, -1, 3], "bsbsb")
    assert parents_of([recorded]) == {}
    of_run = replace(recorded, is_warmup=[True, False, False, False, False])
    assert parents_of([of_run]) == {RegionKey("b"): RegionKey("s")}


def test_what_two_regions_hold_belongs_to_the_one_around_both() -> None:
    #            step train norm eval norm
    found = parents_of([_recorded([-1, 0, 1, 0, 3], "stnen"), _recorded([-1, 0], "st")])
    assert found == {RegionKey("t"): RegionKey("s"), RegionKey("e"): RegionKey("s"), RegionKey("n"): RegionKey("s")}


@pytest.mark.parametrize("trace", ["train_mlp", "odd_cudagraph", "odd_same_name", "odd_threads", "odd_async_tail"])
def test_no_region_has_a_larger_share_than_the_one_around_it(trace: str) -> None:
    result = measure_traces([_TRACES / f"{trace}.json.gz"], [])
    share = {(each.name, each.file, each.line): share_of(each, result) or 0 for each in result.regions}
    nested = [each for each in result.regions if each.parent]
    for each in nested:
        assert each.parent is not None
        assert share[each.name, each.file, each.line] <= share[each.parent.name, each.parent.file, each.parent.line]
    if trace == "train_mlp":
        assert {each.name: each.parent.name for each in nested if each.parent}["layer_0"] == "forward"

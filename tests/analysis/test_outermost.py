"""Which call holds which, against the definition walked step by step."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kinetoscope_core.analysis.outermost import nearest_of_same_key, outermost
from kinetoscope_core.jobs.measure import measure_traces


@st.composite
def forests(draw: st.DrawFn) -> tuple[list[int], list[str], list[int], list[bool]]:
    """Parents (an earlier place or -1), keys, ends, and which places count."""
    number = draw(st.integers(1, 40))
    parents = [draw(st.integers(max(-1, place - 4), place - 1)) for place in range(number)]
    keys = draw(st.lists(st.sampled_from("ab"), min_size=number, max_size=number))
    ends = draw(st.lists(st.integers(0, 30), min_size=number, max_size=number))
    return parents, keys, ends, draw(st.lists(st.booleans(), min_size=number, max_size=number))


@given(forests())
def test_the_outermost_is_the_one_that_a_walk_finds(forest: tuple[list[int], list[str], list[int], list[bool]]) -> None:
    parents, keys, ends, counts = forest
    nearest = nearest_of_same_key(parents, keys)
    for key in "ab":
        places = [place for place in range(len(parents)) if keys[place] == key and counts[place]]
        walked: dict[int, int] = {}
        for place in places:
            walked[place] = around = place
            while (around := parents[around]) >= 0:
                if around in places and ends[around] >= ends[place]:
                    walked[place] = around
        assert outermost(places, nearest, ends.__getitem__, ends.__getitem__) == walked


def nested(number: int) -> list[tuple[str, int, int]]:
    return [("deep", each, 3 * number - 2 * each) for each in range(number)]


def nested_of_many_names(number: int) -> list[tuple[str, int, int]]:
    return [(f"deep {each % 97}", each, 3 * number - 2 * each) for each in range(number)]


def crossing(number: int) -> list[tuple[str, int, int]]:
    return [("task", each, number) for each in range(number)]


@pytest.mark.parametrize("shape", [nested, nested_of_many_names, crossing])
def test_four_times_the_nesting_is_four_times_the_work(
    tmp_path: Path, shape: Callable[[int], list[tuple[str, int, int]]]
) -> None:
    def lines_run(number: int) -> int:
        slices = [
            {"ph": "X", "cat": "user_annotation", "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": duration}
            for name, ts, duration in shape(number)
        ]
        trace = tmp_path / f"{number}.json"
        trace.write_text(json.dumps({"traceEvents": slices}))
        lines = 0

        def count(_frame: object, event: str, _argument: object) -> object:
            nonlocal lines
            lines += event == "line"
            return count

        before = sys.gettrace()
        sys.settrace(count)  # pyright: ignore[reportArgumentType]
        try:
            measure_traces([trace], [])
        finally:
            sys.settrace(before)
        return lines

    assert lines_run(1_200) < 6 * lines_run(300)

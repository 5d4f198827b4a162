"""The table of regions at different widths."""

import re
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from kinetoscope_core.jobs.measure import measure_traces
from kinetoscope_core.output.measures_text import region_text, unmeasured_text
from kinetoscope_core.output.table import region_table
from kinetoscope_core.output.terminal import print_result
from kinetoscope_core.output.tree import Placed, arranged
from kinetoscope_core.results.measures import Unmeasured
from kinetoscope_core.results.result import rows_of

TRACE = Path(__file__).parents[1] / "traces" / "h200" / "train_mlp.json.gz"


def printed(width):
    console = Console(width=width, file=StringIO())
    result = measure_traces([TRACE], [])
    console.print(region_table(console, arranged(result, result.regions), has_cuda=True))
    return console.file.getvalue()


def test_ranks_have_a_table_of_what_they_wait_and_the_slow_one_stands_beside_the_region():
    ranks = [TRACE.parents[1] / "ranks" / f"ddp_slow_host_rank{rank}.json.gz" for rank in (0, 1)]
    console = Console(width=200, file=StringIO())
    print_result(console, measure_traces(ranks, []), {})
    text = console.file.getvalue()
    rows = [line.split() for line in text.splitlines()]
    assert ["0", "123", "ms", "65", "83.5", "ms", "7.60", "ms", "73.5", "ms"] in rows
    assert ["1", "35.2", "ms", "65", "0", "ns", "8.47", "ms", "7.23", "ms"] in rows
    assert re.search(r"\n   *data .* rank 1 CPU ×69 ", text)
    assert "2 ranks; the times are those of rank 0, the median rank." in text
    assert "straggler  Rank 1 is late: in 65 of 65 collectives" in text


@pytest.mark.parametrize("width", [60, 80, 100, 140, 200])
def test_names_and_times_are_whole_at_every_width(width):
    text = printed(width)
    assert "backward" in text
    assert "275 µs" in text  # its CUDA total
    assert "…" not in text


def test_nested_regions_stand_below_what_holds_them_the_largest_share_first():
    found = re.findall(r"^ ( *[\w.#]+) .* of \d", printed(200), re.MULTILINE)
    assert [name for name in found if "layer" not in name and "Optimizer" not in name] == [
        "train_step", "  backward", "  forward", "  data", "  optimizer", "  log",
    ]  # fmt: skip
    assert found[3:5] == ["    layer_6", "    layer_4"]


def test_a_wide_terminal_shows_all_columns():
    assert all(heading in printed(200) for heading in ("Line", "CUDA busy", "Launches", "CPU self", "Bound"))


def test_a_narrow_one_says_what_it_leaves_out():
    assert "too narrow for CUDA busy" in " ".join(printed(60).split())


def rows(*regions, unmeasured=()):
    console = Console(width=200, file=StringIO())
    placed = [Placed(each) for each in (*regions, *unmeasured)]
    console.print(region_table(console, placed, has_cuda=False))
    return console.file.getvalue()


def test_lines_of_several_files_are_told_with_their_file(tmp_path):
    region = measure_traces([TRACE], []).regions[0]
    first, second = (replace(region, name="work", file=str(tmp_path / name), line=7) for name in ("a.py", "b.py"))
    assert ".py" not in rows(first)
    assert "a.py:7" in rows(first, second)
    assert "b.py:7" in rows(first, second)
    alike = replace(first, file=str(tmp_path / "deeper" / "a.py"))
    assert f"{tmp_path}/a.py:7" in rows(first, alike)
    assert f"{tmp_path}/deeper/a.py:7" in rows(first, alike)


def test_the_part_of_a_call_that_was_recorded_is_no_time_of_it():
    region = measure_traces([TRACE], []).regions[0]
    training = Unmeasured("training", None, 8, 1, 1, 4_130_000_000, None, None, region.first)
    text = rows(unmeasured=[training])
    assert "at least 4.13 s" in text
    assert "0 of 1, not ended" in text
    assert unmeasured_text(training) == "CPU at least 4.13 s, not ended"
    assert unmeasured_text(replace(training, unfinished=0, at_least_ns=None)) == "without times"


def test_a_series_stands_in_the_place_of_its_names():
    result = measure_traces([TRACE], [])
    region = replace(result.regions[0], file="train.py", line=3)
    steps = [replace(region, name=f"step {number}", series="step N") for number in range(3)]
    series = replace(region, name="step N", names=3)
    other = replace(region, name="step 0", line=9, series="step N")
    alone = replace(region, name="data")
    told = replace(result, regions=(alone, *steps, other), groups=(series,))
    assert [(each.name, each.line) for each in rows_of(told)] == [("data", 3), ("step N", 3), ("step 0", 9)]
    assert region_text(replace(series, overhead_ns=0)).endswith(", 3 names")

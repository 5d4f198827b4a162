"""The table of regions at different widths."""

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from kinetoscope_core.measuring import measure_traces
from kinetoscope_core.table import region_table

TRACE = Path(__file__).parents[1] / "traces" / "h200" / "train_mlp.json.gz"


def printed(width):
    console = Console(width=width, file=StringIO())
    console.print(region_table(console, measure_traces([TRACE], []).regions, has_cuda=True))
    return console.file.getvalue()


@pytest.mark.parametrize("width", [60, 80, 100, 140, 200])
def test_names_and_times_are_whole_at_every_width(width):
    text = printed(width)
    assert "backward" in text
    assert "275 µs" in text  # its CUDA total
    assert "…" not in text


def test_a_wide_terminal_shows_all_columns():
    assert all(heading in printed(200) for heading in ("Line", "CUDA busy", "Launches", "CPU self", "Bound"))


def test_a_narrow_one_says_what_it_leaves_out():
    assert "too narrow for CUDA busy" in " ".join(printed(60).split())

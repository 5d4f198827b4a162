"""After any edits regions equal those of a fresh reading, and times stand at the line of their region."""

import re
from dataclasses import asdict

from hypothesis import given, settings
from hypothesis import strategies as st
from lsprotocol import types as lsp

from kinetoscope_core.results.measures import Breakdown
from kinetoscope_core.source.placement import fingerprints_of
from kinetoscope_core.source.regions import find_regions
from kinetoscope_server.features.inlay_hints import inlay_hints
from kinetoscope_server.results.by_file import Board
from kinetoscope_server.results.comparisons import Comparisons
from kinetoscope_server.results.shown import Shown
from kinetoscope_server.settings.settings import Settings
from kinetoscope_server.text.documents import Document

TEXT = """from torch.profiler import record_function

def first(x):
    with record_function("first"):
        return x + 1

def second(x):
    for i in range(3):
        with record_function(f"second_{i}"):
            x = x * 2
    return x

@record_function("third")
def third(x):
    return first(x)
"""
PIECES = st.sampled_from(
    [
        "",
        "\n",
        "\r\n",
        "\r",
        "    ",
        "x = 1\n",
        "# \u00e9\U0001d54f\n",
        "\x0c",
        "\u2028",
        '"""',
        "(",
        "]",
        "'",
        "\ud800",
        "\x00",
        "with record_function('new'):\n",
        "    pass\n",
        "def f():\n",
        "return x + 1",
        "record_function",
        "\tx\n",
    ]
)
COLUMNS = st.integers(0, 40)
EDITS = st.lists(st.tuples(st.integers(0, 20), COLUMNS, st.integers(0, 3), COLUMNS, PIECES), max_size=12)
INSERTIONS = st.tuples(st.sampled_from([0, 1, 5, 11]), st.sampled_from(["\n", "# text\n", "y = 1\n", "\r\n"]))
ENCODINGS = st.sampled_from(["utf-8", "utf-16", "utf-32"])
PARTS = Breakdown(0, 0, 0, 0, None, None, (), 0, (), 0, (), 1, 0)
EVERYWHERE = lsp.Range(lsp.Position(0, 0), lsp.Position(10_000, 0))


def document_of(text, encoding="utf-16"):
    return Document("file:///work/f.py", "/work/f.py", 1, text, encoding)


def change(document, edit):
    line, column, lines, end_column, text = edit
    place = lsp.Range(lsp.Position(line, column), lsp.Position(line + lines, end_column))
    partial = lsp.TextDocumentContentChangePartial(range=place, text=text)
    document.change([partial], (document.version or 0) + 1)


def result_of(text):
    """All regions of the text, each measured once."""
    fingerprints = fingerprints_of(text)
    spread = {"sum": 5, "median": 1, "min": 1, "max": 1}
    call = {"trace": 0, "start_ns": 0, "cpu_total_ns": 1, "cuda_total_ns": None}
    names = [each.name.replace("{…}", "0") for each in fingerprints]
    nothing = dict.fromkeys(("cuda_total_ns", "cuda_self_ns", "cuda_busy_ns", "backward_cuda_ns", "launches", "bound"))
    recorded = {"breakdown": asdict(PARTS), "call_times": [], "cpu_recorded_ns": 5, "cuda_recorded_ns": None}
    regions = [
        {"name": name, "file": "/work/f.py", "line": each.line, "calls": 5, "measured": 5, "is_cold": False,
         "unfinished": 0, "cpu_total_ns": spread, "cpu_self_ns": spread, "overhead_ns": 0, **nothing,
         "median_call": call, "first": call, **recorded}
        for name, each in zip(names, fingerprints, strict=True)
    ]  # fmt: skip
    return {
        "schema": 2, "run": None, "traces": [], "device": None, "torch": None, "device_total_ns": None,
        "outside_regions_ns": None, "no_cuda_because": None, "regions": regions, "problems": [],
        "regions_cpu_ns": 5, "findings": [],
        "sources": {"/work/f.py": [asdict(each) for each in fingerprints]},
    }  # fmt: skip


def board_of(text):
    board = Board()
    board.add(Shown.of(result_of(text), "made"))
    return board


@settings(deadline=None)
@given(EDITS, ENCODINGS)
def test_after_any_edits_regions_are_those_of_a_fresh_reading(edits, encoding):
    document = document_of(TEXT, encoding)
    for edit in edits:
        change(document, edit)
        assert list(document.regions) == find_regions(document.source.data)


@settings(deadline=None)
@given(EDITS, ENCODINGS)
def test_after_any_edits_each_hint_ends_the_line_of_a_region_of_its_name(edits, encoding):
    document, board = document_of(TEXT, encoding), board_of(TEXT)
    for edit in edits:
        change(document, edit)
        placed = board.placed(document)
        assert len({each.region for each in placed}) == len(placed), "two measures at one region"
        for each in placed:
            assert each.region in document.regions
            assert each.is_stale or each.region.matches(each.measured.region.name)
        lines = re.split(rb"\r\n|\n|\r", document.source.data)
        hints = inlay_hints(document, placed, Comparisons(), Settings(), EVERYWHERE)
        assert [hint.position.line for hint in hints] == sorted({each.region.line - 1 for each in placed})
        for hint in hints:
            line = lines[hint.position.line].decode("utf-8", "surrogatepass")
            units = {"utf-8": len(lines[hint.position.line]), "utf-32": len(line)}
            assert hint.position.character == units.get(encoding, len(line.encode("utf-16-le", "surrogatepass")) // 2)


@settings(deadline=None)
@given(EDITS)
def test_undone_edits_leave_no_trace(edits):
    document, board = document_of(TEXT), board_of(TEXT)
    before = [(each.region, each.reasons) for each in board.placed(document)]
    for edit in edits:
        change(document, edit)
    document.change([lsp.TextDocumentContentChangeWholeDocument(TEXT)], 99)
    assert [(each.region, each.reasons) for each in board.placed(document)] == before
    assert not any(reasons for _, reasons in before)


@settings(max_examples=100, deadline=None)
@given(st.lists(INSERTIONS, max_size=8))
def test_lines_between_functions_move_times_and_never_make_them_stale(insertions):
    document, board = document_of(TEXT), board_of(TEXT)
    for line, text in sorted(insertions, reverse=True):
        # Between top-level statements, from below, so that the lines above stay where they were.
        change(document, (line, 0, 0, 0, text))
    placed = board.placed(document)
    assert [each.measured.region.name for each in placed] == ["first", "second_0", "third"]
    assert not any(each.is_stale for each in placed)
    texts = document.source.data.splitlines()
    assert b'"first"' in texts[placed[0].region.line - 1]
    assert b'"third"' in texts[placed[2].region.line - 1]

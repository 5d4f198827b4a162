"""After any edits the regions are those of the text as it then is, and an edit costs little."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinetoscope_core.source.regions import Edit, Encoding, LineEdit, SourceRegions, find_regions
from kinetoscope_core.source.syntax.positions import line_starts

SOURCE = '''\
import torch
from torch.profiler import record_function as rf
NAME = "const"


class Model:
    """Docstring with rf("x")."""

    @rf("method")
    def forward(self, x):
        with rf(f"layer_{x}"), torch.profiler.record_function(NAME) as both:
            return (x +
                    1)


@rf("decorated")
@other
async def later(stack):
    stack.enter_context(rf(NAME + "!"))
    "😀"; kept = rf("kept")
    with kept:
        pass


held = rf("held")


def uses():
    with held: pass


if __name__ == "__main__":
    with rf("main"):
        uses()
'''

FRAGMENTS = [
    "(", ")", "[", "{", "}", '"', "'", '"""', "'''", "\n", "\r", "\r\n", "\n\n", "def f():\n", "@", "@rf('x')\n",
    "with ",
    "rf(", "record_function", "rf", "    ", "\t", "\f", "\u2028", "😀", "é", "#", "\\", "class A:\n", ":", "async ",
    "import torch\n", "from torch.profiler import *\n", "from ", "if __name__:\n", "if x:\n", "else:\n", "f'", "{x}",
    "\ud800",
    "\0", "yield", "lambda: ", "torch", ".profiler", "x = (\n", ",", "=", " as r", "for ", "*", "global rf\n", "NAME",
    "held",
    "with held: pass\n", "held = rf('y')\n", "NAME = 'z'\n", "\ufeff", "\n)", "try:\n",
]  # fmt: skip

changes = st.lists(
    st.tuples(
        st.integers(0, 1200),
        st.sampled_from([0, 0, 0, 1, 1, 2, 7, 60, 600]),
        st.lists(st.sampled_from(FRAGMENTS), max_size=4),
    ),
    min_size=1,
    max_size=8,
)
texts = st.one_of(st.just(SOURCE), st.lists(st.sampled_from(FRAGMENTS), max_size=40).map("".join))


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


@settings(deadline=None)
@given(texts, changes)
def test_after_any_edits_the_regions_are_those_of_the_final_text(text: str, edits: list[tuple[int, int, list[str]]]):
    source = SourceRegions(text)
    for at, length, fragments in edits:
        start = min(at, len(text))
        end = min(start + length, len(text))
        new = "".join(fragments)
        source.apply([Edit(len(encoded(text[:start])), len(encoded(text[:end])), new)])
        text = text[:start] + new + text[end:]
        assert source.data == encoded(text)
        assert source.regions == find_regions(text)


@settings(max_examples=100, deadline=None)
@given(texts, changes, st.sampled_from(["utf-8", "utf-16", "utf-32"]))
def test_line_edits_do_the_same_in_every_unit(text: str, edits: list[tuple[int, int, list[str]]], encoding: Encoding):
    by_bytes, by_lines = SourceRegions(text), SourceRegions(text)
    for at, length, fragments in edits:
        start = min(at, len(text))
        end = min(start + length, len(text))
        new = "".join(fragments)
        places = [place_of(text, index, encoding) for index in (start, end)]
        by_bytes.apply([Edit(len(encoded(text[:start])), len(encoded(text[:end])), new)])
        if "\r\n" in {text[start - 1 : start + 1], text[end - 1 : end + 1]}:
            # Between the two there is no place that a line and a column could name.
            by_lines = SourceRegions(by_bytes.data)
        else:
            by_lines.apply([LineEdit(places[0], places[1], new)], encoding)
        text = text[:start] + new + text[end:]
        assert by_lines.data == by_bytes.data
        assert by_lines.regions == by_bytes.regions


def place_of(text: str, index: int, encoding: Encoding) -> tuple[int, int]:
    starts = line_starts(encoded(text))
    before = encoded(text[:index])
    row = max(row for row, start in enumerate(starts) if start <= len(before))
    line = before[starts[row] :].decode("utf-8", "surrogatepass")
    if encoding == "utf-8":
        return row, len(encoded(line))
    return row, len(line) if encoding == "utf-32" else len(line.encode("utf-16-le", "surrogatepass")) // 2


def test_several_edits_each_start_from_what_the_one_before_left():
    source = SourceRegions(SOURCE)
    source.apply([LineEdit((0, 0), (0, 0), "\n"), LineEdit((1, 0), (1, 12), "import os"), LineEdit((0, 0), (1, 0), "")])
    assert source.data.startswith(b"import os\nfrom torch")
    assert source.regions == find_regions(source.data)


def test_edits_outside_the_text_go_to_its_ends_and_swapped_ends_are_put_right():
    source = SourceRegions("ab\ncd")
    source.apply([LineEdit((99, 0), (99, 9), "!"), Edit(-5, -1, "?"), LineEdit((-1, 3), (-1, 4), "_")])
    assert source.data == b"_?ab\ncd!"
    source.apply([LineEdit((1, 2), (0, 2), "+"), LineEdit((0, 99), (0, 99), "."), Edit(99, 1, "#")])
    assert source.data == b"_#"


def test_an_edit_inside_a_character_begins_at_its_start():
    source = SourceRegions("a😀b")
    source.apply([Edit(3, 3, "x")])
    assert source.data.decode() == "ax😀b"
    source.apply([LineEdit((0, 3), (0, 3), "y")])
    assert source.data.decode() == "axy😀b"


@pytest.mark.parametrize(("at", "new"), [(1, "\n"), (1, "x"), (0, "x"), (2, "\n")])
def test_a_lone_carriage_return_and_what_comes_after_it_make_lines_together(at: int, new: str):
    source = SourceRegions("\r\rwith x: pass")
    source.apply([Edit(at, at, new)])
    text = "\r\rwith x: pass"
    assert source.data.decode() == text[:at] + new + text[at:]
    source.apply(
        [Edit(len(source.data), len(source.data), "\nfrom torch.profiler import *\rwith record_function('x'): pass")]
    )
    assert source.regions == find_regions(source.data)
    assert len(source.regions) == 1


def test_taking_the_import_away_takes_every_region_and_bringing_it_back_brings_them():
    source = SourceRegions(SOURCE)
    before = source.regions
    at = SOURCE.index(" as rf")
    source.apply([Edit(at, at + 6, "")])
    assert [region.name for region in source.regions] == ["const"]
    source.apply([Edit(at, at, " as rf")])
    assert source.regions == before


def test_a_constant_s_new_value_reaches_regions_elsewhere():
    source = SourceRegions(SOURCE)
    at = SOURCE.index("const")
    source.apply([Edit(at, at + 5, "other")])
    assert {"other", "other!"} <= {region.name for region in source.regions}


def test_a_new_line_above_moves_regions_down():
    source = SourceRegions(SOURCE)
    before = source.regions
    source.apply([Edit(0, 0, "# one\n# two\n")])
    assert [region.line for region in source.regions] == [region.line + 2 for region in before]


def test_the_list_of_regions_is_the_caller_s_own():
    source = SourceRegions(SOURCE)
    source.regions.clear()
    assert source.regions


def test_an_edit_that_cuts_a_kept_region_anew_moves_its_call():
    """The blank lines between two statements belong to one of them, so that an edit there makes the next one anew."""
    text = "import torch\nfrom torch.profiler import record_function as rf\n\n\nclass A:\n    x = 1\n\n\n"
    text += 'held = rf("held")\n\n\ndef uses():\n    with held: pass\n'
    for at in range(len(text)):
        source = SourceRegions(text)
        assert len(source.regions) == 1
        source.apply([Edit(at, at, "\n")])
        assert source.regions == find_regions(text[:at] + "\n" + text[at:]), text[:at]

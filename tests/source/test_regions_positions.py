"""Places: lines as editors count them, columns in each of the three units."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kinetoscope_core.source.regions import Encoding, SourceRegions, find_regions
from kinetoscope_core.source.syntax.positions import byte_column, line_starts, units_before

IMPORT = "from torch.profiler import record_function as rf"
ENCODINGS: list[Encoding] = ["utf-8", "utf-16", "utf-32"]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_each_line_end_of_the_protocol_ends_a_line(line_end: str):
    lines = [IMPORT, "def f():", "    with rf('a'):", "        pass", "with (rf('b'),", "      rf('c')): pass"]
    found = find_regions(line_end.join(lines))
    assert [(region.name, region.line, region.path) for region in found] == [("a", 3, "f"), ("b", 5, ""), ("c", 6, "")]
    assert found[0].body is not None
    assert found[0].body.start == (3, 8)


def test_line_ends_may_be_mixed():
    source = f"{IMPORT}\r\nwith rf('a'):\r    pass\nwith rf('b'):\n\r    pass\r\r\nwith rf('c'): pass"
    assert [(region.name, region.line) for region in find_regions(source)] == [("a", 2), ("b", 4), ("c", 8)]


@pytest.mark.parametrize("character", ["\f", "\v", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"])
def test_nothing_else_ends_a_line(character: str):
    source = f"{IMPORT}\n# a{character}b\nx = '{character}'\nwith rf('a'): pass\n"
    assert [region.line for region in find_regions(source)] == [4]


def test_a_form_feed_may_begin_a_line():
    source = f"{IMPORT}\n\f\nclass A:\n    pass\n\f\nwith rf('a'): pass\n\fwith rf('b'): pass\n"
    assert [(region.name, region.line) for region in find_regions(source)] == [("a", 6), ("b", 7)]


def test_a_byte_order_mark_is_a_character_of_the_first_line():
    region = find_regions(f"\ufeff{IMPORT};\nwith rf('a'): pass")[0]
    assert region.line == 2
    source = SourceRegions(f"\ufeff{IMPORT}; s.enter_context(rf('a'))")
    (region,) = source.regions
    assert source.in_units(region.call, "utf-16")[0] == (0, len(IMPORT) + 1 + len("; s.enter_context("))


def test_tabs_are_one_character():
    (region,) = find_regions(f"{IMPORT}\nif x:\n\tif y:\n\t\twith rf('a'): pass\n")
    assert region.item.start == (3, 7)


@pytest.mark.parametrize(("encoding", "column"), [("utf-8", 33), ("utf-16", 28), ("utf-32", 27)])
def test_columns_count_in_the_unit_asked_for(encoding: Encoding, column: int):
    source = SourceRegions(f'{IMPORT}\nx = "😀é€"; s.enter_context(rf("a")); y\n')
    (region,) = source.regions
    assert source.in_units(region.call, encoding) == ((1, column), (1, column + len('rf("a")')))


@pytest.mark.parametrize(("encoding", "units"), [("utf-8", 3), ("utf-16", 1), ("utf-32", 1)])
def test_a_lone_surrogate_is_one_character(encoding: Encoding, units: int):
    source = SourceRegions(f'{IMPORT}\n"\ud800"; s.enter_context(rf("a\udfff"))\n')
    (region,) = source.regions
    assert source.in_units(region.call, encoding)[0][1] == len('""; s.enter_context(') + units
    assert region.name == "a\udfff"


def test_columns_outside_the_line_are_its_ends():
    line = "é😀\r\n".encode()
    assert [byte_column(line, units, "utf-16") for units in (-1, 0, 1, 2, 3, 4, 99)] == [0, 0, 2, 2, 6, 6, 6]
    assert [byte_column(line, units, "utf-32") for units in (0, 1, 2, 3)] == [0, 2, 6, 6]
    assert [byte_column(line, units, "utf-8") for units in (0, 1, 2, 3, 5, 6, 7)] == [0, 0, 2, 2, 2, 6, 6]
    assert units_before(line, 99, "utf-32") == 4
    assert units_before(line, -1, "utf-16") == 0
    assert units_before(line, 4, "utf-16") == 1


@given(st.text(st.characters(exclude_characters="\r\n"), max_size=20), st.sampled_from(ENCODINGS))
@example("\udc80", "utf-16")  # was taken for a byte that is not UTF-8
def test_every_character_s_column_comes_back(text: str, encoding: Encoding):
    line = text.encode("utf-8", "surrogatepass")
    for index in range(len(text) + 1):
        column = len(text[:index].encode("utf-8", "surrogatepass"))
        assert byte_column(line, units_before(line, column, encoding), encoding) == column


@given(st.text(st.sampled_from("a\r\n\f\u2028é"), max_size=30))
def test_lines_start_after_line_ends_only(text: str):
    data = text.encode()
    starts = line_starts(data)
    assert starts[0] == 0
    pieces = [data[start:end] for start, end in zip(starts, [*starts[1:], len(data)], strict=True)]
    assert b"".join(pieces) == data
    for piece in pieces[:-1]:
        assert piece.endswith((b"\n", b"\r"))
        assert b"\n" not in piece[:-1].removesuffix(b"\r")
        assert b"\r" not in piece.removesuffix(b"\n").removesuffix(b"\r")

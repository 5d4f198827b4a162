"""Comments that expect something of a region: what is read of them, what is said of the others, and at which places."""

from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinetoscope_core.results.measures import Bound
from kinetoscope_core.source.comments import rows_at
from kinetoscope_core.source.expectations import (
    BOUNDS,
    EXAMPLE,
    QUANTITIES,
    Expectation,
    Mistake,
    expectations_in,
)
from kinetoscope_core.source.regions import SourceRegions

HEAD = "from torch.profiler import record_function as rf\n"


def read(text):
    return list(expectations_in(SourceRegions(text)))


def at(text, place):
    """What stands at a place of the text."""
    line = SourceRegions(text).line(place.start.row)
    assert place.start.row == place.end.row
    return line[place.start.column : place.end.column].decode("utf-8", "replace")


@pytest.mark.parametrize(
    ("term", "meant"),
    [
        ("cuda < 250us", ("cuda", "<", 250_000)),
        ("CUDA<=250 µs", ("cuda", "<=", 250_000)),
        ("cuda total > 1.5 ms", ("cuda", ">", 1_500_000)),
        ("cuda  self >= 3ns", ("cuda self", ">=", 3)),
        ("cpu < 2s", ("cpu", "<", 2_000_000_000)),
        ("cpu self < 0.25μs", ("cpu self", "<", 250)),
        ("backward < 1ms", ("backward", "<", 1_000_000)),
        ("launches <= 5", ("launches", "<=", 5)),
        ("launches == 5", ("launches", "=", 5)),
        ("launches != 0", ("launches", "!=", 0)),
        ("bound = compute", ("bound", "=", "compute")),
        ("bound != Sync-bound", ("bound", "!=", "sync")),
        ("bound = cpu-only", ("bound", "=", "cpu-only")),
    ],
)
def test_a_term_says_what_is_expected(term, meant):
    text = f'with rf("é"):  # why  #kinetoscope:expect {term} # since v2\n'
    (found,) = read(text)
    assert isinstance(found, Expectation)
    assert (found.quantity, found.comparison, found.limit) == meant
    assert found.text == at(text, found.place) == term


@pytest.mark.parametrize(
    ("term", "wrong", "said"),
    [
        ("gpu < 1us", "gpu", "There is no `gpu` to expect. There are: cuda, cuda self, cpu, cpu self, backward, "),
        ("cuda < 250", "250", "250 has no unit. Write ns, us, ms or s behind it."),
        ("cuda < 3 sec", "3 sec", "There is no unit `sec`."),
        ("cuda < fast", "fast", "`fast` is not a time."),
        ("cuda < 1e3us", "1e3us", "There is no unit `e3us`."),
        ("cuda < -1us", "-1us", "`-1us` is not a time."),
        ("cuda = 1ms", "=", "A time is compared with <, <=, > or >=."),
        ("cuda => 1ms", "=>", "A time is compared with"),
        ("cuda <", "cuda <", "The limit is missing."),
        ("cuda", "cuda", "`cuda` compares nothing."),
        ("< 1us", "< 1us", "It is not said what is expected."),
        ("1us < cuda < 2us", "1us", "There is no `1us` to expect."),
        ("cuda < 1us and cpu < 1us", "1us and cpu < 1us", "There is no unit `and"),
        ("launches < 5us", "5us", "`5us` is not a number of launches"),
        ("launches < 2.5", "2.5", "`2.5` is not a number of launches"),
        ("bound < compute", "<", "A bound is compared with = or !=."),
        ("bound = fast", "fast", "There is no bound `fast`. There are: overhead, compute, "),
        ("µ𐌰 < 1us", "µ𐌰", "There is no `µ𐌰` to expect."),
    ],
)
def test_what_is_wrong_is_said_at_its_place(term, wrong, said):
    text = f'x = "𐌰é"  # kinetoscope: expect cpu < 1ms,  {term} , launches < 3'
    before, found, after = read(text)
    assert (before.quantity, after.quantity) == ("cpu", "launches")
    assert isinstance(found, Mistake)
    assert at(text, found.place) == wrong
    assert found.message.startswith(said) or "is not a time" in found.message


@pytest.mark.parametrize(
    "comment", ["expects cuda < 1us", "exepct cuda < 1us", "except x", "expect", "expect ,", "EXPECT #x"]
)
def test_what_is_nearly_an_expectation_is_no_silence(comment):
    (found,) = read(f"x  # kinetoscope: {comment}")
    assert isinstance(found, Mistake)
    assert EXAMPLE in found.message


@pytest.mark.parametrize(
    "text",
    ["# kinetoscope: ignore[x]", "# kinetoscope: why", "# expect cuda < 1us", "'# kinetoscope: expect cpu < 1s'"],
)
def test_other_comments_and_strings_expect_nothing(text):
    assert read(text) == []


def test_the_words_are_those_of_results():
    assert set(BOUNDS) == set(get_args(Bound))
    assert [each.quantity for each in read(f"# kinetoscope: expect {EXAMPLE}")] == ["cuda", "launches", "bound"]


words = st.sampled_from(
    [*QUANTITIES, *BOUNDS, "kinetoscope:", "expect", "#", ",", "<", "<=", "=", "5", "250us", "1.5 ms"]
)
pieces = st.one_of(words, st.text(max_size=4), st.sampled_from(["\n", "\r", "'", '"""', "µ", "𐌰", "\ud800", "\x00"]))


@settings(deadline=None)
@given(st.lists(pieces, max_size=30), st.booleans())
def test_any_text_is_read_and_every_place_is_in_its_comment(parts, is_spaced):
    text = "# kinetoscope: expect " + (" " if is_spaced else "").join(parts)
    source = SourceRegions(text)
    for found in expectations_in(source):
        row, (start, end) = found.place.start.row, (place.column for place in found.place)
        assert found.place.end.row == row
        comment = len(source.line(row)) - len(source.comment(row))
        assert comment < start < end <= len(source.line(row))
        source.in_units(found.place, "utf-16")
        if isinstance(found, Expectation):
            assert source.line(row)[start:end].decode("utf-8", "replace") == found.text


@settings(deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_are_read(data):
    source = SourceRegions(b"x # kinetoscope: expect " + data)
    for found in expectations_in(source):
        assert found.place.end.column <= len(source.line(found.place.start.row))
        found.text.encode()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("# C\nwith rf('a'):\n", {"a": "C"}),
        ("# C\n\nwith rf('a'):\n", {"a": ""}),
        ("# C1\n# C2\nwith rf('a'), rf('b'):  # C3\n", {"a": "C3 C2 C1", "b": "C3 C2 C1"}),
        ("# C1\nwith (\n  rf('a'),\n  # C2\n  rf('b'),\n):\n", {"a": "C1", "b": "C1 C2"}),
        ("with rf('a'):\n  # C\n  with rf('b'):\n    pass\n", {"a": "", "b": "C"}),
        ("# C1\n@rf('a')\n# C2\n@rf('b')\n# C3\ndef f():\n", {"a": "C1", "b": "C1 C2"}),
        ("r = rf('a')  # C1\n# C2\n@r\ndef f():\n", {"a": "C2"}),
        ('x = """\n# C\n"""\nwith rf("a"):\n', {"a": ""}),
    ],
)
def test_a_comment_alone_on_its_line_counts_for_what_is_below(source, expected):
    text = SourceRegions(f"{HEAD}{source}    pass\n")
    found = {
        region.name: {text.comment(row).decode().removeprefix("# ") for row in rows_at(region, text)} - {""}
        for region in text.regions
    }
    assert found == {name: set(comments.split()) for name, comments in expected.items()}

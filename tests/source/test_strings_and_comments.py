"""What stands in strings and comments is known, also while a text is edited and broken, and nothing there is taken
for code."""

import io
import tokenize
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinetoscope_core.source.regions import Edit, SourceRegions, find_regions, helped_statements
from kinetoscope_core.source.suppressions import ignored_on_top_of
from kinetoscope_core.source.syntax.strings_and_comments import without_comments

SAMPLES = sorted((Path(__file__).parent / "samples").rglob("*.py")) + sorted(Path(__file__).parent.glob("test_*.py"))


def comments(source: SourceRegions) -> dict[int, bytes]:
    rows = range(source.data.count(b"\n") + source.data.count(b"\r") + 1)
    return {row: found for row in rows if (found := source.comment(row))}


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.name)
def test_the_comments_of_a_sound_text_are_those_that_python_sees(path: Path):
    data = path.read_bytes()
    tokens = tokenize.tokenize(io.BytesIO(data).readline)
    expected = {token.start[0] - 1: token.string.encode() for token in tokens if token.type == tokenize.COMMENT}
    assert comments(SourceRegions(data)) == expected


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_a_comment_is_that_of_its_row_whatever_ends_the_lines(line_end: str):
    text = line_end.join(["x = '#' # é", "# two", "y = '''", "# no comment", "''' # four", "z = 1 #"])
    found = comments(SourceRegions(text))
    assert found == {0: "# é".encode(), 1: b"# two", 4: b"# four", 5: b"#"}


def test_of_a_long_run_of_comments_each_is_known():
    assert comments(SourceRegions("# kinetoscope\n" * 1_000)) == dict.fromkeys(range(1_000), b"# kinetoscope")


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 80),
            st.integers(0, 9),
            st.text("#'\"\n\\ a(:\r", max_size=6) | st.sampled_from(["'''", '"""', "\ndef f():\n", "# x"]),
        ),
        max_size=6,
    )
)
def test_after_any_edits_the_comments_are_those_of_the_final_text(edits: list[tuple[int, int, str]]):
    source = SourceRegions("def f():\n    '''One # two\n    three'''\n    x = 1  # four\n\n\ny = '#'  # five\n")
    for start, length, text in edits:
        source.apply([Edit(start, start + length, text)])
        alone = SourceRegions(source.data)
        assert comments(source) == comments(alone)
        offsets = range(len(source.data) + 1)
        assert [source.is_code(offset) for offset in offsets] == [alone.is_code(offset) for offset in offsets]


def test_code_is_neither_inside_of_a_string_nor_of_a_comment():
    source = SourceRegions("a = 'b'  # c\n")
    told = "".join("^" if source.is_code(offset) else " " for offset in range(len(source.data)))
    assert told == "^^^^^  ^^^  ^", "where a string or a comment begins and ends is code"


def test_a_text_without_its_comments_keeps_its_strings():
    assert without_comments(b"a = '#' # b\n'''\n# c\n''' # d") == b"a = '#' \n'''\n# c\n''' "


def test_a_helper_that_is_called_in_a_docstring_enters_nothing():
    text = (
        "from contextlib import contextmanager\nfrom torch.profiler import record_function\n\n"
        "@contextmanager\ndef timed(name):\n"
        '    """As in\n\n    with timed("x"):\n        ...\n    """\n'
        "    with record_function(name):\n        yield\n\n"
        'with timed("y"):\n    pass\n'
    )
    assert [region.line for region in helped_statements(SourceRegions(text))] == [14]


def test_classes_that_enter_a_region_they_hold_and_decorators_are_helpers():
    text = """from torch.profiler import record_function
import functools
class Section:
    def __init__(self, name):
        self.region = record_function(name)

    def __enter__(self):
        self.region.__enter__()

class Other:
    def __enter__(self): pass

def timed(function):
    @functools.wraps(function)
    def wrapper(*args):
        with record_function(function.__name__):
            return function(*args)
    return wrapper

def untimed(function):
    return function

@timed
def step(): pass

@untimed
def other(): pass

@timed  # why
def another():
    with Section("a"), Other():
        with Other(): pass
"""
    lines = text.splitlines()
    found = [lines[region.line - 1].strip() for region in helped_statements(SourceRegions(text))]
    assert found == ["@timed", "@timed  # why", 'with Section("a"), Other():']


def test_a_docstring_on_the_first_line_switches_nothing_off():
    assert "x" not in ignored_on_top_of(SourceRegions('"# kinetoscope: ignore"\n'))
    assert "x" in ignored_on_top_of(SourceRegions('"# y"  # kinetoscope: ignore\n'))
    assert "x" not in ignored_on_top_of(SourceRegions(""))


def test_a_region_below_a_comment_in_brackets_is_found():
    text = "from torch.profiler import record_function\nwith (  # why\n    record_function('a')\n): pass\n"
    held = text.replace("with (", "r = (").replace("): pass", ")\nwith r: pass")
    assert [region.name for region in find_regions(text)] == [region.name for region in find_regions(held)] == ["a"]

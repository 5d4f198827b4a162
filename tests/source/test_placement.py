"""Measured regions follow their code through edits, and say when they no longer are what was measured."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from kinetoscope_core.source.placement import (
    Fingerprint,
    Placement,
    Placer,
    fingerprints_of,
)
from kinetoscope_core.source.placement.normal_form import code_lines
from kinetoscope_core.source.regions import Edit, SourceRegions
from kinetoscope_core.source.regions.which_region import shown_at

SOURCE = '''\
"""A script."""
import torch
from torch.profiler import record_function

SIZE = 64


def load(path):
    """Reads."""
    with record_function("load"):
        rows = open(path).read()
    return rows


class Model:
    def forward(self, x):
        y = x + 1
        with record_function("first"):
            y = y @ y
        z = y * 2  # twice
        with record_function("second"):
            z = z.relu()
        return z

    @record_function("backward")
    def backward(self, loss):
        loss.backward()


def same(x):
    start(x)
    with record_function("step"):
        step(x)
    middle(x)
    with record_function("step"):
        step(x)
    end(x)


def stacked(stack):
    stack.enter_context(record_function("stacked"))
    work(stack)


model = Model()
x = torch.ones(SIZE)
with record_function("main"):
    model.forward(x)
'''
NAMES = ["load", "first", "second", "backward", "step", "step", "stacked", "main"]


def place(fingerprints: Sequence[Fingerprint], text: str | bytes) -> list[Placement]:
    return Placer(fingerprints).place(text)


def fits(fingerprints: Sequence[Fingerprint], text: str) -> bool:
    return any(not each.is_gone for each in place(fingerprints, text))


def told(placements: list[Placement]) -> list[tuple[str, int, str | None] | str]:
    """Each as (name now, line, why stale), or as the measured name if it is gone."""
    return [
        (each.region.name, each.region.line, each.stale_because) if each.region else each.fingerprint.name
        for each in placements
    ]


def after(old: str, new: str, source: str = SOURCE) -> dict[str, tuple[str, int, str | None] | None]:
    """What has become of each region when `old` is replaced; the second of a name is `name/1`."""
    assert source.count(old) == 1, old
    return now(source, source.replace(old, new))


def now(measured: str, text: str) -> dict[str, tuple[str, int, str | None] | None]:
    found: dict[str, tuple[str, int, str | None] | None] = {}
    placements = place(fingerprints_of(measured), text)
    taken = [each.region for each in placements if each.region]
    assert len(set(taken)) == len(taken)
    for each in placements:
        key = each.fingerprint.name + (f"/{each.fingerprint.ordinal}" if each.fingerprint.ordinal else "")
        found[key] = (each.region.name, each.region.line, each.stale_because) if each.region else None
    return found


def why(found: dict[str, tuple[str, int, str | None] | None]) -> dict[str, str]:
    """Those that are not as they were."""
    return {name: "gone" if it is None else str(it[2]) for name, it in found.items() if it is None or it[2]}


def test_in_the_measured_text_each_region_is_where_it_was():
    placements = place(fingerprints_of(SOURCE), SOURCE)
    assert [each.fingerprint.name for each in placements] == NAMES
    assert all(each.region and each.region.line == each.fingerprint.line and not each.is_stale for each in placements)


def test_a_placer_finds_the_same_without_the_digest_of_the_file():
    text = SOURCE + "\n# more\n"
    assert why(now(SOURCE, text)) == {}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        y = x + 1\n", "        y = x+1   # plus one\n\n\n        # and on\n"),
        ("        z = y * 2  # twice\n", "        z = y * 2\n"),
        ("            z = z.relu()\n", "            z = z.relu(\n            )\n"),
        ("            z = z.relu()\n", "\n            # relu\n            z   = z.relu()\n\n"),
        ("    stack.enter_context(record_function(", "    stack.enter_context( record_function("),
        ('"""Reads."""', '"""Reads a file,\n    whole.\n    """'),
        ('record_function("load")', "record_function('load')"),
        ('record_function("first")', 'record_function(\n            "first",\n        )'),
        ("    start(x)\n", "    start(\n        x,\n    )\n"),
        ("SIZE = 64\n", "SIZE = 64  # (\n"),
    ],
)
def test_layout_and_comments_are_no_change(old: str, new: str):
    assert why(after(old, new)) == {}


def test_other_indents_are_no_change():
    assert why(now(SOURCE, SOURCE.replace("    ", "  "))) == {}
    assert why(now(SOURCE, SOURCE.replace("    ", "\t"))) == {}


@pytest.mark.parametrize("line_end", ["\r\n", "\r"])
def test_other_line_ends_are_no_change(line_end: str):
    assert why(now(SOURCE, SOURCE.replace("\n", line_end))) == {}
    assert why(now(SOURCE.replace("\n", line_end), SOURCE + "\n")) == {}


def test_bytes_text_and_a_parsed_source_are_the_same():
    assert fingerprints_of(SOURCE) == fingerprints_of(SOURCE.encode()) == fingerprints_of(SourceRegions(SOURCE))


def test_lines_above_move_a_region_by_as_many():
    found = after("SIZE = 64\n", "SIZE = 64\n\n\n\n")
    assert found["load"] == ("load", 13, None)
    assert found["backward"] == ("backward", 28, None)


def test_changed_code_in_a_region_turns_it_stale_and_those_around_it():
    assert why(after("y @ y", "y @ y @ y")) == {"first": "own code changed", "second": "function changed"}


def test_changed_code_in_the_function_turns_its_regions_stale():
    assert why(after("y = x + 1", "y = x + 2")) == {"first": "function changed", "second": "function changed"}


def test_a_changed_signature_is_a_changed_function():
    assert why(after("def load(path)", "def load(path, limit=3)")) == {"load": "function changed"}


def test_a_new_decorator_is_a_changed_function():
    assert why(after("def load", "@cache\ndef load")) == {"load": "function changed"}


def test_a_decorated_functions_body_is_the_regions_own_code():
    assert why(after("loss.backward()", "loss.sum().backward()")) == {"backward": "own code changed"}


def test_code_after_enter_context_is_its_own():
    assert why(after("work(stack)", "work(stack, 2)")) == {"stacked": "own code changed"}


def test_another_context_manager_beside_it_changes_its_own_code():
    found = after('record_function("load"):', 'record_function("load"), torch.no_grad():')
    assert why(found) == {"load": "own code changed"}


def test_a_string_in_code_is_code():
    source = SOURCE.replace("rows = open(path).read()", "rows = open(path, 'a  b').read()")
    assert why(now(source, source.replace("'a  b'", "'a b'"))) == {"load": "own code changed"}


def test_a_line_dedented_out_of_the_region_changes_it():
    source = SOURCE.replace("    return rows", "    rows = rows.strip()\n    return rows")
    found = now(source, source.replace("    rows = rows.strip()", "        rows = rows.strip()"))
    assert why(found) == {"load": "own code changed"}


def test_a_region_put_into_a_condition_keeps_its_own_code():
    old = '    with record_function("load"):\n        rows = open(path).read()\n'
    new = '    if path:\n        with record_function("load"):\n            rows = open(path).read()\n'
    assert after(old, new)["load"] == ("load", 11, "function changed")


def test_a_renamed_region_keeps_its_times_stale():
    found = after('"first"', '"matmul"')
    assert found["first"] == ("matmul", 18, "renamed")
    assert why(found) == {"first": "renamed"}


def test_a_name_made_at_run_time_is_another_name():
    assert after('"first"', 'f"first_{x}"')["first"] == ("first_{…}", 18, "renamed")


def test_a_renamed_constant_in_another_place_renames_the_region():
    source = (
        'from torch.profiler import record_function\nN = "a"\n\ndef f():\n    with record_function(N):\n        g()\n'
    )
    assert now(source, source.replace('"a"', '"b"'))["a"] == ("b", 5, "renamed")


def test_two_regions_renamed_at_once_are_told_apart_by_their_code():
    found = now(SOURCE, SOURCE.replace('"first"', '"one"').replace('"second"', '"two"'))
    assert found["first"] == ("one", 18, "renamed")
    assert found["second"] == ("two", 21, "renamed")


def test_a_region_renamed_while_its_function_changed_is_found_by_its_code():
    text = SOURCE.replace('"first"', '"one"').replace("x + 1", "x + 2")
    assert now(SOURCE, text)["first"] == ("one", 18, "renamed")


def test_a_region_renamed_and_rewritten_is_found_by_what_is_around_it():
    text = SOURCE.replace('"first"', '"one"').replace("y @ y", "y + y")
    assert now(SOURCE, text)["first"] == ("one", 18, "own code changed")


def test_a_renamed_function_keeps_its_regions_stale():
    assert why(after("def load", "def read")) == {"load": "function changed"}


def test_a_renamed_function_with_changed_code_is_found_by_the_regions_name():
    text = SOURCE.replace("def load", "def read").replace(".read()\n", ".readlines()\n")
    assert why(now(SOURCE, text)) == {"load": "own code changed"}


def test_a_removed_region_is_gone():
    found = after('        with record_function("second"):\n            z = z.relu()\n', "        z = z.relu()\n")
    assert found["second"] is None
    assert why(found) == {"second": "gone", "first": "function changed"}


def test_a_moved_function_stays_fresh():
    start, end = SOURCE.index("def same"), SOURCE.index("def stacked")
    text = SOURCE[:start] + SOURCE[end:]
    text = text.replace("def load", SOURCE[start:end] + "def load")
    assert why(now(SOURCE, text)) == {}


def test_a_function_moved_into_a_class_stays_fresh():
    text = SOURCE.replace("def stacked(stack):\n    stack.", "class Held:\n    def stacked(stack):\n        stack.")
    assert why(now(SOURCE, text.replace("    work(stack)", "        work(stack)"))) == {}


def test_two_methods_that_change_places_stay_fresh():
    start, end = SOURCE.index("    def forward"), SOURCE.index("    @record_function(")
    last = SOURCE.index("\n\ndef same")
    text = SOURCE[:start] + SOURCE[end:last] + "\n" + SOURCE[start:end].rstrip("\n") + "\n" + SOURCE[last:]
    found = now(SOURCE, text)
    assert why(found) == {}
    assert found["backward"] == ("backward", 16, None)


BLOCK = '    with record_function("step"):\n        step(x)\n'


def test_of_two_alike_the_one_that_is_left_is_told_by_what_is_around_it():
    without_first = SOURCE.replace("start(x)\n" + BLOCK, "start(x)\n")
    found = now(SOURCE, without_first)
    assert (found["step"], found["step/1"]) == (None, ("step", 33, "function changed"))
    without_second = SOURCE.replace("middle(x)\n" + BLOCK, "middle(x)\n")
    found = now(SOURCE, without_second)
    assert (found["step"], found["step/1"]) == (("step", 32, "function changed"), None)


def test_of_two_alike_each_keeps_its_place_when_code_between_them_changes():
    found = after("middle(x)", "middle(x, 2)")
    assert (found["step"], found["step/1"]) == (("step", 32, "function changed"), ("step", 35, "function changed"))


def test_of_two_alike_the_second_can_be_renamed():
    text = SOURCE.replace("middle(x)\n" + BLOCK, "middle(x)\n" + BLOCK.replace('"step"', '"again"'))
    found = now(SOURCE, text)
    assert (found["step"], found["step/1"]) == (("step", 32, None), ("again", 35, "renamed"))


def test_of_two_alike_the_first_can_be_changed():
    text = SOURCE.replace("start(x)\n" + BLOCK, "start(x)\n" + BLOCK.replace("step(x)", "step(y)"))
    found = now(SOURCE, text)
    assert (found["step"], found["step/1"]) == (
        ("step", 32, "own code changed"),
        ("step", 35, "function changed"),
    )


def test_a_pasted_copy_is_a_second_region_without_times():
    block = '    with record_function("load"):\n        rows = open(path).read()\n'
    found = after(block, block + block)
    assert found["load"] == ("load", 10, "function changed")


def test_a_pasted_copy_of_a_function_takes_nothing_from_the_first():
    start, end = SOURCE.index("def load"), SOURCE.index("class Model")
    found = now(SOURCE, SOURCE[:end] + SOURCE[start:end] + SOURCE[end:])
    assert found["load"] == ("load", 10, None)
    assert why(found) == {}


def test_one_name_in_two_functions_stays_apart():
    source = SOURCE.replace('"stacked"', '"load"').replace("stack.enter_context(", "with ")
    source = source.replace(
        'with record_function("load"))\n    work(stack)', 'with record_function("load"):\n        work(stack)'
    )
    placements = place(fingerprints_of(source), source.replace("open(path)", "open(path, 'rb')"))
    reasons = {(each.fingerprint.name, each.fingerprint.path): each.stale_because for each in placements}
    assert reasons["load", "load"] == "own code changed"
    assert reasons["load", "stacked"] is None


def test_a_copy_under_a_new_name_does_not_take_the_times_of_an_edited_region():
    block = '    with record_function("load"):\n        rows = open(path).read()\n'
    edited = block.replace("open(path)", "open(path, 'rb')")
    found = after(block, edited + block.replace('"load"', '"copy"'))
    assert found["load"] == ("load", 10, "own code changed")


def test_two_items_of_one_with_keep_their_names():
    source = SOURCE.replace('record_function("load"):', 'record_function("load"), record_function("inner"):')
    found = now(source, source.replace("SIZE = 64", "SIZE = 64\n#"))
    assert (found["load"], found["inner"]) == (("load", 11, None), ("inner", 11, None))


def test_a_region_entered_in_another_way_is_stale():
    source = "from torch.profiler import record_function\ndef f(s):\n    with record_function('a'):\n        g()\n"
    text = source.replace("with record_function('a'):\n        g()", "s.enter_context(record_function('a'))\n    g()")
    assert now(source, text)["a"] == ("a", 3, "own code changed")


def test_at_module_level_what_runs_before_counts():
    assert why(after("x = torch.ones(SIZE)", "x = torch.ones(SIZE, SIZE)")) == {"main": "function changed"}


def test_at_module_level_functions_and_imports_and_what_comes_after_do_not_count():
    text = SOURCE.replace("x + 1", "x + 2").replace("import torch\n", "import os\nimport torch\n") + "\nprint(x)\n"
    assert "main" not in why(now(SOURCE, text))


def test_at_module_level_the_whole_statement_counts():
    source = (
        "from torch.profiler import record_function\nif True:\n    with record_function('a'):\n        g()\n    h()\n"
    )
    assert why(now(source, source.replace("h()", "h(1)"))) == {"a": "function changed"}
    assert why(now(source, source + "else:\n    k()\n")) == {"a": "function changed"}
    assert why(now(source, source + "k()\n")) == {}


def test_at_module_level_what_runs_until_it_is_left_is_its_own_code():
    source = (
        "from torch.profiler import record_function\nr = record_function('a')\n"
        "r.__enter__()\ng()\nr.__exit__(None, None, None)\nh()\n"
    )
    assert why(now(source, source.replace("g()", "g(1)"))) == {"a": "own code changed"}
    assert why(now(source, source.replace("h()", "h(1)"))) == {}


@pytest.mark.parametrize("first", ["else:", "finally:", "    else:", ")"])
def test_a_text_may_begin_in_the_middle_of_a_statement(first: str):
    source = f"{first}\n    from torch.profiler import record_function\n    with record_function('a'):\n        g()\n"
    (fingerprint,) = fingerprints_of(source)
    assert fingerprint.own
    assert why(now(source, source + "h()\n")) == {}
    assert why(now(source, source.replace("g()", "g(1)"))) == {"a": "own code changed"}


def test_what_stands_below_a_function_at_module_level_is_no_part_of_it():
    assert why(after("model = Model()\n", "model = Model(1)\n")) == {"main": "function changed"}


def test_an_open_bracket_disturbs_its_own_function_alone():
    assert why(after("        y = x + 1\n", "        y = foo(x + 1\n")) == {
        "first": "function changed",
        "second": "function changed",
    }


def test_three_quotes_in_a_comment_or_string_cut_nothing():
    text = SOURCE.replace("SIZE = 64", 'SIZE = 64  # """ and \'\'\'\nQUOTES = \'"""\'')
    assert set(why(now(SOURCE, text))) == {"main"}


def test_a_definition_in_a_string_is_no_function():
    source = SOURCE.replace('"""Reads."""', "'''Such as\ndef load(path):\n'''")
    assert why(now(source, source.replace("return rows", "return list(rows)"))) == {"load": "function changed"}
    assert why(now(source, source.replace("Such as", "Like"))) == {}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (b"x = (a,)\n", b"x = (a)\n"),
        (b"x[a,]\n", b"x[a]\n"),
        (b"return (a,)\n", b"return (a)\n"),
        (b"f'{x}'\n", b"'{x}'\n"),
        (b"f(a b)\n", b"f(ab)\n"),
        (b"x = 'a\"'\n", b'x = "a"\n'),
        (b"x = f\"{y['#a']}\" + 1\n", b"x = f\"{y['#a']}\" + 2\n"),
        (b'x = f"{y["#"]}" + 1\n', b'x = f"{y["#"]}" + 2\n'),
        (b"if a:\n  b\nc\n", b"if a:\n  b\n  c\n"),
    ],
)
def test_what_looks_alike_and_is_not_has_another_form(one: bytes, other: bytes):
    assert (code_lines(one).forms, code_lines(one).depths) != (code_lines(other).forms, code_lines(other).depths)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (b"f(a,\n  b,\n)\n", b"f(a, b)\n"),
        (b"x = [a,]\n", b"x = [a]\n"),
        (b"x = (a, b,)\n", b"x = (a,b)\n"),
        (b"x = {'a': 1,}\n", b'x = {"a":1}\n'),
        (b"x = a + \\\n  b\n", b"x = a + b\n"),
        (b"x = 1 # 'it'\n", b"x = 1\n"),
    ],
)
def test_what_a_formatter_changes_has_the_same_form(one: bytes, other: bytes):
    assert code_lines(one).forms == code_lines(other).forms


def test_measures_find_their_fingerprint_by_line_and_name():
    source = SOURCE.replace('record_function("load"):', 'record_function("load"), record_function(f"l{path}"):')
    fingerprints = fingerprints_of(source)
    assert shown_at(fingerprints, 10, "load") == fingerprints[0]
    assert shown_at(fingerprints, 10, "l7") == fingerprints[1]
    assert shown_at(fingerprints, 11, "load") is None
    assert shown_at(fingerprints, None, "load") is None


def test_a_result_fits_while_one_of_its_regions_is_left():
    fingerprints = fingerprints_of(SOURCE)
    assert fits(fingerprints, SOURCE)
    assert fits(fingerprints, SOURCE[: SOURCE.index("class Model")])
    assert not fits(fingerprints, "print('other')\n")
    assert not fits(fingerprints, "")
    assert not fits([], SOURCE)


def test_a_result_of_another_script_has_no_place():
    other = "from torch.profiler import record_function\ndef f():\n    with record_function('other'):\n        pass\n"
    assert all(each.is_gone for each in place(fingerprints_of(SOURCE), other))


def test_a_text_without_regions_has_no_prints():
    assert fingerprints_of("") == []
    assert place([], SOURCE) == []


LINES = [
    "x = 1", "    y = 2",
    "        z = 3", "def f():", "class A:", "@cache", "", "# note", "    # note", "else:", "if x:",
    "foo(", ")", '    with record_function("step"):', '    with record_function("new"):', "        step(x)", "\tx",
    '"""', "'''", "    '", "\\", "x = f'{a", "    @record_function('d')", "    def g(self):", "    return 1",
]  # fmt: skip
line_edits = st.lists(
    st.tuples(st.integers(0, 60), st.integers(0, 3), st.lists(st.sampled_from(LINES), max_size=3)),
    min_size=1,
    max_size=6,
)


def edited(text: str, edits: list[tuple[int, int, list[str]]]) -> list[str]:
    """The text after each edit; one replaces lines by others."""
    texts = [text]
    for at, removed, new in edits:
        lines = texts[-1].split("\n")
        lines[at : at + removed] = new
        texts.append("\n".join(lines))
    return texts


@settings(deadline=None)
@given(line_edits)
def test_a_placer_gives_what_the_text_alone_gives_and_undo_brings_all_back(edits: list[tuple[int, int, list[str]]]):
    fingerprints = fingerprints_of(SOURCE)
    placer = Placer(fingerprints)
    original = told(placer.place(SOURCE))
    texts = edited(SOURCE, edits)
    source = SourceRegions(SOURCE)
    for text in [*texts, *reversed(texts[:-1])]:
        source.apply([Edit(0, len(source.data), text)])
        placements = placer.place(source)
        assert placements == place(fingerprints, text)
        places = [each.region for each in placements if each.region]
        assert len(set(places)) == len(places)
    assert told(placer.place(source)) == original
    assert told(placer.place(SOURCE)) == original


@settings(deadline=None)
@given(line_edits)
def test_a_text_cut_again_is_cut_as_if_it_were_new(edits: list[tuple[int, int, list[str]]]):
    source = SourceRegions(SOURCE)
    for text in edited(SOURCE, edits):
        source.apply([Edit(*_difference(source.data.decode(), text))])
        new = SourceRegions(text)
        assert [piece.data for piece in source.pieces] == [piece.data for piece in new.pieces]
        assert source.data == new.data


def _difference(old: str, new: str) -> tuple[int, int, str]:
    """The edit of an ASCII text that leads from one to the other: its start, its end, what comes there."""
    shorter = min(len(old), len(new))
    start = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    same = next((at for at in range(shorter - start) if old[-1 - at] != new[-1 - at]), shorter - start)
    return start, len(old) - same, new[start : len(new) - same]


def leaves_a_string_open(text: str) -> bool:
    """Whether a string in three quotes goes on past the end: all that follows is then inside of it."""
    pieces = re.finditer(r"""('''|\"\"\").*?(\1|\Z)|'[^'\n]*'|"[^"\n]*"|#[^\n]*""", text, re.DOTALL)
    return any(piece[1] and not piece[2] for piece in pieces)


@settings(deadline=None)
@given(st.sampled_from(["load", "same", "stacked"]), line_edits)
@example("load", [(0, 0, ["    '", "'''"])])
def test_edits_outside_its_function_never_make_a_region_stale(name: str, edits: list[tuple[int, int, list[str]]]):
    start = SOURCE.index(f"def {name}")
    end = min(at for at in (SOURCE.find("\n\n\n", start), len(SOURCE)) if at > 0) + 3
    above = edited(SOURCE[:start], edits)[-1]
    below = edited(SOURCE[end:], edits)[-1]
    # Neither a decorator above it nor a line that is indented below it would be outside.
    above = above.rstrip("\n") + "\n\nSTART = 1\n\n\n"
    assume(not leaves_a_string_open(above))
    text = above + SOURCE[start:end] + "END = 1\n\n" + below
    for each in place(fingerprints_of(SOURCE), text):
        if each.fingerprint.path == name and each.region:
            line = each.fingerprint.line - SOURCE[:start].count("\n") + above.count("\n")
            assert (each.region.line, each.stale_because) == (line, None)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, SOURCE.count("\n") - 1), st.integers(1, 30))
def test_lines_put_above_move_exactly_those_below(at: int, count: int):
    lines = SOURCE.split("\n")
    text = "\n".join([*lines[:at], *["    # note"] * count, *lines[at:]])
    for each in place(fingerprints_of(SOURCE), text):
        assert each.region is not None
        assert each.stale_because is None
        assert each.region.line == each.fingerprint.line + (count if at < each.fingerprint.line else 0)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.sampled_from(LINES), max_size=25), st.lists(st.sampled_from(LINES), max_size=25))
def test_any_two_texts_give_at_most_one_print_a_region(one: list[str], other: list[str]):
    head = "from torch.profiler import record_function\n"
    old, new = head + "\n".join(one), head + "\n".join(other)
    placements = place(fingerprints_of(old), new)
    places = [each.region for each in placements if each.region]
    assert len(set(places)) == len(places)
    assert all(not each.is_stale and each.region for each in place(fingerprints_of(old), old))


@settings(deadline=None)
@given(st.lists(st.sampled_from([*LINES, *["    from torch.profiler import record_function"] * 9]), max_size=12))
def test_any_text_is_where_it_was_in_itself(lines: list[str]):
    text = "\n".join(lines)
    fingerprints = fingerprints_of(text)
    assert all(not each.is_stale and each.region for each in place(fingerprints, text))
    assert all(each.region for each in place(fingerprints, text + "\n"))


HELPED = """import torch
from mylib import section

def step(model):
    with section("a"):
        model(1)
    with section("a"):
        model(2)

@section("b")
def other():
    pass
"""


def test_lines_that_only_a_run_knows_are_followed_by_their_text():
    fingerprints = fingerprints_of(HELPED, [7, 10])
    assert [(each.kind, each.line, each.path) for each in fingerprints] == [
        ("statement", 7, "step"),
        ("statement", 10, "other"),
    ]
    assert fingerprints[0].ordinal == 1, "of the two that read the same it is the second, whatever another run measured"

    def lines(text: str) -> list[tuple[int | None, str | None]]:
        return [(each.region.line if each.region else None, each.stale_because) for each in place(fingerprints, text)]

    assert lines(HELPED) == [(7, None), (10, None)]
    assert lines("# more\n" + HELPED) == [(8, None), (11, None)]
    assert lines(HELPED.replace("model(2)", "model(3)")) == [(7, "own code changed"), (10, None)]
    assert lines(HELPED.replace("model(1)", "model(3)")) == [(7, "function changed"), (10, None)]
    assert lines(HELPED.replace("    pass", "    return 1")) == [(7, None), (10, "own code changed")]
    assert lines(HELPED.replace('@section("b")', '@section("c")')) == [(7, None), (None, None)]
    assert lines("") == [(None, None), (None, None)]
    assert shown_at(fingerprints, 7, "any name") == fingerprints[0]


def test_a_region_of_the_source_goes_before_the_line_it_stands_at():
    text = 'from torch.profiler import record_function\nwith record_function(f"{x}"), section("a"): pass\n'
    known, line = fingerprints_of(text, [2])
    assert (known.kind, line.kind) == ("with", "statement")
    assert shown_at([line, known], 2, "whatever") == known


@given(st.lists(st.tuples(st.integers(0, 200), st.integers(0, 200), st.text('a()\n: #"', max_size=9)), max_size=4))
@settings(max_examples=50, deadline=None)
def test_no_text_stops_the_search_for_lines(edits):
    placer = Placer(fingerprints_of(HELPED, [7, 10]))
    source = SourceRegions(HELPED)
    for start, end, text in edits:
        source.apply([Edit(min(start, end), max(start, end), text)])
        again = [each.region for each in place(placer.fingerprints, source.data)]
        assert [each.region for each in placer.place(source)] == again, "the edits before do not count"
        for row in range(source.data.count(b"\n") + 1):
            statement = source.statement_at(row)
            assert statement is None or statement.statement_line <= row + 1 <= statement.last_line

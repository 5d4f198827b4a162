"""Which calls are regions: every way to enter one, every way to import one, and what only looks like one."""

import re
from pathlib import Path

import pytest

from kinetoscope_core.source.regions import Position, Range, Region, find_regions

SAMPLES = Path(__file__).with_name("samples")
MARK = re.compile(r"#: ([^#]*[^#\s])")


def only(source: str) -> Region:
    (region,) = find_regions(source)
    return region


def names(source: str) -> list[str]:
    return [region.name for region in find_regions(source)]


def text_at(source: str, place: Range | None) -> str | None:
    if place is None:
        return None
    lines = source.encode().splitlines(keepends=True)
    start, end = (sum(map(len, lines[: at.row])) + at.column for at in place)
    return source.encode()[start:end].decode()


@pytest.mark.parametrize("sample", sorted(SAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_a_sample_has_exactly_the_regions_that_its_marks_tell(sample: Path):
    source = sample.read_text(encoding="utf-8")
    expected = [
        (number, *(field.strip() for field in mark.split("|")))
        for number, line in enumerate(source.split("\n"), 1)
        for mark in MARK.findall(line)
        if "`#: kind" not in line
    ]
    found = [
        tuple(str(part) for part in (region.kind, region.name, region.path, region.decorates or "") if part)
        for region in find_regions(source)
    ]
    lines = [region.line for region in find_regions(source)]
    assert [(line, *fields) for line, fields in zip(lines, found, strict=True)] == expected


@pytest.mark.parametrize(
    ("imports", "function"),
    [
        ("import torch", "torch.profiler.record_function"),
        ("import torch", "torch.autograd.profiler.record_function"),
        ("import torch.profiler", "torch.profiler.record_function"),
        ("import torch.nn, torch.profiler", "torch.profiler.record_function"),
        ("import torch.nn as nn, torch.profiler as P", "P.record_function"),
        ("import torch as t", "t.profiler.record_function"),
        ("import torch.profiler as P", "P.record_function"),
        ("import torch.autograd as A", "A.profiler.record_function"),
        ("import torch.autograd.profiler as AP", "AP.record_function"),
        ("from torch import profiler", "profiler.record_function"),
        ("from torch import autograd", "autograd.profiler.record_function"),
        ("from torch import nn, profiler as p", "p.record_function"),
        ("from torch.autograd import profiler as ap", "ap.record_function"),
        ("from torch.profiler import record_function", "record_function"),
        ("from torch.profiler import record_function as rf", "rf"),
        ("from torch.profiler import (\n    profile,\n    record_function as rf,  # short\n)", "rf"),
        ("from torch.autograd.profiler import record_function", "record_function"),
        ("from torch.profiler import *", "record_function"),
        ("from torch.autograd.profiler import *", "record_function"),
        ("from torch . profiler import record_function", "record_function"),
        ("import torch\nrf = torch.profiler.record_function", "rf"),
        ("import torch\nrf: type = torch.profiler.record_function", "rf"),
        ("import torch\na = b = torch.profiler.record_function", "a"),
        ("import torch\nP = torch.profiler\nmark = P.record_function\nm = mark", "m"),
        ("try:\n  from torch.profiler import record_function\nexcept E:\n  record_function = None", "record_function"),
        ("try:\n  from torch.profiler import record_function as rf\nexcept E:\n  from x import rf", "rf"),
        ("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch.profiler as P", "P.record_function"),
        ("import torch\nrf = torch.profiler.record_function if torch else None", "rf"),
        ("def setup():\n    global rf\n    from torch.profiler import record_function as rf", "rf"),
        ("if x:\n  record_function = print\nelse:\n  from torch.profiler import record_function", "record_function"),
        ("def record_function(): ...\nfrom torch.profiler import record_function", "record_function"),
        # Handed on by a module that we do not open.
        ("from .profiler import record_function", "record_function"),
        ("from . import profiler", "profiler.record_function"),
        ("import my.torch as torch", "torch.profiler.record_function"),
        ("import torchish.profiler as P", "P.record_function"),
        ("from mylib.profiling import record_function as handed_on", "handed_on"),
        ("from mylib import profiling", "profiling.record_function"),
    ],
)  # fmt: skip
def test_every_way_to_import_or_alias_it_is_followed(imports: str, function: str):
    assert names(f'{imports}\nwith {function}("x"):\n    pass\n') == ["x"]
    assert names(f'{imports}\ndef f():\n    with {function}("x"):\n        pass\n') == ["x"]


@pytest.mark.parametrize(
    ("imports", "function"),
    [
        ("", "record_function"),
        ("", "torch.profiler.record_function"),
        ("import torch", "record_function"),
        ("import torch", "torch.record_function"),
        ("from torch import *", "profiler.record_function"),
        ("from mine import *", "record_function"),
        ("from torch.profiler import profile as record_function", "record_function"),
        ("from torch.profiler import record_function as rf", "record_function"),
        ("from torch.profiler import record_function\ndef record_function(n): ...", "record_function"),
        ("from torch.profiler import record_function\nrecord_function = print", "record_function"),
        ("from torch.profiler import record_function\ndel record_function", "record_function"),
        ("import torch\nrf = partial(torch.profiler.record_function, 'x')", "rf"),
        ("def f():\n    from torch.profiler import record_function", "record_function"),
        ("a = b\nb = a", "a"),
        ("import torch.profiler as P", "P.profiler.record_function"),
        ("import torch.profiler as P", "P[0].record_function"),
    ],
)
def test_what_is_not_torch_s_is_not_found(imports: str, function: str):
    assert names(f'{imports}\nwith {function}("x"):\n    pass\n') == []


def test_a_function_sees_its_own_import():
    assert names("def f():\n    from torch.profiler import record_function\n    with record_function('x'): pass") == [
        "x"
    ]


def test_a_name_bound_again_means_the_new_thing_from_there_on_and_in_functions():
    source = (
        "from torch.profiler import record_function as rf\n"
        "with rf('before'): pass\n"
        "def f():\n"
        "  with rf('f'): pass\n"
        "rf = print\n"
        "with rf('after'): pass\n"
    )
    assert names(source) == ["before"]


def test_the_items_of_a_with_continued_by_a_backslash_have_their_own_lines():
    source = "from torch.profiler import record_function as rf\nwith rf('a'), \\\n     rf('b'):\n    pass\n"
    assert [(region.name, region.line, region.statement_line) for region in find_regions(source)] == [
        ("a", 2, 2),
        ("b", 3, 2),
    ]


def test_a_decorator_s_arguments_may_stand_at_the_margin():
    source = (
        "from torch.profiler import record_function as rf\nx = (a\n@ b)\n@rf(\nname=\n'x'\n)\n@other\ndef f(): pass\n"
    )
    assert [(region.name, region.path) for region in find_regions(source)] == [("x", "f")]


def test_a_matrix_product_at_the_margin_is_no_decorator():
    source = "from torch.profiler import record_function as rf\nx = (a\n@rf('x'))\ndef f(): pass\n"
    assert names(source) == []


def test_a_docstring_at_the_margin_hides_what_looks_like_code():
    source = (
        "from torch.profiler import record_function as rf\n"
        'x = """\ndef f():\n    with rf("no"): pass\n"""\nwith rf("yes"): pass\n'
    )
    assert names(source) == ["yes"]


def test_a_loop_s_later_binding_reaches_its_start():
    source = (
        "from torch.profiler import record_function as rf\n"
        "r = rf('a')\n"
        "for _ in x:\n"
        "    with r: pass\n"
        "    r = rf('b')\n"
    )
    assert names(source) == ["a", "b"]


def test_both_branches_of_a_choice_are_regions_of_the_with():
    source = "from torch.profiler import record_function as rf\nwith rf('a') if x else rf('b'): pass\n"
    first, second = find_regions(source)
    assert (first.name, second.name) == ("a", "b")
    assert first.item == second.item
    assert first.call != second.call


def test_the_ranges_of_a_with_are_its_call_its_item_and_its_block():
    source = (
        "from torch.profiler import record_function as rf\n"
        'with open(p) as f, rf(\n    "x"\n) as r:\n    # why\n    a()\n    b()\n\nc()\n'
    )
    region = only(source)
    assert text_at(source, region.call) == 'rf(\n    "x"\n)'
    assert text_at(source, region.item) == 'rf(\n    "x"\n) as r'
    assert text_at(source, region.body) == "a()\n    b()"
    assert (region.line, region.statement_line, region.last_line) == (2, 2, 4)
    assert region.call.start == Position(1, 19)


def test_the_ranges_of_a_decorator_are_itself_and_the_function_s_body():
    source = 'from torch.profiler import record_function as rf\n@other\n@rf("x")\ndef f(a,\n      b):\n    return a\n'
    region = only(source)
    assert text_at(source, region.item) == '@rf("x")'
    assert text_at(source, region.body) == "return a"
    assert (region.line, region.statement_line) == (3, 2)


def test_an_entered_context_lasts_to_the_end_of_the_with_that_made_the_stack():
    source = (
        "from torch.profiler import record_function as rf\n"
        "def f():\n"
        "  with ExitStack() as s:\n"
        "    a()\n"
        "    s.enter_context(rf('x'))\n"
        "    b()\n"
        "  c()\n"
    )
    assert text_at(source, only(source).body) == "\n    b()"


def test_an_entered_context_of_another_stack_lasts_to_the_end_of_the_function():
    source = (
        "from torch.profiler import record_function as rf\n"
        "def f(s):\n"
        "  if s:\n"
        "    s.enter_context(rf('x'))\n"
        "  b()\n"
        "c()\n"
    )
    assert text_at(source, only(source).body) == "\n  b()"


def test_a_region_entered_by_hand_lasts_to_its_exit():
    source = (
        "from torch.profiler import record_function as rf\n"
        "def f():\n"
        "  r = rf('x')\n"
        "  r.__enter__()\n"
        "  a()\n"
        "  r.__exit__(1, 2, 3)\n"
        "  b()\n"
    )
    region = only(source)
    assert text_at(source, region.body) == "\n  a()\n  "
    assert text_at(source, region.call) == "rf('x')"
    assert text_at(source, region.item) == "r.__enter__()"
    assert region.line == 4


def test_an_entered_context_at_module_level_has_no_known_end():
    assert only("from torch.profiler import record_function as rf\ns.enter_context(rf('x'))\na()\n").body is None


def test_a_variable_of_another_name_s_function_is_not_mixed_up():
    source = (
        "from torch.profiler import record_function as rf\n"
        "def f():\n"
        "  r = rf('x')\n"
        "def g():\n"
        "  r = open('x')\n"
        "  with r: pass\n"
    )
    assert names(source) == []


def test_a_variable_and_its_use_may_be_far_apart():
    source = (
        "from torch.profiler import record_function as rf\nr = rf('x')\n"
        + "def f(): pass\n" * 50
        + "def g():\n  with r: pass\n"
    )
    region = only(source)
    assert (region.line, region.call.start.row) == (54, 1)


def test_thousands_of_regions_are_in_the_order_of_the_text():
    source = "from torch.profiler import record_function as rf\n" + "".join(
        f"with rf('{n}'):\n  pass\n" for n in range(3000)
    )
    assert names(source) == [str(n) for n in range(3000)]

"""A region is put around statements, a function or the body of a loop: what the text then is, or why it is not done."""
# ruff: noqa: E501 - tables of texts

import pytest

from kinetoscope_core.source.regions import SourceRegions
from kinetoscope_core.source.wrapping import Refusal, measure_block, measure_function, measure_loop_body, remove_region

WITH = "from torch.profiler import record_function\n"


def rows_of(marked: str) -> tuple[str, int, int]:
    """The text without its marks, and the rows from » to «; the row of » alone where there is no «."""
    first = marked[: marked.index("»")].count("\n")
    last = marked[: marked.index("«")].count("\n") if "«" in marked else first
    return marked.replace("»", "").replace("«", ""), first, last


def measured(marked: str, measure=None) -> str:
    """The text with the region, after a check that removing it gives the old one."""
    text, first, last = rows_of(marked)
    source = SourceRegions(text)
    found = measure_block(source, first, last) if measure is None else measure(source, first)
    assert found is not None
    if isinstance(found, Refusal):
        return found.reason
    source.apply(found.edits())
    result = source.data.decode()
    (region,) = [each for each in source.regions if each.name == found.name]
    removed = remove_region(source, region)
    assert removed is not None
    assert not isinstance(removed, Refusal), removed
    source.apply(removed.edits())
    assert source.data.decode() == text
    return result


def body(marked: str, measure=None) -> str:
    """The same for code below an import that is there."""
    return measured(f"{WITH}keep = record_function\n{marked}", measure).removeprefix(f"{WITH}keep = record_function\n")


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("»a()\nb()«\nc()\n", 'with record_function("a"):\n    a()\n    b()\nc()\n'),
        ("»loss.backward()", 'with record_function("backward"):\n    loss.backward()'),
        ("def f():\n  if x:\n    »a()\n    b()«\n", 'def f():\n  if x:\n    with record_function("a"):\n      a()\n      b()\n'),
        ("def f():\n\t»a()\n\tb()«\n", 'def f():\n\twith record_function("a"):\n\t\ta()\n\t\tb()\n'),
        ("def f():\n\tg()\n»a()\n", 'def f():\n\tg()\nwith record_function("a"):\n\ta()\n'),
        ("»a(\n  1,\n)«\n", 'with record_function("a"):\n    a(\n      1,\n    )\n'),
        ("a(\n  »1,\n)\n", 'with record_function("a"):\n    a(\n      1,\n    )\n'),
        ("»x = '''\nb\n c'''\ny()«\n", "with record_function(\"y\"):\n    x = '''\nb\n c'''\n    y()\n"),
        ("»x = 'a\\\n b' + \\\n y()«\n", "with record_function(\"y\"):\n    x = 'a\\\n b' + \\\n     y()\n"),
        ("»x = f'''\n{\n a()}\n'''\n", "with record_function(\"a\"):\n    x = f'''\n{\n a()}\n'''\n"),
        (
            "k()\n»# one\na()  # two\n\n# three«\nb()\n",
            'k()\nwith record_function("a"):\n    # one\n    a()  # two\n\n    # three\nb()\n',
        ),
        ("k()\n# one\n»a()\n# two\n", 'k()\n# one\nwith record_function("a"):\n    a()\n# two\n'),
        (
            "»if x:\n    a()\n    # deeper\n# not\nb()\n",
            'with record_function("a"):\n    if x:\n        a()\n        # deeper\n# not\nb()\n',
        ),
        ("»if x:\n    a()\nelse:\n    b()«\n", 'with record_function("a"):\n    if x:\n        a()\n    else:\n        b()\n'),
        ("if x:\n    a()\n»else:\n    b()\n", 'with record_function("a"):\n    if x:\n        a()\n    else:\n        b()\n'),
        ("»a(); b()\n", 'with record_function("a"):\n    a(); b()\n'),
        ("if x: »a()\n", 'with record_function("a"):\n    if x: a()\n'),
        ("»a()\n\n  \nb()«\n", 'with record_function("a"):\n    a()\n\n  \n    b()\n'),
        ("if x:\n    \f    »a()\n", 'if x:\n    with record_function("a"):\n    \f        a()\n'),
        ("»ä = größe('é')\n", "with record_function(\"größe\"):\n    ä = größe('é')\n"),
        ("»x = [y for y in z()]\n", 'with record_function("z"):\n    x = [y for y in z()]\n'),
        (
            "»def closure():\n    a()\n\n\nstep(closure)«\n",
            'with record_function("step"):\n\n    def closure():\n        a()\n\n\n    step(closure)\n',
        ),
        ("class A:\n    »x = a()\n    y = 1«\n", 'class A:\n    with record_function("a"):\n        x = a()\n        y = 1\n'),
        ("async def f():\n    »await a()\n", 'async def f():\n    with record_function("a"):\n        await a()\n'),
        ("def f():\n    »return g()\n", 'def f():\n    with record_function("g"):\n        return g()\n'),
        ("for x in y:\n    »break\n", 'for x in y:\n    with record_function("block"):\n        break\n'),
        ('def f():\n    »"""Doc."""\n\n    a()«\n', 'def f():\n    """Doc."""\n\n    with record_function("a"):\n        a()\n'),
    ],
)  # fmt: skip
def test_statements_go_into_a_with(marked, expected):
    assert body(marked) == expected
    assert body(marked.replace("\n", "\r\n")).replace("\r\n", "\n") == expected


@pytest.mark.parametrize(
    ("marked", "because"),
    [
        ("a(\n»1,\n2)\nb()«\n", "cuts a statement"),
        ("if x:\n»    a()\nb()«\n", "cuts a statement"),
        ("»if x:\n    a()«\n    b()\n", "cuts a statement"),
        ("if x:\n»    a()\nelse:\n    b()«\n", "cuts a statement"),
        ("try:\n    »a()\nexcept E:\n    b()«\n", "cuts a statement"),
        ("@d\n»def f():\n    a()\nf()«\n", "cuts a statement"),
        ("match x:\n»    case 1:\n        a()\n    case 2:\n        b()«\n", "cuts a statement"),
        ("»a(\n", "cannot be read"),
        ("»\n\n«", "no statement"),
        ("»# a\n", "no statement"),
        ("»def f():\n    a()\n\n\nclass A:\n    pass«\n", "only define"),
        ("»import a\n", "only define"),
        ("»from __future__ import annotations\na()«\n", "__future__"),
        ("»from a import *\na()«\n", "An import of *"),
        ("def f():\n    »x = yield a()\n", "yields"),
        ("@torch.jit.script\ndef f():\n    »a()\n", "compiled by @torch.jit.script"),
        ("@triton.jit\ndef f():\n    »for i in x:\n        a()\n", "compiled by @triton.jit"),
        ('def f():\n    »"""Doc."""\n', "a docstring"),
        (WITH + '»with record_function("x"):\n    a()\n', "a region already"),
    ],
)
def test_what_would_change_the_code_or_measure_something_else_is_refused(marked, because):
    assert because in measured(marked)


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("out = self.model(x)", "forward"), ("optimizer.step()", "optimizer_step"), ("self.opt.zero_grad()", "opt_zero_grad"),
        ("scaler.scale(loss).backward()", "backward"), ("y = x @ w", "y"), ("print(net(x))", "forward"),
        ("with torch.no_grad():\n    y = evaluate(x)", "evaluate"), ("for epoch in range(3):\n    a()", "epoch_loop"),
        ("while True:\n    a()", "while_loop"), ("dist.all_reduce(x)", "dist_all_reduce"), ("x[0]()", "block"),
        ("x.y = 3", "x_y"), ("x += [len(a) for a in b]", "x"), ("if a.ready():\n    b()", "ready"),
    ],
)  # fmt: skip
def test_a_name_comes_from_what_is_called(code, name):
    assert f'with record_function("{name}"):\n' in body("»" + code + "\n")


def test_a_name_is_one_that_no_region_of_the_file_has():
    text = f'{WITH}with record_function("a"):\n    pass\nwith record_function("a_2"):\n    pass\n»a()\n'
    assert measured(text).endswith('with record_function("a_3"):\n    a()\n')


def test_a_whole_step_is_called_so():
    step = "for b in x:\n    »loss = model(b)\n    loss.backward()\n    opt.step()«\n"
    assert 'with record_function("train_step"):' in body(step)


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        ("»def f(x):\n    return x\n", '@record_function("f")\ndef f(x):\n    return x\n'),
        ("»@a\n@b\ndef f(x): return x\n", '@a\n@b\n@record_function("f")\ndef f(x): return x\n'),
        (
            "class A:\n    @property\n    »def x(self):\n        return g(self)\n",
            'class A:\n    @property\n    @record_function("x")\n    def x(self):\n        return g(self)\n',
        ),
        (
            "class A:\n    »def __call__(self):\n        return g(self)\n",
            'class A:\n    @record_function("A.__call__")\n    def __call__(self):\n        return g(self)\n',
        ),
        (
            "»async def f():\n    '''Doc.'''\n    # one\n    await x\n",
            "async def f():\n    '''Doc.'''\n    with record_function(\"f\"):\n        # one\n        await x\n",
        ),
        (
            "»def f(n):\n    return n and f(n - 1)\n    # end\n\n\nf(3)\n",
            'def f(n):\n    with record_function("f"):\n        return n and f(n - 1)\n        # end\n\n\nf(3)\n',
        ),
        (
            "def f():\n    »def g():\n        return 1\n    return g\n".replace("[(yield) for _ in ()]", "1"),
            'def f():\n    @record_function("g")\n    def g():\n        return 1\n    return g\n',
        ),
    ],
)
def test_a_function_gets_a_decorator_where_that_measures_each_call_and_else_its_body_is_measured(marked, expected):
    assert body(marked, measure_function) == expected


@pytest.mark.parametrize(
    ("marked", "because"),
    [
        ("»def f():\n    yield 1\n", "yields"),
        ("»async def f():\n    yield 1\n", "yields"),
        ("»def f(): ...\n", "no body"),
        ("»def f():\n    '''Doc.'''\n    raise NotImplementedError\n", "no body"),
        ("@typing.overload\n»def f(x): return x\n", "no body"),
        ("@torch.compile(dynamic=True)\n»def f(x): return x\n", "compiled by @torch.compile"),
        ("»async def f(x): return await x\n", "on the line of its colon"),
        ('@record_function("x")\n»def f(x): return x\n', "a region already"),
    ],
)
def test_a_function_that_cannot_be_measured_is_told(marked, because):
    assert because in body(marked, measure_function)


@pytest.mark.parametrize(
    ("marked", "expected"),
    [
        (
            "»for x, y in z:  # one\n    # two\n    a(x)\n    # three\nelse:\n    b()\n",
            (
                'for x, y in z:  # one\n    with record_function("x"):\n        # two\n        a(x)\n        # three\n'
                "else:\n    b()\n"
            ),
        ),
        ("while (\n»x\n):\n    a()\n", 'while (\nx\n):\n    with record_function("iteration"):\n        a()\n'),
        ("»for _ in z:\n  continue\n", 'for _ in z:\n  with record_function("iteration"):\n    continue\n'),
        ("»for x in z: a()\n", "The body stands on the line of its colon. Put it on lines of its own first."),
    ],
)
def test_the_body_of_a_loop_is_measured(marked, expected):
    assert body(marked, measure_loop_body) == expected


@pytest.mark.parametrize("measure", [measure_function, measure_loop_body])
def test_nothing_is_said_where_no_head_of_a_function_or_loop_is(measure):
    source = SourceRegions("def f():\n    for x in y:\n        a()\n\nb()\n")
    assert measure(source, 2) is measure(source, 3) is measure(source, 4) is None


def test_a_selection_that_spans_many_pieces_and_methods_of_a_long_class_is_measured_too():
    method = "    def m(self):\n        return 1\n\n"
    text = "import torch\n\n\nclass A:\n" + 600 * method + "    x = f()\n\n\n»a = 1\nb = f()\nwith c:\n    d()«\n"
    assert '\nwith record_function("f"):\n    a = 1\n    b = f()\n    with c:\n        d()\n' in measured(text)
    inside = text.replace("»", "").replace("«", "").replace("    x = f", "    »x = f")
    assert '\n    with record_function("f"):\n        x = f()\n' in measured(inside)


def test_a_mark_of_the_encoding_stays_first_and_a_cookie_where_it_was():
    text = "\ufeff»a()\n"
    assert measured(text) == f'\ufeff{WITH}\nwith record_function("a"):\n    a()\n'
    text = "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\n»a()\n"
    assert measured(text) == text.replace("»a()\n", f'{WITH}\nwith record_function("a"):\n    a()\n')

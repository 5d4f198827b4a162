"""A region is taken out of the code: what is left, or why it stays."""
# ruff: noqa: E501 - tables of texts

import pytest

from kinetoscope_core.source.regions import SourceRegions
from kinetoscope_core.source.wrapping import Refusal, remove_region

IMPORTS = "from torch.profiler import record_function as rf\nkeep = rf\n"


def without(text: str, nth: int = 0) -> str | None:
    source = SourceRegions(IMPORTS + text)
    removed = remove_region(source, source.regions[nth])
    if removed is None or isinstance(removed, Refusal):
        return None if removed is None else removed.reason
    source.apply(removed.edits())
    return source.data.decode().removeprefix(IMPORTS)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('with rf("x"):\n    a()\n\n    b()\nc()\n', "a()\n\nb()\nc()\n"),
        ('with rf("x"): a(); b()\n', "a(); b()\n"),
        ('with rf("x") as r:\n    a()\n', "a()\n"),
        ('with (\n    rf("x")\n):\n  # one\n  a()\n  # two\n# three\n', "# one\na()\n# two\n# three\n"),
        ('with rf("x"):  # kinetoscope: expect cuda < 1ms\n    a()\n', "a()\n"),
        ('with rf("x"):  # why\n    a()\n', "# why\na()\n"),
        ('with open(f) as g, rf("x"):\n    a(g)\n', "with open(f) as g:\n    a(g)\n"),
        ('with rf("x"), open(f) as g:\n    a(g)\n', "with open(f) as g:\n    a(g)\n"),
        ('with (\n    rf("x"),\n    b,\n):\n    a()\n', "with (\n    b,\n):\n    a()\n"),
        ('with (\n    b,\n    rf("x"),\n):\n    a()\n', "with (\n    b,\n):\n    a()\n"),
        ('@a\n@rf("x")\ndef f():\n    pass\n', "@a\ndef f():\n    pass\n"),
        ('class A:\n    @rf(\n        "x"\n    )\n    def f(self):\n        pass\n', "class A:\n    def f(self):\n        pass\n"),
        ('if x:\n\twith rf("x"):\n\t    a("""\n\t    b""")\n', 'if x:\n\ta("""\n\t    b""")\n'),
    ],
)  # fmt: skip
def test_what_was_inside_is_left(text, left):
    assert without(text) == left


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ('with rf("x") as r:\n    a(r)\n', "kept as r, which is used"),
        ('r = rf("x")\nwith r:\n    a()\n', "made at another line"),
        ('with rf(f"{(n := 3)}"):\n    a(n)\n', ":="),
        ('with (\n    rf("x"),  # why\n    b,\n):\n    a()\n', "comment"),
        ('with rf("x"):\n    a(\n', "cannot be read"),
        ('stack.enter_context(rf("x"))\n', None),
    ],
)
def test_what_would_change_the_code_stays(text, because):
    found = without(text)
    assert found is None if because is None else because in (found or "")

"""Text in the middle of an edit: a break damages what it is in, and nothing beside it."""

import pytest

from kinetoscope_core.source.regions import find_regions

SOUND = """\
import torch
from torch.profiler import record_function


class Model:
    @record_function("load")
    def load(self, path):
        return path

    def forward(self, x):
        with record_function("first"):
            y = x + 1
            print(y)
        with record_function("second"):
            return y

    @record_function("last")
    def last(self):
        pass


@record_function("train")
def train():
    with record_function("step"):
        pass


with record_function("main"):
    train()
"""
ALL = ["load", "first", "second", "last", "train", "step", "main"]
PATHS = ["Model.load", "Model.forward", "Model.forward", "Model.last", "train", "train", ""]


def broken(old: str, new: str) -> str:
    assert old in SOUND
    return SOUND.replace(old, new, 1)


def test_the_sound_text_has_all_regions():
    assert [region.name for region in find_regions(SOUND)] == ALL
    assert [region.path for region in find_regions(SOUND)] == PATHS


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("y = x + 1", "y = (x + 1"),
        ("y = x + 1", "y = x + 1)"),
        ("y = x + 1", "y = [{(x + 1"),
        ("y = x + 1", "y = foo(x, "),
        ("y = x + 1", "y = foo(x,  # why ("),
        ("y = x + 1", 'y = "x + 1'),
        ("y = x + 1", "y = 'it's'"),
        ("y = x + 1", 'y = f"{x'),
        ("y = x + 1", "y ="),
        ("y = x + 1", "y = x."),
        ("y = x + 1", "if x"),
        ("y = x + 1", "if x:"),
        ("y = x + 1", "x y z"),
        ("y = x + 1", "with"),
        ("y = x + 1", "with open("),
        ("y = x + 1", "return return"),
        ("y = x + 1", "y = lambda"),
        ("y = x + 1", "try:"),
        ("y = x + 1", "$ ? !"),
        ("y = x + 1", "y = \\"),
        ("print(y)", "print("),
        ("print(y)", "print(y"),
        ("print(y)", "pri nt(y))"),
        ("def forward(self, x):", "def forward(self, x:"),
        ("def forward(self, x):", "def forward(self, x)"),
        ("def forward(self, x):", "def forward(self, x, :"),
        ("class Model:", "class Model"),
        ("class Model:", "class Model(:"),
        ("class Model:", "class Model(Base:"),
        ('with record_function("first"):', 'with record_function("first":'),
        ('with record_function("first"):', 'with record_function("first"'),
        ('with record_function("first"):', 'with record_function("first")'),
        ('with record_function("first"):', 'with record_function("first):'),
        ('with record_function("first"):', 'with record_function("first'),
        ('with record_function("first"):', "with record_function('first"),
        ('@record_function("load")', '@record_function("load"'),
        ('@record_function("train")', '@record_function("train"'),
        ("def train():", "def train(:"),
        ("def train():", "def train()"),
        ("    train()\n", "    train(\n"),
        ("import torch\n", "import torch.\n"),
        ("import torch\n", "import torch as\n"),
        ("import torch\n", "from torch import (\n"),
    ],
)
def test_a_break_leaves_every_region_in_its_place(old: str, new: str):
    source = broken(old, new)
    found = find_regions(source)
    assert [region.name for region in found] == ALL
    assert [region.path for region in found] == PATHS
    for region in found:
        assert "record_function" in source.split("\n")[region.line - 1]


@pytest.mark.parametrize(
    ("old", "new", "lost"),
    [
        ('with record_function("first"):', "with record_function(:", "first"),
        ('with record_function("first"):', "with record_funct:", "first"),
        ("    def load(self, path):", "    de load(self, path):", "load"),
        ("def train():", "de train():", "train"),
        ('@record_function("train")', '@record_function("train" x', "train"),
    ],
)
def test_what_is_itself_unfinished_is_lost_alone(old: str, new: str, lost: str):
    names = [region.name for region in find_regions(broken(old, new))]
    assert [name for name in names if name != lost] == [name for name in ALL if name != lost]


def test_a_lone_word_that_begins_a_block_loses_no_region():
    assert [region.name for region in find_regions(broken("y = x + 1", "for"))] == ALL


def test_an_open_triple_quote_hides_what_follows_and_nothing_before():
    found = find_regions(broken("print(y)", '"""'))
    assert [region.name for region in found] == ["load", "first"]


def test_places_in_a_repaired_line_are_those_of_the_text_as_it_is():
    source = (
        "from torch.profiler import record_function as rf\n"
        'with rf("a", rf("b") as c, d:\n    pass\nwith rf("e") as e, rf("f":\n    pass\n'
    )
    last = find_regions(source)[-1]
    line = source.split("\n")[3]
    assert last.name == "f"
    assert line[last.call.start.column : last.call.end.column] == 'rf("f"'
    assert last.body is not None
    assert last.body.start == (4, 4)


@pytest.mark.parametrize(
    "source",
    [
        "",
        "\n",
        "\ufeff",
        "\0",
        "\ud800",
        "\\",
        "'",
        '"""',
        "(" * 5000,
        ")" * 5000,
        "[(" * 2000 + "x",
        "f'{" * 1000,
        "if x:\n" * 300,
        "".join(" " * n + "if x:\n" for n in range(300)),
        "@" * 1000,
        "record_function(" * 500,
        "with record_function(\n" * 500,
        "import torch\nx = " + "torch.profiler" * 500,
        "from torch.profiler import record_function as record_function\nwith record_function(record_function): pass",
        "from torch.profiler import *\n" * 200,
        "a = b\nb = c\nc = a\nfrom torch.profiler import record_function\na = record_function\nwith c('x'): pass",
        "not python at all; {json: [1, 2]}\r\r\n\x0c\x1e\x85\u2028",
        "lambda: " * 500,
        "\x1b[31m\x7f",
        # tree-sitter puts a name of no length before the first colon.
        """from torch.profiler import record_function as rf
class A(B,
    \"\"\"
    \"\"\"
    def f(self):
        with rf(
    if x:
:
        kept = rf('kept')""",
    ],
)
def test_no_text_is_refused(source: str):
    assert isinstance(find_regions(source), list)
    assert isinstance(find_regions(source.encode("utf-8", "surrogatepass")), list)


def test_bytes_that_are_not_utf_8_are_no_obstacle():
    source = (
        b"# \xff\xfe\nfrom x\nfrom torch.profiler import record_function as rf\n"
        b"with rf('\xe9x'): pass\nwith rf('y'): pass\n"
    )
    first, second = find_regions(source)
    assert first.name == "\udce9x"
    assert second.name == "y"

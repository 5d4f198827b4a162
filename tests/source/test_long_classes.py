"""Methods of a long class are read by themselves, and nobody can tell from the regions and their places."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kinetoscope_core.source.placement import Placer, fingerprints_of
from kinetoscope_core.source.regions import Edit, LineEdit, SourceRegions, edited_text, find_regions
from kinetoscope_core.source.syntax import chunks
from kinetoscope_core.source.syntax.tree import Chunk

SOURCE = '''\
import torch
from torch.profiler import record_function as rf
NAME = "module"


class Trainer(Base,
              Other):  # the one

    # first of all
    """A class.
    def not_a_method(): ...
    """
    NAME = "class"
    held = rf("held")

    def step(self, batch):
        with rf("step"), torch.profiler.record_function(NAME):
            return self.step(batch)

    @rf("decorated")
    def forward(self, x):
        with rf(
            f"layer_{x}"
        ):
            return x

    @rf(NAME)
    @staticmethod
    async def later(stack):
        stack.enter_context(rf(NAME + "!"))

    @rf("again")
    def again(self):
        with held:
            return self.again()

    NAME = "second"
    with rf(NAME):
        with held:
            pass

    @rf(
        NAME
    )
    def produce(self):
        yield 1

    @property
    # between
    @rf("sum" + NAME)
    def sum(self): return self.sum

    if NAME:
        def one(self):
            with rf("one"): pass
    else:
        def one(self):
            with rf("other"): pass

    class Inner:
        @rf(NAME)
        def inner(self):
            return self.inner()

    def last(self):
        kept = rf("kept")
        kept.__enter__()
        work()
        kept.__exit__(None, None, None)


trainer = Trainer()
with rf(NAME):
    trainer.step(1)


@rf("class")
class Decorated:
    def method(self):
        with rf("in it"): pass


class Trainer:
    NAME = "other"
    @rf(NAME)
    def step(self): pass
    def end(self):
        with rf("end"): pass
'''

FRAGMENTS = [
    "    def new(self):\n", "    @rf('new')\n", "    @\n", "    class New:\n", "class Trainer:\n", "class Other(A,\n",
    "    NAME = 'new'\n", "NAME = 'new'\n", "    y = (\n", "    ", "  ", "\t", "(", ")", "[", '"', '"""', "'", "#",
    "\\", "\n", "\r\n", ":", "    global NAME\n", "x\n", "    held = None\n", "async ", "    def f(): pass\n", "@",
    "else:\n", "        with rf('deep'): pass\n", "with held: pass\n", "    # note\n", "pass",
]  # fmt: skip
changes = st.lists(
    st.tuples(
        st.integers(0, len(SOURCE)),
        st.sampled_from([0, 0, 0, 1, 4, 60, 600]),
        st.lists(st.sampled_from(FRAGMENTS), max_size=4),
    ),
    min_size=1,
    max_size=8,
)


@contextmanager
def long_from(size: int) -> Generator[None, None, None]:
    """Classes are long from this many bytes on."""
    with pytest.MonkeyPatch.context() as patching:
        patching.setattr(chunks, "LONG_CLASS_BYTES", size)
        yield


def pieces(text: str) -> list[str]:
    data = text.encode()
    starts = [0, *(border.offset for border in chunks.borders(data, 0))]
    return [data[start:end].decode() for start, end in zip(starts, [*starts[1:], len(data)], strict=True)]


def test_each_method_is_a_piece_with_its_decorators_and_what_follows_it():
    with long_from(0):
        found = [piece.strip().split("\n")[0] for piece in pieces(SOURCE)[2:]]
    assert found == [
        "class Trainer(Base,", "def step(self, batch):", '@rf("decorated")', "@rf(NAME)", '@rf("again")', "@rf(",
        "@property", "class Inner:", "def last(self):", "with rf(NAME):", '@rf("class")', "class Trainer:",
        "@rf(NAME)", "def end(self):",
    ]  # fmt: skip


@pytest.mark.parametrize("size", [0, 1_000, chunks.LONG_CLASS_BYTES])
@pytest.mark.parametrize(
    "text",
    [SOURCE, SOURCE.replace("    ", "\t"), SOURCE.replace("\n", "\r\n"), SOURCE.replace("Trainer", "Rückwärts")],
    ids=["spaces", "tabs", "CRLF", "not ASCII"],
)
def test_the_regions_are_those_of_the_class_in_one_piece(text: str, size: int):
    with long_from(1 << 60):
        whole = find_regions(text)
    with long_from(size):
        assert find_regions(text) == whole
    assert len(whole) == 20
    assert [region.name for region in whole].count("class") == 2


@pytest.mark.parametrize(
    "head",
    [
        "class A:",
        "class A(B):",
        "class A[T: int](B, metaclass=C):",
        "class A( # why\n    B\n):",
        "class  A :\n\n  # no",
    ],
)
def test_heads_of_classes(head: str):
    text = f"{head}\n    x = 1\n    def f(self): pass\n    def g(self): pass\n"
    with long_from(0):
        assert len(pieces(text)) == 3


@pytest.mark.parametrize("head", ["def f():", "class A: pass\nif x:", "@dataclass\nclass A:", "class A(b()):"])
def test_what_is_no_plain_class_stays_whole(head: str):
    text = f"{head}\n    x = 1\n    def f(self): pass\n    def g(self): pass\n"
    with long_from(0):
        assert pieces(text)[-1].count("def ") >= 2


@settings(deadline=None)
@given(changes, st.sampled_from([0, 300, 1_000]))
def test_after_any_edits_the_regions_are_those_of_the_final_text(edits: list[tuple[int, int, list[str]]], size: int):
    with long_from(size):
        text, edited = SOURCE, SourceRegions(SOURCE)
        for at, length, fragments in edits:
            start, end = min(at, len(text)), min(at + length, len(text))
            new = "".join(fragments)
            edited.apply([Edit(start, end, new)])
            text = text[:start] + new + text[end:]
            assert edited.regions == find_regions(text)


@settings(deadline=None)
@given(changes, st.sampled_from([0, 300, 1_000]))
def test_after_any_edits_times_are_where_the_final_text_alone_puts_them(
    edits: list[tuple[int, int, list[str]]], size: int
):
    with long_from(size):
        fingerprints = fingerprints_of(SOURCE)
        placer, source, text = Placer(fingerprints), SourceRegions(SOURCE), SOURCE
        for at, length, fragments in edits:
            start, end = min(at, len(text)), min(at + length, len(text))
            new = "".join(fragments)
            source.apply([Edit(start, end, new)])
            text = text[:start] + new + text[end:]
            alone = SourceRegions(text)
            assert [(each.data, each.inside) for each in source.pieces] == [
                (each.data, each.inside) for each in alone.pieces
            ]
            assert placer.place(source) == Placer(fingerprints).place(text)
        assert all(each.region and not each.is_stale for each in placer.place(SOURCE))


def test_what_runs_below_a_long_class_counts_for_regions_at_module_level():
    with long_from(0):
        fingerprints = fingerprints_of(SOURCE)
        below = SOURCE.replace("\nwith rf(NAME)", "\nstart()\nwith rf(NAME)", 1)
        assert below != SOURCE
        stale = [each.fingerprint.path for each in Placer(fingerprints).place(below) if each.is_stale]
        assert stale
        assert set(stale) == {""}


def test_prints_of_methods_do_not_depend_on_the_length_of_their_class():
    def told(size: int) -> list[tuple[str, ...]]:
        with long_from(size):
            found = [each for each in fingerprints_of(SOURCE) if each.block]
            return [(each.name, each.own, each.function, each.above, each.below) for each in found]

    assert told(0) == told(1 << 60)


def test_a_new_value_in_one_piece_of_a_class_reaches_decorators_in_others():
    with long_from(0):
        edited = SourceRegions(SOURCE)
        assert [region.name for region in edited.regions].count("second") == 2
        at = SOURCE.index('"second"')
        edited.apply([Edit(at, at + 8, '"changed"')])
        assert [region.name for region in edited.regions].count("changed") == 2


def test_a_new_head_in_the_middle_takes_the_names_of_the_first_part_away():
    with long_from(0):
        edited = SourceRegions(SOURCE)
        row = SOURCE[: SOURCE.index("    @rf(NAME)")].count("\n")
        edited.apply([LineEdit((row, 0), (row, 0), "class Trainer:\n    pass\n")])
        assert edited.regions == find_regions(edited.data)
        assert "class" not in {region.name for region in edited.regions if region.path == "Trainer.later"}


def test_a_letter_in_a_long_class_has_a_method_or_two_read_again(monkeypatch: pytest.MonkeyPatch):
    methods = [f"    def method_{n}(self, x):\n        with rf('{n}'):\n            return x\n\n" for n in range(1_000)]
    text = "from torch.profiler import record_function as rf\nclass Long:\n    pass\n" + "".join(methods)
    edited = SourceRegions(text)
    assert len(edited.regions) == 1_000
    made: list[int] = []

    def noted(data: bytes, *others: Any) -> Chunk:
        made.append(len(data))
        return Chunk(data, *others)

    monkeypatch.setattr(edited_text, "Chunk", noted)
    at = text.index("return x", len(text) // 2)
    for letter in "yz(":
        edited.apply([Edit(at, at, letter)])
        assert len(edited.regions) >= 999
    assert len(made) <= 6
    assert max(made) < 400

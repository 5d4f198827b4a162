"""Where an exception of the script is said to stand, and what of torch's lines is dropped."""

import sysconfig
import traceback

import pytest

from kinetoscope_core.runner.ending.failures import frames_of, missing_module, place_of
from kinetoscope_core.runner.profiler.kineto_messages import not_of_kineto

USER = ("/home/me/train.py", 7, "step")
STDLIB = sysconfig.get_path("stdlib")


@pytest.mark.parametrize(
    "library",
    [
        f"{STDLIB}/json/decoder.py",
        "/usr/lib/python3/dist-packages/torch/nn/functional.py",
        "/home/me/.venv/lib/python3.12/site-packages/torch/nn/functional.py",
        "<frozen importlib._bootstrap>",
        "<string>",
    ],
)
def test_the_place_is_the_innermost_line_of_the_user_s(library):
    outer = ("/home/me/main.py", 3, "<module>")
    assert place_of([outer, USER, (library, 1, "f")]) == USER[:2]
    assert place_of([(library, 1, "f")]) == (None, None)


def test_what_cannot_be_parsed_stands_where_it_is_wrong():
    error = SyntaxError("invalid syntax", ("/home/me/model.py", 5, 1, "x ="))
    assert frames_of(error) == [("/home/me/model.py", 5, "<module>")]
    for odd in (("/home/me/model.py", None, 1, ""), (None, 5, 1, ""), (b"/home/me/model.py", 5, 1, "")):
        assert frames_of(SyntaxError("invalid syntax", odd)) == []


def raised(function):
    with pytest.raises(BaseException) as caught:
        function()
    return caught.value.with_traceback(caught.value.__traceback__.tb_next)


def test_the_frames_are_those_of_the_last_exception():
    def first():
        raise KeyError('File "/home/me/other.py", line 3, in elsewhere')

    def second():
        try:
            first()
        except KeyError as error:
            raise ValueError("Original Traceback (most recent call last):") from error

    line = second.__code__.co_firstlineno
    assert frames_of(raised(second)) == [(__file__, line + 4, "second")]


def test_of_a_recursion_three_frames_are_kept_as_python_prints_it():
    def deep(left):
        if left:
            deep(left - 1)
        raise ValueError

    def begin():
        deep(100)

    error = raised(begin)
    line = deep.__code__.co_firstlineno
    assert [frame[1] - line for frame in frames_of(error)[1:]] == [2, 2, 2, 3]
    printed = [each for each in traceback.format_exception(error) if each.startswith("  File")]
    assert len(frames_of(error)) == len(printed)


@pytest.mark.parametrize(("name", "missing"), [("torch", "torch"), (None, None), (b"torch", None)])
def test_the_module_that_is_missing_is_named_by_the_exception(name, missing):
    assert missing_module(ModuleNotFoundError("No module named 'torch'", name=name)) == missing
    assert missing_module(ImportError("No module named 'torch'", name="torch")) is None


@pytest.mark.parametrize("rank", [b"", b"[rank0]:", b"[rank11]: "])
def test_a_line_of_torch_s_is_dropped_with_the_rank_before_it_too(rank):
    lines = [
        rank + b"[W1130 06:00:00.1 kineto.cpp:12] Warning: Toggling CPU activity with CUPTI\n",
        rank + b"INFO:2026-11-30 06:00:00 1:1 a.cpp:1] Completed\n",
    ]
    others = [rank + b"the script's own\n", rank + b"[W1130 06:00:00.1 x.cpp:1] Warning: of something else\n"]
    failures = []
    assert list(not_of_kineto([*lines, *others], failures)) == others
    assert not failures

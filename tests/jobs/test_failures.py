"""Where an exception of the script is said to stand, and what of torch's lines is dropped."""

import sysconfig

import pytest

from kinetoscope_core.runner.ending.failures import place_of
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
    assert place_of(ValueError(), [outer, USER, (library, 1, "f")]) == USER[:2]
    assert place_of(ValueError(), [(library, 1, "f")]) is None


def test_what_cannot_be_parsed_stands_where_it_is_wrong():
    error = SyntaxError("invalid syntax", ("/home/me/model.py", 5, 1, "x ="))
    assert place_of(error, [USER]) == ("/home/me/model.py", 5)
    installed = SyntaxError("invalid syntax", ("/venv/lib/python3.12/site-packages/a.py", 5, 1, "x ="))
    assert place_of(installed, [USER]) == USER[:2]


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

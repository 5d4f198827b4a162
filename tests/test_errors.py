"""The tree of errors is drawn once, in the docstring of errors.py, and is as drawn."""

import inspect
import re

import pytest

from kinetoscope_core import errors

DRAWN = re.compile(r"^(?P<branch>[ │├└─]*)(?P<name>[A-Z]\w+)(?:  .*?)?(?:exit (?P<exit>\d+))?$")


def drawn_tree() -> dict[str, tuple[str | None, int | None]]:
    """Name to (name of the parent, exit code), None where the drawing has none."""
    tree: dict[str, tuple[str | None, int | None]] = {}
    path: list[tuple[int, str]] = []
    for line in inspect.getdoc(errors).splitlines():
        drawn = DRAWN.match(line)
        if drawn is None or not (drawn["branch"] or not tree):
            continue
        depth, name = len(drawn["branch"]), drawn["name"]
        while path and path[-1][0] >= depth:
            path.pop()
        tree[name] = (path[-1][1] if path else None, int(drawn["exit"]) if drawn["exit"] else None)
        path.append((depth, name))
    return tree


def real_errors() -> dict[str, type[errors.KinetoscopeError]]:
    return {
        name: value
        for name, value in vars(errors).items()
        if inspect.isclass(value) and issubclass(value, BaseException) and value.__module__ == errors.__name__
    }


def test_the_drawing_names_every_error_and_no_other():
    assert set(drawn_tree()) == set(real_errors())


@pytest.mark.parametrize("name", sorted(real_errors()))
def test_each_error_hangs_where_it_is_drawn(name):
    (base,) = real_errors()[name].__bases__
    parent, _ = drawn_tree()[name]
    assert base.__name__ == (parent or "Exception")


@pytest.mark.parametrize("name", sorted(real_errors()))
def test_each_exit_code_is_as_drawn(name):
    _, code = drawn_tree()[name]
    if name == "KinetoscopeError":
        assert code is None
    else:
        assert real_errors()[name].exit_code == code


def test_every_error_tells_its_problem():
    problem = errors.Problem("run-failed", "train.py failed", file="train.py", line=7)
    error = errors.RunError(problem)
    assert (str(error), error.problem) == ("train.py failed", problem)
    assert errors.UsageError("no script").problem == errors.Problem("run-problem", "no script")

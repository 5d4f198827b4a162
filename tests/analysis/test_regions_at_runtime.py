"""The line that a run reports leads back to the region, on every Python that is here."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from kinetoscope_core.source.regions import find_regions
from kinetoscope_core.source.regions.which_region import entered_at

SOURCE = """\
import contextlib
from torch.profiler import record_function as rf
with rf("alone"):
    pass
with (
    rf("b1"),
    rf(
        "b2"
    ) as z,
):
    pass
with rf(
    "spread"
):
    pass
with rf("c1"), \\
     rf("c2"):
    with rf("c2"):
        pass
s = contextlib.ExitStack()
s.enter_context(
    rf(
     "stacked"
    )
)
(s
  .enter_context(
    rf("dotted")))
v = rf("kept")
with (
   v
 ):
    pass
(v.
  __enter__(
))
with (
    rf("chosen")
    if True
    else None
):
    pass
for i in range(2):
    with contextlib.nullcontext(), rf(f"loop_{i}"), rf("loop_1x"):
        pass
class C:
    @staticmethod
    @rf("decorated")
    def f(
        x
    ):
        pass
    @rf(
        "spread decorator"
    )
    @contextlib.contextmanager
    def g(self): yield
C.f(1)
C().g()
"""

PROGRAM = """\
import contextlib, functools, json, sys, types
seen = []
class record_function(contextlib.ContextDecorator):
    def __init__(self, name, args=None):
        self.name = name
        self.function = None
    def __call__(self, function):
        self.function = function
        return super().__call__(function)
    def _recreate_cm(self):
        return self
    def __enter__(self):
        frame = sys._getframe(1)
        if frame.f_code.co_name == "inner" and frame.f_code.co_filename == contextlib.__file__:
            function = self.function
            while hasattr(function, "__wrapped__"):
                function = function.__wrapped__
            line = function.__code__.co_firstlineno
        else:
            while frame.f_code.co_filename == contextlib.__file__:
                frame = frame.f_back
            line = frame.f_lineno
        seen.append((self.name, line))
        return self
    def __exit__(self, *exc):
        return False
torch, profiler = types.ModuleType("torch"), types.ModuleType("torch.profiler")
profiler.record_function = record_function
torch.profiler = profiler
sys.modules["torch"], sys.modules["torch.profiler"] = torch, profiler
exec(compile(sys.stdin.read(), "script.py", "exec"), {})
print(json.dumps(seen))
"""

# What each name's item is on: its first line, from 1.
EXPECTED = [
    ("alone", 3), ("b1", 6), ("b2", 7), ("spread", 12), ("c1", 16), ("c2", 17), ("c2", 18),
    ("stacked", 22), ("dotted", 28),
    ("kept", 31), ("kept", 34), ("chosen", 38), ("loop_{…}", 44), ("loop_1x", 44), ("loop_{…}", 44), ("loop_1x", 44),
    ("decorated", 48), ("spread decorator", 53),
]  # fmt: skip


def interpreter(version: str) -> str | None:
    root = Path(os.environ.get("PYENV_ROOT", "~/.pyenv")).expanduser() / "versions"
    found = sorted(root.glob(f"{version}.*/bin/python"))
    return str(found[-1]) if found else shutil.which(f"python{version}")


@pytest.mark.parametrize("version", ["3.9", "3.10", "3.11", "3.12", "3.13", "3.14"])
def test_the_reported_line_leads_back_to_the_region(version: str):
    python = interpreter(version)
    if python is None:
        pytest.skip(f"no Python {version} here")
    done = subprocess.run(
        [python, "-c", PROGRAM], input=SOURCE, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.stderr == ""
    regions = find_regions(SOURCE)
    seen = [(entered_at(regions, line, name), name) for name, line in json.loads(done.stdout)]
    assert [(region.name, region.line) for region, _ in seen if region is not None] == EXPECTED


def test_a_place_without_a_region_gives_none():
    regions = find_regions(SOURCE)
    assert entered_at(regions, 1, "alone") is None
    assert entered_at(regions, 3, "another") is None
    assert entered_at(regions, 4, "alone") is None
    assert entered_at([], 1, "x") is None


def test_of_two_that_match_the_one_that_tells_more_wins():
    regions = find_regions(
        "from torch.profiler import record_function as rf\nwith rf(x), rf(f'a{x}'), rf('ab'), rf(f'{x}{y}'): pass\n"
    )
    found = [entered_at(regions, 2, name) for name in ("ab", "ac", "c")]
    assert [region.name if region else None for region in found] == ["ab", "a{…}", "{…}"]

"""Expectations of a real run: at each kind of region, as lines, as JSON and as an exit code."""

from pathlib import Path

import pytest

HELPER = """from contextlib import contextmanager
from torch.profiler import record_function

@contextmanager
def timed(name):
    with record_function(name):
        yield
"""
SCRIPT = """import torch
from helper import timed
from torch.profiler import record_function

@record_function("decorated")  # kinetoscope: expect cpu < 1h, cpu < 100s
def decorated():
    torch.ones(8) + 1

for step in range(99):
    # kinetoscope: expect cpu > 1ns
    with record_function("whole"):
        decorated()
        for name in ("query", "key", "value"):
            with record_function(f"{name} of it"):  # kinetoscope: expect cpu < 1ns
                torch.ones(8) + 1
        with timed("helped"):  # kinetoscope: expect cpu self < 100s, cuda < 1s
            torch.ones(8) + 1
if step < 0:
    with record_function("never"):  # kinetoscope: expect launches <= 5
        pass
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    (tmp_path / "helper.py").write_text(HELPER)
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    return path


def held(ran):
    return {(each["text"], each["region"]): each["holds"] for each in ran.result["expectations"]}


def test_each_region_that_a_comment_counts_for_is_checked(kinetoscope, script):
    ran = kinetoscope(script, options=("--check",))
    assert held(ran) == {
        ("cpu < 1h", None): None,
        ("cpu < 100s", "decorated"): True,
        ("cpu > 1ns", "whole"): True,
        **{("cpu < 1ns", f"{name} of it"): False for name in ("query", "key", "value")},
        ("cpu self < 100s", "helped"): True,
        ("cuda < 1s", "helped"): None,
        ("launches <= 5", "never"): None,
    }
    assert ran.code == 4
    assert "Exit code 4, because --check found broken: cpu < 1ns in query of it, " in ran.messages
    assert {each["file"] for each in ran.result["expectations"]} == {str(script)}


def test_what_cannot_be_told_is_an_exit_code_of_its_own_and_nothing_without_the_option(kinetoscope, script):
    script.write_text(SCRIPT.replace("  # kinetoscope: expect cpu < 1ns", ""))
    ran = kinetoscope(script, options=("--check",), as_json=False)
    assert ran.code == 5
    assert (
        "Exit code 5, because --check cannot tell: cpu < 1h at line 5, cuda < 1s in helped, launches <= 5 in never.\n"
    ) in ran.messages
    assert (
        "script.py:19  not checked: launches <= 5  no call of never was measured at this line\n" in ran.stdout.decode()
    )
    assert kinetoscope(script).code == 0


def test_of_one_region_alone_its_own_expectations_are_checked(kinetoscope, script):
    script.write_text(SCRIPT.replace("cpu < 1h, ", ""))
    ran = kinetoscope(script, options=("--check", "--region", "decorated"))
    assert held(ran)["cpu < 100s", "decorated"] is True
    assert ("launches <= 5", "never") not in held(ran)


def test_a_file_that_changed_meanwhile_is_not_passed(kinetoscope, script):
    model = "from torch.profiler import record_function\n\ndef step():\n    with record_function('step'): pass\n"
    script.with_name("model.py").write_text(model)
    script.write_text(
        "import torch, model\n"
        "from torch.profiler import record_function\n"
        "for _ in range(9):\n"
        "    with record_function('a'):  # kinetoscope: expect cpu < 100s\n"
        "        model.step()\n"
        "open(model.__file__, 'a').write('# changed')\n"
    )
    ran = kinetoscope(script, options=("--check", "--to-the-end"))
    assert held(ran) == {("cpu < 100s", "a"): True}
    assert ran.code == 5
    assert "model.py expects, which was changed while the script ran.\n" in ran.messages

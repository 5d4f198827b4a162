"""The runner's region log without torch, on every Python that is here."""

import json
import subprocess

import pytest

from kinetoscope_core.run.process import RUNNER
from kinetoscope_core.runner.regions.log import safe_name

from .conftest import SCRIPTS
from .test_as_python import each_python

PROGRAM = SCRIPTS.parent / "programs" / "region_log.py"


@each_python
def test_entries_stand_where_they_were_made_and_in_order(python):
    done = subprocess.run([python, PROGRAM, RUNNER.parent], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    seen = json.loads(done.stdout)
    lines = seen["lines"]
    quoted = 'a "quoted" é\n'
    assert {name: line for name, line in seen["logged"].items() if name in lines} == lines
    assert seen["logged"][quoted] == lines["second"]
    assert "of torch" not in seen["logged"]
    assert seen["files"] == [str(PROGRAM), "<string>"]
    assert seen["functions"]["decorated"] == "decorated"
    counts = {"plain": 3, quoted: 3, "second": 3, "stacked": 1, "failing": 1, "of a string": 1, "raising": 2}
    threads = {f"thread {number}": 2000 for number in range(4)}
    assert seen["counts"] == counts | threads | {"decorated": 3 + 8000}
    # Columns of one entry stay together, however the threads take turns.
    assert all(seen["calls"].values())
    assert seen["sorted"]
    assert seen["threads"] == 5
    assert seen["finished"]["not recorded"] == 1
    assert seen["first"] == [["plain", 0], [quoted, 0], ["second", 0], ["plain", 1]]
    assert seen["failing"] == [["failing", True]]
    # Of one object's calls inside each other, the inner one alone was ended by its exception.
    assert seen["raised"] == [["raising", 1, "KeyError"], ["failing", 0, "ValueError"]]
    assert set(seen["safe"]) == {"a 'quoted' {e9} "}
    assert seen["depths"] == [0]
    assert seen["wrapped"]
    assert seen["child"]


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("plain name", "plain name"),
        ("", ""),
        ('"', "'"),
        ("back\\slash", "back/slash"),
        ("line\nfeed\ttab\x00\x7f", "line feed tab  "),
        ("é🔥", "{e9}{1f525}"),
        ("\ud800", "{d800}"),
    ],
)
def test_safe_names_are_readable_and_survive_a_trace(name, safe):
    assert safe_name(name) == safe
    if name == safe:
        assert safe_name(name) is name


@each_python
def test_a_region_stands_where_its_helper_was_called(python):
    program = PROGRAM.with_name("helpers.py")
    done = subprocess.run([python, program, RUNNER.parent], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    seen = json.loads(done.stdout)
    source = program.read_text(encoding="utf-8").splitlines()
    marked = {line.partition("# at ")[2]: number for number, line in enumerate(source, start=1) if "  # at " in line}
    assert seen["lines"] == {name: [line] for name, line in marked.items()}
    assert seen["places"] == len(marked)
    # Of very many names that differ in a number the first are kept, and how many more there were.
    assert seen["names"] == 1001
    assert seen["patterns"] == [["step N", 5000]]
    assert seen["loops"] == [False, True, False, True, False]

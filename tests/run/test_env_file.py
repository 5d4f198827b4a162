"""The variables of a `.env`, and what of them a run has."""

import pytest

from kinetoscope_core.errors import UsageError
from kinetoscope_core.run.env_file import read_env_file, variables_of
from kinetoscope_core.runner.request import RunRequest

TEXT = """\ufeffPLAIN=one two  # a comment
export EXPORTED = three
# OUT=of it
EMPTY=
HASH=a#b
SINGLE='${PLAIN} # \\n'   # said above
DOUBLE="first\\nsecond ${PLAIN}"
ABOVE=${PLAIN}/${BASE}/${NOWHERE}/\\${PLAIN}
PYTHONPATH=src
2ND=no
not a variable
PLAIN=last
NUL=a\0b
"""


def test_lines_are_read_as_the_python_extension_and_shells_do(tmp_path):
    file = tmp_path / ".env"
    file.write_text(TEXT)
    assert read_env_file(file, {"BASE": "base", "PYTHONPATH": "/ours"}) == {
        "PLAIN": "last",
        "EXPORTED": "three",
        "EMPTY": "",
        "HASH": "a#b",
        "SINGLE": "${PLAIN} # \\n",
        "DOUBLE": "first\nsecond one two",
        "ABOVE": "one two/base//${PLAIN}",
        "PYTHONPATH": "src:/ours",
    }
    file.write_bytes(b"A=\xff\r\nB='open\n")
    assert read_env_file(file, {}) == {"A": "\udcff", "B": "'open"}


def test_what_was_set_for_the_run_goes_above_the_file(tmp_path):
    file = tmp_path / ".env"
    request = RunRequest("train.py", environment={"A": "set"}, env_file=str(file))
    assert variables_of(request) == {"A": "set"}, "a file that is not there adds none"
    file.write_text("A=file\nB=file\n")
    assert variables_of(request) == {"A": "set", "B": "file"}
    with pytest.raises(UsageError, match="cannot be read"):
        variables_of(request._replace(env_file=str(tmp_path)))

"""Problems of runs at lines of files: where they are found again, and the calls that they are shown with."""

import pytest
from lsprotocol import types as lsp

from kinetoscope_core.errors import Frame, Problem
from kinetoscope_server.features.diagnostics import elsewhere
from kinetoscope_server.results.problems import line_problems, lines_of
from kinetoscope_server.settings.settings import Settings

TEXT = "import torch\n\n\ndef step():\n    raise ValueError\n\n\nstep()\n"


@pytest.fixture
def failed(tmp_path):
    """A file that failed in line 5, its path, and the problem."""
    path = tmp_path / "train.py"
    path.write_text(TEXT)
    frames = (
        Frame(str(path), 8, "<module>"),
        Frame("<string>", 1, "<lambda>"),
        Frame(str(path), 5, 'step", line 3, in other'),
    )
    problem = Problem("run-failed", "The script failed.", {"traceback": "…"}, str(path), 5, frames)
    ((where, (found,)),) = line_problems([problem, Problem("cut-off", "…"), Problem("few-calls", "…")]).items()
    assert where == str(path)
    return path, found


@pytest.mark.parametrize(
    ("text", "row"),
    [
        (TEXT, 4),
        ("\n\n" + TEXT, 6),
        (TEXT + "\n    raise ValueError\n", 4),
        ("    raise ValueError\n" + TEXT, 5),
        (TEXT.replace("ValueError", "KeyError"), None),
        ("", None),
    ],
)
def test_a_problem_is_at_the_nearest_line_that_still_has_its_text(failed, text, row):
    assert failed[1].row_in(text.encode().splitlines()) == row


def test_a_file_that_is_not_open_has_its_problems_as_long_as_the_line_is_there(failed):
    path, problem = failed
    (shown,) = elsewhere(str(path), [problem], Settings())
    assert (shown.code, shown.severity, shown.range.start) == (
        "run-failed",
        lsp.DiagnosticSeverity.Error,
        lsp.Position(4, 0),
    )
    assert [
        (each.location.uri, each.location.range.start.line, each.message) for each in shown.related_information
    ] == [
        (path.as_uri(), 4, 'in step", line 3, in other'),
        (path.as_uri(), 7, "in <module>"),
    ]
    path.write_text("# above\n" + TEXT)
    assert [each.range.start.line for each in elsewhere(str(path), [problem], Settings())] == [5]
    path.write_text(TEXT.replace("ValueError", "KeyError"))
    assert elsewhere(str(path), [problem], Settings()) == []


def test_of_a_file_that_cannot_be_read_nothing_is_shown(failed):
    path, _ = failed
    path.unlink()
    gone = line_problems([Problem("run-failed", "…", {}, str(path), 5)])[str(path)]
    assert lines_of(str(path)) == []
    assert elsewhere(str(path), gone, Settings()) == []

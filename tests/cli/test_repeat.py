"""Several runs by one command, with runs that do nothing."""

import os
import signal
from contextlib import nullcontext
from pathlib import Path

import pytest

from kinetoscope_core.cli import profile
from kinetoscope_core.cli.main import main
from kinetoscope_core.jobs.measure import measure_traces
from kinetoscope_core.run.outcome import Outcome

TRACE = Path(__file__).parents[1] / "traces" / "h200" / "matmul_add_64.json.gz"


@pytest.fixture
def runs(monkeypatch):
    """The numbers of the runs that were made; `interrupted` is that in which Ctrl-C comes, too late to cut it off."""
    made = []
    result = measure_traces([TRACE], [])

    class Profiling:
        def __init__(self, *_, **__):
            made.append(len(made) + 1)

        def run(self):
            if made[-1] == runs.interrupted:
                os.kill(os.getpid(), signal.SIGINT)
            return result, Outcome("ended", 0, 1.0, "/usr/bin/python3")

        def cancel(self, **_):
            return True

        def finish(self):
            pass

    monkeypatch.setattr(profile, "Profiling", Profiling)
    monkeypatch.setattr(profile, "chosen_interpreter", lambda _: "/usr/bin/python3")
    monkeypatch.setattr(profile, "process_of", lambda *_, **__: nullcontext())
    runs.interrupted = None
    runs.made = made
    return runs


def test_all_runs_are_made_and_the_last_is_shown(runs, capsys):
    assert main(["profile", "--repeat", "3", "a.py"]) == 0
    assert runs.made == [1, 2, 3]
    said = capsys.readouterr()
    assert said.out.count("Medians per call") == 1
    assert "kinetoscope: run 3 of 3\n" in said.err
    assert "3 of 3 runs were begun; what each measured is stored (kinetoscope runs)." in said.err


def test_ctrl_c_ends_them_also_where_it_came_too_late_for_the_run_that_was_made(runs, capsys):
    runs.interrupted = 2
    assert main(["profile", "--repeat", "4", "a.py"]) == 130
    assert runs.made == [1, 2]
    said = capsys.readouterr()
    assert said.out.count("Medians per call") == 1
    assert "2 of 4 runs were begun; what each measured is stored (kinetoscope runs)." in said.err

"""Runs that are stopped from outside, at any moment: what is kept, what is said, and that nothing is left."""

import os
import pty
import signal
import subprocess
import sys

import pytest

from .conftest import COMMAND, SCRIPTS, Ran, processes_with, wait_until, with_patience


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("where", ["before torch", "before any region"])
def test_stopped_before_anything_was_measured(kinetoscope, where, by):
    ran = kinetoscope.interrupted(b"now: " + where.encode(), "stages.py", "--json", "--", where, by=by)
    assert ran.code == 130
    assert not ran.stdout
    assert "The run was cancelled." in ran.messages
    assert ran.script_output == f"now: {where}\nfinally ran\n".encode()


@pytest.mark.whole
def test_stopped_while_the_interpreter_starts_or_torch_is_imported(kinetoscope):
    for text in (b"starting Python", b"running"):
        ran = kinetoscope.interrupted(text, "stages.py", "--json", "--", "x")
        assert ran.code == 130
        assert not ran.stdout
        assert b"Error" not in ran.script_output.replace(b"KeyboardInterrupt", b"")


@pytest.mark.whole
def test_an_interrupt_that_torch_swallows_while_it_imports_numpy_ends_the_script(kinetoscope):
    ran = kinetoscope.interrupted(b"now: importing", "import_cut_off.py", "--json", "--", "numpy.linalg")
    assert ran.code == 130, ran
    assert ran.script_output == b"now: importing numpy.linalg\nfinally ran\n"
    assert "the script was ended" not in ran.messages


@pytest.mark.parametrize(("where", "count"), [("in a region", 5), ("after some regions", 5)])
def test_stopped_while_measuring(kinetoscope, where, count):
    ran = kinetoscope.interrupted(b"now: " + where.encode(), "stages.py", "--json", "--", where)
    assert ran.code == 130
    assert ran.counts() == {"work": (count, count - 3 - ran.regions()["work"]["unfinished"])}
    assert ran.regions()["work"]["unfinished"] == (1 if where == "in a region" else 0)
    assert "What was measured before is kept." in ran.messages
    assert ran.script_output.endswith(b"finally ran\n")
    assert b"Traceback" not in ran.script_output


def test_a_second_interrupt_kills_a_script_that_stays(kinetoscope):
    arguments = ("stages.py", "--json", "--", "stubborn")
    process, seen = kinetoscope.start_and_see(b"now: stubborn", *arguments, command=with_patience(600))
    process.send_signal(signal.SIGINT)
    while b"I stay" not in seen:
        seen += process.stderr.readline()
    process.send_signal(signal.SIGINT)
    ran = kinetoscope.finish(process, seen=seen)
    assert ran.code == 130
    assert ran.counts() == {"work": (5, 2)}
    assert b"finally ran" not in ran.script_output


def test_a_script_with_a_handler_of_its_own_ends_its_own_way(kinetoscope):
    ran = kinetoscope.interrupted(b"waiting", "signals.py", "--json")
    assert ran.code == 130
    assert ran.script_output == b"waiting\nmy handler got SIGINT\n"
    assert ran.counts() == {"work": (2, 2)}


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGKILL])
def test_everything_that_was_started_ends_with_us(kinetoscope, by):
    process, seen = kinetoscope.start_and_see(b"all are started", "cancel_leftovers.py", "--json")
    wait_until(lambda: len(processes_with(kinetoscope.mark)) == 4)  # one that is just being started has no mark yet
    process.send_signal(by)
    if by == signal.SIGKILL:
        process.wait()
        wait_until(lambda: not processes_with(kinetoscope.mark))
    ran = kinetoscope.finish(process, seen=seen)
    assert ran.code == (130 if by == signal.SIGINT else -signal.SIGKILL)
    if by == signal.SIGINT:
        assert ran.counts() == {"starts": (1, 1)}


@pytest.mark.parametrize("by", ["Ctrl-C", "SIGTERM", "SIGTERM to the group"])
def test_ctrl_c_in_a_terminal_reaches_script_and_command_alike_and_sigterm_the_command_alone(kinetoscope, by):
    """The terminal sends Ctrl-C to the whole group, script included."""
    terminal, ours = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", _IN_A_TERMINAL, *COMMAND, "stages.py", "--json", "--", "after some regions"],
        cwd=SCRIPTS,
        env=kinetoscope.environment,
        stdin=ours,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    os.close(ours)
    seen = b""
    while b"now: after some regions" not in seen:
        line = process.stderr.readline()
        assert line, seen
        seen += line
    if by == "Ctrl-C":
        os.write(terminal, b"\x03")
    elif by == "SIGTERM to the group":
        os.killpg(process.pid, signal.SIGTERM)
    else:
        process.terminate()
    stdout, stderr = process.communicate(timeout=100)
    os.close(terminal)
    ran = Ran(process.returncode, stdout, seen + stderr)
    assert ran.code == 130, ran
    assert ran.counts() == {"work": (5, 2)}
    assert b"finally ran" in ran.script_output
    assert not processes_with(kinetoscope.mark)


_IN_A_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


def test_two_runs_at_once_do_not_disturb_each_other(kinetoscope):
    one = kinetoscope.start("early.py", "--json")
    two = kinetoscope.start("early.py", "--json")
    results = [process.communicate(timeout=100) for process in (one, two)]
    assert [one.returncode, two.returncode] == [0, 0], results
    traces = [Ran(0, *output).result["traces"] for output in results]
    assert traces[0] != traces[1]
    assert len(list((kinetoscope.cache / "kinetoscope" / "runs").iterdir())) == 2
    assert not list((kinetoscope.cache / "kinetoscope" / "new").iterdir())


def test_stopped_after_all_was_measured_shows_a_result_or_says_that_it_was_cancelled(kinetoscope):
    ran = kinetoscope.interrupted(b"reading the trace", "many.py", "--to-the-end", "--json")
    assert ran.code in (0, 130), ran
    assert b"Traceback" not in ran.stderr
    assert bool(ran.stdout) == (ran.code == 0)
    assert not list((kinetoscope.cache / "kinetoscope" / "new").iterdir())


def test_one_interrupt_loses_nothing_of_a_trace_that_takes_its_time_to_be_saved(kinetoscope):
    ran = kinetoscope.interrupted(b"measuring: step", "--to-the-end", "many_operators.py", "--json")
    assert ran.code == 130
    assert ran.counts()["step"][1] >= 1
    assert "What was measured before is kept." in ran.messages

"""How scripts end, and what is kept and said then."""

import pytest

from .conftest import SCRIPTS, late_once, line_of, with_patience


@pytest.mark.parametrize(
    ("how", "code", "count", "output", "message"),
    [
        ("exit 0", 0, 2, b"finally ran\natexit ran\n", ""),
        ("exit 3", 1, 2, b"finally ran\natexit ran\n", "The script ended with exit code 3."),
        ("exit text", 1, 2, b"finally ran\nno more of this\natexit ran\n", "The script ended with exit code 1."),
        ("exit -1", 1, 2, b"finally ran\natexit ran\n", "The script ended with exit code 255."),
        ("_exit inside", 1, 0, b"", "The script ended with exit code 5 by os._exit."),
        ("_exit after", 0, 2, b"finally ran\n", ""),
        ("execv", 0, 2, b"finally ran\nanother program\n", ""),
        ("execv fails", 0, 2, b"finally ran\nwent on: No such file or directory\natexit ran\n", ""),
    ],
)
def test_what_was_measured_is_kept_however_the_script_leaves(kinetoscope, how, code, count, output, message):
    ran = kinetoscope("endings.py", how)
    assert ran.code == code, ran
    assert ran.script_output == output
    assert message in ran.messages
    if count:
        assert ran.counts() == {"work": (count, count)}
    else:  # its only call was cut off
        assert not ran.counts()
        (cut_off,) = ran.result["unmeasured"]
        assert (cut_off["name"], cut_off["calls"], cut_off["unfinished"]) == ("work", 1, 1)
        assert cut_off["at_least_ns"] > 0


@pytest.mark.parametrize(
    ("how", "text"), [("raise inside", 'ValueError("inside'), ("raise after", "raise RuntimeError")]
)
def test_a_traceback_is_python_s_and_what_was_measured_before_is_kept(kinetoscope, how, text):
    plain = kinetoscope.python("endings.py", how)
    ran = kinetoscope("endings.py", how, as_json=False)
    assert ran.code == plain.code == 1
    assert ran.script_output == plain.stderr
    assert ran.stdout.startswith(plain.stdout)
    ran = kinetoscope("endings.py", how)
    assert ran.counts() == {"work": (1, 1) if how == "raise inside" else (2, 2)}
    assert ran.result["run"]["ending"] == "failed"
    failed = ran.result["problems"][0]
    assert (failed["code"], failed["line"]) == ("run-failed", line_of("endings.py", text))
    assert failed["file"] == str(SCRIPTS / "endings.py")
    assert {"file": failed["file"], "line": failed["line"]}.items() <= failed["frames"][-1].items()


def test_a_crash_inside_the_window_is_named_and_leaves_no_numbers(kinetoscope):
    ran = kinetoscope("endings.py", "segfault inside")
    assert ran.code == 1
    assert "killed by signal 11 (SIGSEGV" in ran.messages
    assert not ran.stdout


def test_a_crash_after_the_measuring_loses_nothing(kinetoscope):
    ran = kinetoscope("endings.py", "segfault at exit", options=["--region", "work", "--warmup", "0", "--active", "2"])
    assert ran.code == 0
    assert ran.script_output == b"finally ran\n"
    assert ran.counts() == {"work": (2, 2)}


def test_an_interrupt_of_the_script_s_own_is_a_failure_and_no_cancel(kinetoscope):
    ran = kinetoscope("endings.py", "interrupt")
    assert ran.code == 1
    assert ran.script_output.endswith(b"KeyboardInterrupt\natexit ran\n")
    assert ran.counts() == {"work": (2, 2)}


def test_a_region_that_was_not_reached_is_named(kinetoscope):
    ran = kinetoscope("endings.py", "x")
    assert ran.code == 0
    missing = [problem for problem in ran.result["problems"] if problem["code"] == "region-not-reached"]
    assert [problem["line"] for problem in missing] == [line_of("endings.py", '"not reached"')]


def test_ending_early_runs_finally_blocks_contexts_and_atexit(kinetoscope):
    ran = kinetoscope("early.py")
    assert ran.code == 0, ran
    assert ran.script_output == b"context closed\nfinally ran\natexit wrote this\n"
    assert ran.counts() == {"loop": (8, 5)}
    assert ran.result["run"]["was_ended_early"]


def test_a_script_that_swallows_everything_is_ended_all_the_same(kinetoscope):
    ran = kinetoscope("swallowed.py", command=with_patience(1, "going on"))
    assert ran.code == 0, ran
    assert ran.script_output == b"swallowed\n"
    assert ran.counts() == {"loop": (8, 5)}


def test_an_endless_loop_after_the_region_is_ended_by_the_budget(kinetoscope):
    ran = kinetoscope("loop_after.py", options=["--budget", "0.5"])
    assert ran.code == 0, ran
    assert ran.script_output == b"now it loops\n"
    region = ran.regions()["before"]
    assert (region["calls"], region["measured"], region["is_cold"]) == (2, 2, True)


def test_an_endless_loop_does_not_wait_for_a_region_that_is_never_reached(kinetoscope):
    ran = kinetoscope("never_reached.py")
    assert ran.code == 0, ran
    assert ran.counts()["step"][1] >= 5
    assert ran.problems == {"region-not-reached"}


def test_slow_calls_end_with_the_budget(kinetoscope):
    ran = kinetoscope("slow.py", options=["--budget", "1"])
    assert ran.code == 0, ran
    assert 1 <= ran.counts()["slow"][1] <= 8


def test_the_time_limit_ends_the_run_and_keeps_what_was_measured(kinetoscope, tmp_path):
    late = tmp_path / "late"
    options = ["--time-limit", "100", "--to-the-end"]
    ran = kinetoscope("slow.py", late, options=options, command=late_once(late))
    assert ran.code == 0, ran
    assert "The time limit ended the run." in ran.messages
    assert ran.counts()["slow"][1] >= 1
    assert b"Traceback" not in ran.script_output


def test_an_end_from_afar_does_not_interrupt_a_script_that_has_just_ended(kinetoscope, tmp_path):
    late = tmp_path / "late"
    options = ["--time-limit", "100", "--to-the-end"]
    ran = kinetoscope("slow_to_stop.py", late, options=options, command=late_once(late))
    assert ran.code == 0, ran
    assert "The time limit ended the run." in ran.messages
    assert ran.script_output == b""


def test_nothing_to_measure_is_said(kinetoscope):
    for script, arguments, text in (
        ("no_torch.py", [], "did not import torch"),
        ("no_region_kinds.py", ["plain", "3"], "No record_function region ran, and no optimizer step or DataLoader"),
    ):
        ran = kinetoscope(script, *arguments)
        assert ran.code == 3, ran
        assert text in ran.messages
        assert not ran.stdout


def test_output_passes_unchanged_and_in_order(kinetoscope):
    plain = kinetoscope.python("output.py")
    ran = kinetoscope("output.py", options=["--to-the-end"], as_json=False)
    assert ran.code == 0
    assert ran.stdout.startswith(plain.stdout)
    assert ran.script_output == plain.stderr
    # With --json both go to one pipe: in the order in which they were written.
    ran = kinetoscope("output.py", options=["--to-the-end"])
    expected = b"".join(b"out %d\nerr %d\n" % (number, number) for number in range(200))
    assert ran.script_output.endswith(expected + b"no newline at the end")
    assert len(ran.script_output) > 1_048_576
    assert ran.counts() == {"print": (4, 1)}


def test_stdin_is_the_script_s(kinetoscope):
    ran = kinetoscope("reads_stdin.py", stdin=b"one\ntwo three\n")
    assert ran.code == 0
    assert ran.script_output == b"first: one\nrest: ['two', 'three']\n"


def test_arguments_are_the_script_s(kinetoscope):
    ran = kinetoscope("arguments.py", "--size", "3", "a b", "--", "-x", options=["--to-the-end"])
    assert ran.code == 0, ran
    assert ran.script_output == b"Namespace(size=3, rest=['a b', '-x'])\n"
    assert ran.result["run"]["arguments"] == ["--size", "3", "a b", "--", "-x"]
    assert ran.counts() == {"add": (10, 7)}
    ran = kinetoscope("arguments.py", "--bad")
    assert ran.code == 1
    assert ran.script_output.startswith(b"usage: arguments.py [-h] --size SIZE")
    assert "exit code 2" in ran.messages


def test_the_phases_of_a_run_are_told_in_their_order(kinetoscope):
    said = [line.removeprefix("kinetoscope: ") for line in kinetoscope("endings.py", "exit 0").messages.splitlines()]
    phases = [
        "running", "torch imported", "starting the profiler", "measuring", "saving the trace", "reading the trace",
    ]  # fmt: skip
    assert [line for line in said if line in phases] == phases

"""The script's own profilers: theirs measure, and go on working as they did."""

import signal

import pytest

from .conftest import is_pending, processes_with, wait_until


def own(kinetoscope, tmp_path, how, **others):
    script = kinetoscope.folder / "own_profilers.py"
    return kinetoscope(script, how, cwd=tmp_path, **others)


@pytest.mark.parametrize(
    ("how", "output", "counts", "traces"),
    [
        ("plain", "exported True measured\nTrace is already saved.\n", {"inside": (3, 3)}, 1),
        ("schedule", "cycle 4 True\ncycle 8 True\n", {"inside": (4, 4)}, 2),
        ("tensorboard", "['trace.json', 'trace.json.gz']\n", {"inside": (6, 6)}, 2),
        ("with stacks", "True []\n", {"inside": (3, 3)}, 1),
        ("gzip", "1f8b\n", {"inside": (3, 3)}, 1),
        ("two, exported later", "one True\ntwo True\nTrue\n", {"inside one": (3, 3), "inside two": (4, 4)}, 2),
        ("never stopped", "", {"inside": (3, 3), "after": (2, 2)}, 1),
        ("autograd", "measured\n", {"inside": (3, 3)}, 1),
        ("in a region", "", {"inside": (3, 3)}, 1),
    ],
)
def test_the_script_s_own_profiler_is_used(kinetoscope, tmp_path, how, output, counts, traces):
    ran = own(kinetoscope, tmp_path, how)
    assert ran.code == 0, ran
    assert _without_torch_s_log(ran.script_output).decode() == output + "done\n"
    # What ours had recorded by then is kept, and said.
    assert ran.counts() == {"before": (2, 2)} | counts
    assert "recorded-before-own-profiler" in ran.problems
    assert ran.result["run"]["has_own_profiler"]
    assert not ran.result["run"]["was_ended_early"]
    assert len(ran.result["traces"]) == 1 + traces
    # A region around the profiler was entered in our recording, and ended in none.
    assert [each["name"] for each in ran.result["unmeasured"]] == (["around"] if how == "in a region" else [])


def test_a_rank_that_exports_nothing_of_its_profile_is_measured_all_the_same(kinetoscope, tmp_path):
    ran = own(kinetoscope, tmp_path, "schedule", env={"RANK": "1"})
    assert ran.code == 0, ran
    assert ran.counts() == {"before": (2, 2), "inside": (4, 4)}
    assert _without_torch_s_log(ran.script_output) == b"done\n"


def test_a_failure_inside_the_script_s_own_profiler_keeps_its_trace(kinetoscope, tmp_path):
    ran = own(kinetoscope, tmp_path, "failing")
    assert ran.code == 1
    assert ran.counts() == {"before": (2, 2), "inside": (3, 3)}
    assert b"ValueError: in my profile" in ran.script_output


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGKILL])
def test_a_script_whose_profiler_records_is_cancelled_and_ends_with_us(kinetoscope, tmp_path, by):
    script = kinetoscope.folder / "own_profilers.py"
    process, seen = kinetoscope.start_and_see(b"now: recording", script, "--json", "--", "endless", cwd=tmp_path)
    process.send_signal(by)
    if by == signal.SIGKILL:
        wait_until(lambda: not processes_with(kinetoscope.mark))
    ran = kinetoscope.finish(process, seen=seen)
    if by == signal.SIGINT:
        assert ran.code == 130
        assert ran.counts() == {"before": (2, 2), "inside": (3, 3)}


@pytest.mark.parametrize(("how", "until"), [("stubborn", b"I stay"), ("long clean-up", b"now: cleaning up True")])
def test_a_second_cancel_ends_a_script_once_what_its_profiler_has_recorded_is_saved(kinetoscope, tmp_path, how, until):
    script = kinetoscope.folder / "own_profilers.py"
    process, seen = kinetoscope.start_and_see(b"now: recording", script, "--json", "--", how, cwd=tmp_path)
    process.send_signal(signal.SIGINT)
    while until not in seen:
        seen += process.stderr.readline()
    process.send_signal(signal.SIGINT)
    ran = kinetoscope.finish(process, seen=seen)
    assert ran.code == 130, ran
    assert ran.counts() == {"before": (2, 2), "inside": (3, 3)}
    assert "own-recording-lost" not in ran.problems
    assert b"Traceback" not in ran.script_output


def test_timeout_which_sends_its_signal_twice_at_once_ends_the_run_as_one_does(kinetoscope, tmp_path):
    script = kinetoscope.folder / "own_profilers.py"
    process, seen = kinetoscope.start_and_see(b"now: recording", script, "--json", "--", "endless", cwd=tmp_path)
    for _ in range(2):
        process.send_signal(signal.SIGTERM)
        wait_until(lambda: not is_pending(process.pid, signal.SIGTERM))
    ran = kinetoscope.finish(process, seen=seen)
    assert ran.code == 130, ran
    assert ran.counts() == {"before": (2, 2), "inside": (3, 3)}
    assert "the script was ended" not in ran.messages


@pytest.mark.parametrize("how", ["never active", "itt"])
def test_a_profiler_that_records_nothing_is_said_to(kinetoscope, tmp_path, how):
    ran = own(kinetoscope, tmp_path, how)
    assert ran.code == 0, ran
    assert ran.counts() == {"before": (2, 2)}
    assert "own-profiler-silent" in ran.problems
    assert ran.script_output.endswith(b"done\n")


def test_a_forked_child_s_own_profiler_is_its_own(kinetoscope):
    ran = kinetoscope("child_profiles.py")
    assert ran.code == 0, ran
    assert ran.counts() == {"parent": (30, 27)}
    assert not ran.result["run"]["has_own_profiler"]
    assert _without_torch_s_log(ran.script_output) == b"child saw 1\nchild's status 0\n"


def _without_torch_s_log(output):
    """Kineto's log lines and torch's warnings stay as torch writes them."""
    lines = output.splitlines(keepends=True)
    noise = (b"USDT:", b"STAGE:", b"[W", b"  _warn_once", b"\n")
    return b"".join(line for line in lines if not line.startswith(noise) and b"Warning: Profiler clears" not in line)


def test_warnings_as_errors(kinetoscope):
    for arguments, env in (((), {}), (("simplefilter",), {}), (("variable",), {"PYTHONWARNINGS": "error"})):
        ran = kinetoscope("strict_warnings.py", *arguments, options=["--to-the-end"], env=env)
        assert ran.code == 0, ran
        assert ran.script_output.endswith(b"no warning was an error\n")
        assert ran.script_output.count(b"UserWarning: shown once") == (0 if arguments else 1)
        assert ran.counts() == {"strict": (9, 6)}

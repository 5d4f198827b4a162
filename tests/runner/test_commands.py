"""Any command, measured in every process that it starts: `kinetoscope profile -- COMMAND`."""

import os
import signal
import socket
import sys
from pathlib import Path

import pytest

from .conftest import line_of, processes_with, wait_until

PYTHON = sys.executable
TORCHRUN = [PYTHON, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
_WITHOUT_GRACE = """
import sys
from kinetoscope_core.cli.main import main
from kinetoscope_core.run.commands import agreement
agreement.GRACE_S = 0.5
sys.exit(main())
"""

_LATE = """
import sys, time
from pathlib import Path
from types import SimpleNamespace
from kinetoscope_core.cli.main import main
from kinetoscope_core.run.commands import run
touched = Path(sys.argv.pop(1))
run.time = SimpleNamespace(monotonic=lambda: time.monotonic() + (101 if touched.exists() else 0))
sys.exit(main())
"""
"""The command, whose clock is 101 s ahead once a file is there."""


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def launch(ranks, how, script="ranks.py"):
    """A launcher that imports no torch: two seconds less."""
    return [PYTHON, "launch.py", free_port(), ranks, script, how]


def torchrun(how):
    return [*TORCHRUN, "--master-port", free_port(), "ranks.py", how]


@pytest.fixture
def profiled(kinetoscope):
    def run(typed, options=(), **others):
        arguments = map(str, (*options, "--json", "--", *typed))
        return kinetoscope.finish(kinetoscope.start(*arguments, **others))

    return run


def ranks_of(ran):
    """Rank, world size and number of traces of each process, all of whose traces are there."""
    processes = ran.result["run"]["processes"]
    assert all(os.path.exists(trace) for each in processes for trace in each["traces"])
    assert len({each["pid"] for each in processes}) == len(processes)
    assert not (Path(ran.result["traces"][0]).parents[1] / "join.json").exists()
    return [(each["rank"], each["world_size"], len(each["traces"])) for each in processes]


# --- one process


def test_a_command_of_one_process_gives_what_the_script_gives(profiled):
    ran = profiled(["bash", "-c", f"{PYTHON} measured_loop.py; echo and then $?"], options=["--log", "/dev/null"])
    assert ran.code == 0, ran
    assert ran.counts() == {"step": (8, 5)}
    assert ran.regions()["step"]["line"] == line_of("measured_loop.py", "record_function(")
    assert ran.script_output.endswith(b"cleaned up\nand then 0\n")
    assert "several-processes" not in ran.problems
    (process,) = ran.result["run"]["processes"]
    assert (process["rank"], process["is_shown"], process["traces"]) == (None, True, ran.result["traces"])


def test_pytest_ends_without_a_failed_test(profiled):
    tests = ["-p", "no:cacheprovider", "measured_tests.py::test_first", "measured_tests.py::test_that_catches"]
    ran = profiled([PYTHON, "-m", "pytest", "-q", *tests], options=["--region", "tested"])
    assert ran.code == 0, ran
    assert b"Kinetoscope has measured enough" in ran.script_output
    assert b"failed" not in ran.script_output
    assert ran.counts()["tested"] == (6, 5)
    assert "tests-not-run" in ran.problems


def test_a_command_that_enters_no_region_says_nothing_but_that(profiled):
    ran = profiled([PYTHON, "-c", "import sys; print('from', len(sys.path) > 1)"])
    assert (ran.code, ran.script_output) == (3, b"from True\n")
    assert "No process of the command entered a region." in ran.messages
    ran = profiled(["bash", "-c", "exit 7"])
    assert ran.code == 1
    assert "The command ended with exit code 7." in ran.messages
    ran = profiled(["no-such-command"])
    assert ran.code == 2
    assert "no-such-command cannot be started: No such file or directory." in ran.messages


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (
            ["torchrun", "--nproc-per-node", "2", "train.py"],
            "kinetoscope profile -- torchrun --nproc-per-node 2 train.py",
        ),
        (["--region", "a", "python", "-m", "my.server"], "kinetoscope profile -- python -m my.server"),
        (["pytest", "test_it.py", "--", "-x"], "kinetoscope profile -- pytest test_it.py -x"),
        (["--python", "python3", "--", "torchrun", "train.py"], "--python is for scripts"),
        (["-m", "pytest", "test_it.py"], "Unknown argument: test_it.py; the script's own arguments come after --."),
        ([], "kinetoscope profile -- torchrun --nproc-per-node 2 train.py"),
    ],
)
def test_what_to_type_is_said(kinetoscope, typed, message):
    ran = kinetoscope.finish(kinetoscope.start(*typed))
    assert (ran.code, ran.stdout) == (2, b"")
    assert message in ran.messages


# --- ranks


def test_ranks_of_torchrun_end_at_one_call(profiled):
    ran = profiled(torchrun("well"))
    assert ran.code == 0, ran
    assert ranks_of(ran) == [(0, 2, 1), (1, 2, 1)]
    assert ran.counts().keys() == {"forward", "reduce"}
    assert ran.result["run"]["ending"] == "ended"
    assert ran.result["run"]["was_ended_early"]
    assert b"own end" not in ran.script_output
    assert b"Traceback" not in ran.script_output
    assert "several-processes" not in ran.problems
    first, second = ran.result["ranks"]
    assert [(each["rank"], each["local_rank"]) for each in (first, second)] == [(0, 0), (1, 1)]
    assert sorted(first["traces"] + second["traces"]) == [0, 1]
    (shown,) = [each for each in ran.result["run"]["processes"] if each["is_shown"]]
    assert ran.result["traces"][0] == shown["traces"][0]
    for each, process in zip((first, second), ran.result["run"]["processes"], strict=True):
        assert [ran.result["traces"][place] for place in each["traces"]] == process["traces"]
        of_rank = {region["name"]: region for region in each["regions"]}
        assert of_rank["reduce"]["line"] == ran.regions()["reduce"]["line"]
        if process is shown:
            assert of_rank["reduce"]["cpu_total_ns"] == ran.regions()["reduce"]["cpu_total_ns"]
    assert ran.regions()["reduce"]["over_ranks"]["ranks"] == 2


def test_ranks_that_the_script_spawns_end_at_one_call(kinetoscope):
    ran = kinetoscope("ranks.py", "well", str(free_port()), options=["--children"])
    assert ran.code == 0, ran
    assert ranks_of(ran) == [(0, 2, 1), (1, 2, 1)]
    assert (ran.result["run"]["script"], ran.result["run"]["is_command"]) == ("ranks.py", False)
    assert b"own end" not in ran.script_output
    assert b"Traceback" not in ran.script_output


def test_ranks_with_uneven_counts_end_at_a_call_of_what_they_share(profiled):
    ran = profiled(launch(4, "uneven"))
    assert ran.code == 0, ran
    assert ranks_of(ran) == [(rank, 4, 1) for rank in range(4)]
    assert b"codes 0 0 0 0\n" in ran.script_output
    assert b"own end" not in ran.script_output


def test_ranks_that_come_to_their_own_end(profiled):
    ran = profiled(launch(2, "few"))
    assert ran.code == 0, ran
    assert ranks_of(ran) == [(0, 2, 1), (1, 2, 1)]
    assert ran.script_output.count(b"came to its own end\n") == 2


def test_a_region_of_one_rank_alone_holds_no_window_open(profiled):
    ran = profiled(launch(2, "alone"))
    assert ran.code == 0, ran
    assert ran.regions()["forward"]["calls"] < 150  # of 160, beyond which it would not be waited for
    assert ran.regions()["log"]["calls"] < 5
    assert b"codes 0 0\n" in ran.script_output


@pytest.mark.parametrize(
    ("how", "why"), [("absent", "not every rank entered a region"), ("apart", "no region was entered by all of them")]
)
def test_ranks_that_share_no_region_are_ended_after_a_while(profiled, how, why):
    script = "apart.py" if how == "apart" else "ranks.py"
    ran = profiled(launch(2, how, script), command=[PYTHON, "-c", _WITHOUT_GRACE, "profile"])
    assert ran.code == 0, ran
    assert f"The ranks could not end at one call, since {why}; they were ended as by Ctrl-C." in ran.messages
    assert ranks_of(ran) == ([(0, 2, 1)] if how == "absent" else [(0, 2, 1), (1, 2, 1)])
    assert b"KeyboardInterrupt" in ran.script_output


def test_what_one_rank_measured_is_kept_when_another_fails(profiled):
    ran = profiled(torchrun("failing"), options=["--active", "40"])
    assert ran.code == 1, ran
    assert ranks_of(ran) == [(0, 2, 1), (1, 2, 1)]
    assert "Rank 1 failed: ValueError: rank 1 has had it." in ran.messages
    assert ran.regions()["forward"]["calls"] in (20, 21)


def test_what_one_rank_measured_is_kept_when_another_is_killed(profiled):
    ran = profiled(torchrun("killed"), options=["--active", "40"])
    assert ran.code == 1, ran
    assert ranks_of(ran) == [(0, 2, 1)]
    assert "Rank 1 ended without a word, as when it is killed. What was recorded there is lost." in ran.messages
    assert "The command ended with exit code 1." in ran.messages
    assert ran.regions()["forward"]["calls"] in (20, 21)


def test_ranks_that_are_cancelled(kinetoscope, tmp_path):
    touched = tmp_path / "touched"
    command = map(str, launch(2, "well"))
    process = kinetoscope.start("--to-the-end", "--json", "--", *command, env={"TOUCHED": str(touched)})
    wait_until(touched.exists, 60)
    process.send_signal(signal.SIGINT)
    ran = kinetoscope.finish(process)
    assert ran.code == 130, ran
    assert ranks_of(ran) == [(0, 2, 1), (1, 2, 1)]
    assert ran.regions()["forward"]["calls"] >= 40


def test_ranks_whose_time_is_over(profiled, tmp_path):
    options = ["--to-the-end", "--time-limit", "100"]
    late = [PYTHON, "-c", _LATE, tmp_path / "touched", "profile"]
    ran = profiled(launch(2, "well"), options, command=late, env={"TOUCHED": str(tmp_path / "touched")})
    assert ran.code == 0, ran
    assert "The time limit ended the run. What was measured before is kept." in ran.messages
    assert ranks_of(ran) == [(0, 2, 1), (1, 2, 1)]
    assert ran.regions()["forward"]["calls"] >= 40


def test_all_end_with_who_started_them(kinetoscope):
    process, _ = kinetoscope.start_and_see(b"measuring: ", "--", *map(str, launch(2, "well")))
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=100)
    wait_until(lambda: not processes_with(kinetoscope.mark))


# --- processes without a group


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_of_a_pool_run_on_to_their_end(kinetoscope, method):
    ran = kinetoscope("pool.py", method, options=["--children"])
    assert ran.code == 0, ran
    assert ran.script_output.endswith(b"20 30\n")
    assert set(ranks_of(ran)) == {(None, None, 1)}
    assert ran.counts() == {"in a worker": (8, 5)}

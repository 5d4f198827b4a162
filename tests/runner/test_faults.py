"""Each state of a run's end, and what may happen in it: what is shown, and that nothing is left running.

With real processes and a stand-in for torch, which saves a trace for as long as a test wants. docs/awkward.md has the
table.
"""

import os
import signal
import subprocess
import sys
from contextlib import suppress

import pytest

from .conftest import COMMAND, SCRIPTS, is_pending, late_once, processes_with, wait_until, with_patience

FAKE_TORCH = SCRIPTS.parent / "programs" / "fake_torch"
LOST = "what was measured is lost"

# By state and what happens there: exit code, whether numbers are shown, whether `finally` ran, what is said.
MATRIX = {
    ("running", "cancel"): (130, False, True, "The run was cancelled."),
    ("running", "cancel twice"): (130, False, False, "The run was cancelled."),
    ("running", "SIGTERM"): (130, False, True, "The run was cancelled."),
    ("running", "SIGTERM to all"): (130, False, True, "The run was cancelled."),
    ("running", "SIGTERM to the script"): (130, False, True, "The run was cancelled."),
    ("running", "time limit"): (3, False, True, "before any region was measured"),
    ("running", "runner killed"): (1, False, False, "killed by signal 9"),
    ("running", "command killed"): (-9, False, False, ""),
    ("recording", "cancel"): (130, True, True, "What was measured before is kept."),
    ("recording", "cancel twice"): (130, True, False, "What was measured before is kept."),
    ("recording", "SIGTERM"): (130, True, True, "What was measured before is kept."),
    ("recording", "SIGTERM to all"): (130, True, True, "What was measured before is kept."),
    ("recording", "SIGTERM to the script"): (130, True, True, "What was measured before is kept."),
    ("recording", "time limit"): (0, True, True, "The time limit ended the run."),
    ("recording", "runner killed"): (1, False, False, "What was recorded by then is lost"),
    ("recording", "command killed"): (-9, False, False, ""),
    ("saving", "cancel"): (130, True, True, "What was measured before is kept."),
    ("saving", "cancel twice"): (130, True, None, "What was measured before is kept."),
    ("saving", "cancel thrice"): (130, False, False, LOST),
    ("saving", "SIGTERM"): (130, True, True, "What was measured before is kept."),
    ("saving", "SIGTERM to all"): (130, True, True, "What was measured before is kept."),
    ("saving", "time limit"): (0, True, True, "The time limit ended the run."),
    ("saving", "runner killed"): (1, False, False, LOST),
    ("saving", "command killed"): (-9, False, False, ""),
    ("reading", "cancel"): (0, True, True, ""),
    ("reading", "cancel twice"): (130, False, False, "Cancelled."),
    ("reading", "SIGTERM"): (0, True, True, ""),
    ("reading", "time limit"): (0, True, True, ""),
    ("reading", "runner killed"): (0, True, False, ""),
    ("reading", "command killed"): (-9, False, False, ""),
    ("reading", "line closed"): (0, True, True, ""),
    ("reading", "trace damaged"): (3, False, True, "is not JSON"),
    ("leaving", "cancel"): (0, True, True, "waiting for the script's own clean-up"),
    ("leaving", "cancel twice"): (0, True, False, "the script was ended: by a second cancel"),
    ("leaving", "SIGTERM"): (0, True, True, "waiting for the script's own clean-up"),
    ("leaving", "SIGTERM to all"): (0, True, True, "waiting for the script's own clean-up"),
    ("leaving", "time limit"): (0, True, True, "waiting for the script's own clean-up"),
    ("leaving", "runner killed"): (0, True, False, ""),
    ("leaving", "command killed"): (-9, True, False, ""),
    ("leaving", "line closed"): (0, True, True, ""),
}


class Stay:
    """A run that has come to a state and stays in it."""

    def __init__(self, kinetoscope, folder, state, *options):
        self.kinetoscope = kinetoscope
        self.state = state
        self.folder = folder
        self.saving = folder / "saving"
        self.now = self.saving if state == "saving" else folder / "now"
        self.go = folder / "go"
        self.trace = folder / "elsewhere.json"
        environment = {"PYTHONPATH": str(FAKE_TORCH)}
        if state == "saving":
            environment["FAKE_TORCH_SAVING"] = str(self.saving)
        if state == "reading":
            environment["FAKE_TORCH_ELSEWHERE"] = str(self.trace)
        self.process = kinetoscope.start(
            *options,
            "stays.py",
            "--json",
            "--",
            state,
            folder,
            env=environment,
            command=late_once(folder / "late"),
        )
        self.seen = b""
        self.pipe = None
        wait_until(self.now.exists)
        if state == "reading":  # returns as soon as the command has opened its end
            (pipe,) = (kinetoscope.cache / "kinetoscope" / "new").glob("*/trace-1.json")
            self.pipe = pipe.open("wb")
        elif state == "leaving" and not (folder / "cuts").exists():
            self.until(b"own clean-up")

    def until(self, text):
        while text not in self.seen:
            line = self.process.stderr.readline()
            assert line, self.seen
            self.seen += line

    def signals(self, number):
        """Sends one; one that comes while another of its kind waits is none, so it is waited until it is taken."""
        self.process.send_signal(number)
        wait_until(lambda: not is_pending(self.process.pid, number))

    def let_go(self):
        self.go.touch()
        self.saving.unlink(missing_ok=True)
        if self.state == "reading":
            with self.pipe:
                self.pipe.write(self.trace.read_bytes())

    def script(self):
        """The process of the script."""
        found = [each for each in processes_with(self.kinetoscope.mark) if each != self.process.pid]
        (script,) = found
        return script

    def finish(self):
        if self.pipe is not None:
            with suppress(BrokenPipeError):
                self.pipe.close()
        return self.kinetoscope.finish(self.process, seen=self.seen)


def do(stay, what):
    """Makes it happen, and lets the script go where it is to end by itself then."""
    is_early = stay.state in ("running", "recording")  # the script goes on, to its `finally`, by what happens
    if what.startswith("cancel"):
        for left in reversed(range({"cancel": 1, "cancel twice": 2, "cancel thrice": 3}[what])):
            stay.signals(signal.SIGINT)
            if is_early and left:
                wait_until(stay.now.exists)
        ends = is_early or what == "cancel thrice" or (stay.state != "saving" and what == "cancel twice")
    elif what == "SIGTERM":
        stay.signals(signal.SIGTERM)
        ends = is_early
    elif what.startswith("SIGTERM to"):
        os.kill(stay.script(), signal.SIGTERM)
        if what == "SIGTERM to all":
            stay.signals(signal.SIGTERM)
        ends = is_early
    elif what == "time limit":
        (stay.folder / "late").touch()
        if stay.state != "reading":  # where it looks at no clock
            wait_until((stay.folder / "seen").exists)
        ends = is_early
    elif what == "runner killed":
        os.kill(stay.script(), signal.SIGKILL)
        ends = stay.state != "reading"
    elif what == "command killed":
        stay.process.send_signal(signal.SIGKILL)
        stay.process.wait()
        wait_until(lambda: not processes_with(stay.kinetoscope.mark))
        ends = True
    else:
        if what == "trace damaged":
            stay.trace.write_text("no trace")
        ends = False
    if not ends:
        stay.let_go()


@pytest.mark.parametrize(("state", "what"), MATRIX)
def test_whatever_ends_a_run_what_was_measured_is_shown_or_its_loss_is_said(kinetoscope, tmp_path, state, what):
    code, is_measured, has_cleaned_up, text = MATRIX[state, what]
    options = ["--to-the-end"] if state == "recording" else []
    options += ["--time-limit", "100"] if what == "time limit" else []
    if what == "cancel twice" and state in ("running", "recording"):
        (tmp_path / "stays").touch()
    if what == "line closed":
        (tmp_path / "cuts").touch()
    stay = Stay(kinetoscope, tmp_path, state, *options)
    do(stay, what)
    ran = stay.finish()
    assert ran.code == code, ran
    assert bool(ran.stdout) == is_measured, ran
    if has_cleaned_up is not None:
        assert (b"finally ran" in ran.script_output) == has_cleaned_up, ran
    assert text in ran.messages
    assert "unmeasured" not in ran.messages
    assert b"Traceback" not in ran.stderr
    new = kinetoscope.cache / "kinetoscope" / "new"
    assert what == "command killed" or not list(new.iterdir())


def test_a_clean_up_that_does_not_end_is_ended_at_last(kinetoscope, tmp_path):
    ran = kinetoscope(
        "stays.py", "leaving", tmp_path, command=with_patience(2, "leaving"), env={"PYTHONPATH": str(FAKE_TORCH)}
    )
    assert "its own clean-up took longer than 2 s" in ran.messages
    assert "step" in ran.counts()


def run(kinetoscope, tmp_path, text, *options, **env):
    script = tmp_path / "script.py"
    script.write_text(text)
    return kinetoscope(script, options=options, env={"PYTHONPATH": str(FAKE_TORCH)} | env)


STEPS = """
import sys, os, resource, time, torch
from torch.profiler import record_function
def step():
    with record_function("step"):
        sum(range(100))
"""


CLOSES = "import os\nos.closerange(3, 1024)\n"


def run_cut(kinetoscope, tmp_path, before, *options):
    """Runs a script that has closed the line to us in `before`, and goes on once that is said."""
    go = tmp_path / "go"
    go.unlink(missing_ok=True)
    waits = f"while not os.path.exists({str(go)!r}): time.sleep(0.01)\n"
    (tmp_path / "script.py").write_text(before + waits + "for _ in range(30): step()\nprint('at its end')\n")
    arguments = (*options, tmp_path / "script.py", "--json")
    process, seen = kinetoscope.start_and_see(b"runs on unmeasured", *arguments, env={"PYTHONPATH": str(FAKE_TORCH)})
    go.touch()
    ran = kinetoscope.finish(process, seen=seen)
    assert ran.script_output == b"at its end\n"
    return ran


def test_a_script_that_closes_all_descriptors_runs_on_unmeasured_and_that_is_said(kinetoscope, tmp_path):
    ran = run_cut(kinetoscope, tmp_path, CLOSES + STEPS)
    assert "ran on unmeasured" in ran.messages
    assert "memory" not in ran.messages
    assert ran.code == 1
    ran = run_cut(kinetoscope, tmp_path, STEPS + "for _ in range(4): step()\n" + CLOSES, "--to-the-end")
    assert ran.counts() == {"step": (4, 1)}
    assert "line-cut" in ran.problems


def test_a_number_that_is_another_file_s_by_now_is_not_written_to(kinetoscope, tmp_path):
    ours = tmp_path / "ours.txt"
    takes = f"f = open({str(ours)!r}, 'w')\nfor n in range(100, 400): os.dup2(f.fileno(), n)\n"
    run_cut(kinetoscope, tmp_path, STEPS + CLOSES + takes)
    assert ours.read_bytes() == b""


def test_a_child_of_a_script_that_has_closed_our_line_says_nothing_and_closes_no_other_file(kinetoscope, tmp_path):
    forks = """
step()
os.closerange(3, 1024)
os.dup2(1, 200)
for number in range(201, 300): os.dup2(1, number)
child = os.fork()
if not child:
    for number in range(200, 300): os.write(number, b".")
    os._exit(0)
os.waitpid(child, 0)
"""
    ran = run(kinetoscope, tmp_path, STEPS + forks, "--to-the-end")
    assert ran.script_output == b"." * 100


def test_processes_that_outlive_the_script_may_have_entered_its_regions(kinetoscope, tmp_path):
    """As Ray's workers, which nobody waits for."""
    starts = """
import subprocess
works = "import sys; kept = b'x' * 150_000_000; print('works', flush=True); sys.stdin.read()"
child = subprocess.Popen([sys.executable, "-c", works], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdout.readline()
"""
    ran = run(kinetoscope, tmp_path, STEPS + starts)
    assert ran.code == 3, ran
    assert "the processes that it started" in ran.messages


def test_a_script_that_is_killed_from_outside_may_have_run_out_of_memory(kinetoscope, tmp_path):
    ran = run(kinetoscope, tmp_path, STEPS + "os.kill(os.getpid(), 9)\n")
    assert "often the system ran out of memory" in ran.messages


def test_a_disk_that_is_full_at_the_result_does_not_hide_it(kinetoscope, tmp_path):
    """No file of the command may grow from the script's last line on; its pipes may."""
    full = "for _ in range(5): step()\nresource.prlimit(os.getppid(), resource.RLIMIT_FSIZE, (10, 10))\n"
    ran = run(kinetoscope, tmp_path, STEPS + full)
    assert ran.code == 0, ran
    assert ran.counts() == {"step": (5, 2)}
    assert "result-not-kept" in ran.problems


def test_a_disk_that_is_full_at_the_trace_is_said(kinetoscope, tmp_path):
    ran = run(kinetoscope, tmp_path, STEPS + "resource.setrlimit(resource.RLIMIT_FSIZE, (50, 50))\nstep()\n")
    assert ran.code == 1
    assert not ran.stdout
    assert "XDG_CACHE_HOME" in ran.messages


def test_what_else_lies_in_the_cache_folder_is_passed_over(kinetoscope, tmp_path):
    runs = kinetoscope.cache / "kinetoscope" / "runs"
    runs.mkdir(parents=True)
    (runs / ".DS_Store").write_bytes(b"\0")
    (runs / "20260101-000000-abcdef").mkdir()
    (runs / "20260101-000000-abcdef" / "result.json").write_text("{")
    (runs / "empty").mkdir()
    assert run(kinetoscope, tmp_path, STEPS + "for _ in range(5): step()\n").code == 0
    listed = subprocess.run(
        [*COMMAND[:-1], "runs"], env=kinetoscope.environment, capture_output=True, text=True, check=True
    ).stdout
    assert "script.py" in listed
    assert "1 run cannot be read" in listed


def test_what_a_library_says_before_it_aborts_is_shown_without_kineto_s_lines(kinetoscope, tmp_path):
    ran = run(kinetoscope, tmp_path, STEPS + "for _ in range(30): step()\n", FAKE_TORCH_ABORTS="1")
    assert ran.script_output.endswith(b"a library says why\n")
    assert b"of Kineto" not in ran.stderr
    assert "killed by signal 6" in ran.messages


def test_an_interpreter_that_dies_in_the_handshake_is_said_to_have(kinetoscope, tmp_path):
    python = tmp_path / "python"
    python.write_text(
        f"#!{sys.executable}\nimport json, os, socket, sys\n"
        "if sys.argv[1] == '-c': os.execv(sys.executable, [sys.executable, *sys.argv[1:]])\n"
        "line = socket.socket(socket.AF_UNIX)\n"
        "line.connect(json.loads(os.environ['KINETOSCOPE_CHANNEL'])[0])\n"
        "line.recv(4)\n"
    )
    python.chmod(0o755)
    ran = run(kinetoscope, tmp_path, "", "--python", python)
    assert ran.code == 2
    assert "ended before the script began (exit code 0)" in ran.messages


def test_an_interpreter_is_looked_for_where_the_command_was_typed(kinetoscope, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "script.py").write_text(STEPS + "for _ in range(5): step()\n")
    (tmp_path / "x").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (tmp_path / "x").chmod(0o755)
    environment = {"PYTHONPATH": str(FAKE_TORCH)}
    options = ["--python", "./x", "--cwd", "sub"]
    assert kinetoscope("script.py", options=options, env=environment, cwd=tmp_path).code == 0


def test_a_clock_that_is_ahead_is_no_change_and_a_change_is_one(kinetoscope, tmp_path):
    module = tmp_path / "steps.py"
    module.write_text(STEPS)
    os.utime(module, (4_000_000_000, 4_000_000_000))
    loop = "from steps import step\nfor _ in range(5): step()\n"
    assert "changed-while-running" not in run(kinetoscope, tmp_path, loop).problems
    edit = f"open({str(module)!r}, 'a').write('#')\n"
    assert "changed-while-running" in run(kinetoscope, tmp_path, loop + edit).problems


def test_a_run_that_ignores_interrupts_can_be_ended_all_the_same(kinetoscope, tmp_path):
    (tmp_path / "script.py").write_text(
        STEPS + "try:\n    print('loops', file=sys.stderr, flush=True)\n    while True: step()\n"
        "finally:\n    time.sleep(0.2); print('finally ran')\n"
    )
    arguments = ("--to-the-end", tmp_path / "script.py", "--json")
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as what `nohup` and `&` of a script start
    try:
        process = kinetoscope.start(*arguments, env={"PYTHONPATH": str(FAKE_TORCH)})
    finally:
        signal.signal(signal.SIGINT, before)
    seen = b""
    while b"loops" not in seen:
        seen += process.stderr.readline()
    process.send_signal(signal.SIGTERM)
    ran = kinetoscope.finish(process, seen=seen)
    assert ran.code == 130
    assert b"finally ran" in ran.script_output


def test_what_a_script_patches_is_its_own_and_measures_no_less(kinetoscope, tmp_path):
    patches = """
import json, threading
from contextlib import ExitStack
from unittest import mock
with ExitStack() as patched:
    clock = patched.enter_context(mock.patch("time.monotonic", side_effect=[1.0, 2.0]))
    for name in ("time.time_ns", "time.sleep", "os.getpid", "os.replace", "json.dump", "json.dumps", "json.loads"):
        patched.enter_context(mock.patch(name))
    patched.enter_context(mock.patch("builtins.open", mock.mock_open()))
    for _ in range(8): step()
    threading.Event().wait(0.6)
    print(time.monotonic(), time.monotonic(), clock.call_count, flush=True)
    os._exit(0)
"""
    for options in ((), ("--to-the-end",)):
        ran = run(kinetoscope, tmp_path, STEPS + patches, *options)
        assert ran.code == 0, ran
        assert ran.counts() == {"step": (8, 5)}
        assert ran.script_output == (b"1.0 2.0 2\n" if options else b"")


def test_frames_of_ours_are_in_no_traceback(kinetoscope, tmp_path):
    deep = "def deep():\n    with record_function('deep'):\n        deep()\ndeep()\n"
    ran = run(kinetoscope, tmp_path, STEPS + "step()\n" + deep, "--to-the-end")
    assert ran.code == 1
    assert b"RecursionError" in ran.script_output
    assert b"kinetoscope_core" not in ran.script_output
    assert ran.counts()["step"] == (1, 1)


def test_a_place_is_the_user_s_own_line(kinetoscope, tmp_path):
    ran = run(kinetoscope, tmp_path, STEPS + "for _ in range(5): step()\nimport json\njson.loads('{')\n")
    failed = ran.result["problems"][0]
    assert (failed["code"], failed["file"], failed["line"]) == ("run-failed", str(tmp_path / "script.py"), 9)


def test_a_region_in_a_finally_block_is_no_reason_to_end_the_script_again(kinetoscope, tmp_path):
    text = "try:\n    while True: step()\nfinally:\n    step()\n    step()\n    print('evaluated')\n"
    ran = run(kinetoscope, tmp_path, STEPS + text)
    assert ran.code == 0
    assert ran.script_output == b"evaluated\n"


def test_what_the_early_end_may_have_saved_is_said_at_its_line(kinetoscope, tmp_path):
    text = STEPS + "def save(): pass\ntry:\n    while True: step()\nfinally:\n    save()\n"
    saved = [each for each in run(kinetoscope, tmp_path, text).result["problems"] if each["code"] == "saved-when-ended"]
    assert [(each["file"], each["line"]) for each in saved] == [(str(tmp_path / "script.py"), 11)]


def test_an_asyncio_server_ends_without_a_word(kinetoscope, tmp_path):
    serve = """
import asyncio
async def handle(reader, writer):
    while await reader.readline():
        step()
        writer.write(b"x\\n")
        await writer.drain()
async def client(port):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        while True:
            writer.write(b"4\\n")
            await reader.readline()
    finally:
        step()
        print("client ended")
async def main():
    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    tasks = [asyncio.create_task(client(server.sockets[0].getsockname()[1])) for _ in range(2)]
    async with server:
        await server.serve_forever()
asyncio.run(main())
"""
    ran = run(kinetoscope, tmp_path, STEPS + serve)
    assert ran.code == 0, ran
    assert ran.script_output == b"client ended\n" * 2

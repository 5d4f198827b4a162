"""A run's worker as the server reads it, played by small programs in its place."""

import asyncio

import pytest

from kinetoscope_core.runner.request import RunRequest
from kinetoscope_server.runs import worker as worker_module
from kinetoscope_server.runs.worker import WorkerProcess, problem_of

REQUEST = RunRequest("x.py")


async def result_of(monkeypatch, program):
    monkeypatch.setattr(worker_module, "_START", f"import os, sys, time; sys.stdin.readline()\n{program}")
    worker = WorkerProcess()
    event = await asyncio.wait_for(worker.profile(REQUEST), 30)
    await asyncio.wait_for(worker.ended.wait(), 30)
    return event


@pytest.mark.parametrize(
    ("program", "text"),
    [
        ('sys.stdout.write(\'{"event": "res\'); sys.stdout.flush(); os.kill(os.getpid(), 9)', "cannot be read"),
        ("print('no JSON', flush=True); time.sleep(600)", "cannot be read"),
        ("print('[]', flush=True); time.sleep(600)", "cannot be read"),
        ("print('{}', flush=True); time.sleep(600)", "cannot be read"),
        ("sys.exit('why it ended')", "why it ended"),
        ("os.kill(os.getpid(), 9)", "exit code -9"),
    ],
)
async def test_a_worker_that_cannot_be_read_or_dies_ends_the_run_with_an_error(monkeypatch, program, text):
    event = await result_of(monkeypatch, program)
    assert event["kind"] == "WorkerDied"
    assert text in problem_of(event).message


async def test_a_line_that_is_too_long_ends_the_run_with_an_error(monkeypatch):
    monkeypatch.setattr(worker_module, "_LONGEST_LINE", 1000)
    event = await result_of(monkeypatch, "print('x' * 100_000, flush=True); time.sleep(600)")
    assert event["kind"] == "WorkerDied"


async def test_what_follows_a_result_is_read_until_the_worker_has_ended(monkeypatch):
    seen = []
    monkeypatch.setattr(
        worker_module,
        "_START",
        """if True:
        import sys
        sys.stdin.readline()
        print('{"event": "result"}', flush=True)
        print('{"event": "progress", "is_leaving": true}', flush=True)
        """,
    )
    worker = WorkerProcess()
    worker.on_event = lambda event: seen.append(event["event"])
    assert (await worker.profile(REQUEST))["event"] == "result"
    await asyncio.wait_for(worker.ended.wait(), 30)
    assert seen == ["progress", "ended"]


async def test_one_cancel_is_one_and_kills_nothing(monkeypatch):
    monkeypatch.setattr(
        worker_module,
        "_START",
        """if True:
        import sys, time
        sys.stdin.readline()
        print('{"event": "begun"}', flush=True)
        assert "cancel" in sys.stdin.readline()
        time.sleep(1)  # longer than the second cancel that there once was
        print('{"event": "result"}', flush=True)
        assert not sys.stdin.readline()
        """,
    )
    worker = WorkerProcess()
    worker.on_event = lambda event: worker.cancel() if event["event"] == "begun" else None
    assert (await asyncio.wait_for(worker.profile(REQUEST), 30))["event"] == "result"
    worker.end()
    await asyncio.wait_for(worker.ended.wait(), 30)

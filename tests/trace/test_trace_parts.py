"""A big file is read by several processes: the same comes out whatever is wrong with it, or with one of them."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from kinetoscope_core.trace import Trace, parts, read_trace

_CORE = Path(parts.__file__).parents[2]
_PROCESSES = 3


def _event(name: str, ts: float, **more: object) -> dict:
    return {"ph": "X", "cat": "user_annotation", "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": 2.5, **more}


def _text(number: int = 3000) -> str:
    """A trace of which every event has a name of its own, a line for each."""
    events = [_event(f"region {n}", n * 10.125, args={"External id": n}) for n in range(number)]
    return '{"traceEvents": [\n' + ",\n".join(map(json.dumps, events)) + '\n], "traceName": "x"}'


def _names(trace: Trace) -> list[str]:
    return [trace.names[index] for index in trace.host.name]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen]:
    """Files of 60 kB are big ones; the processes that were started to read them."""
    processes: list[subprocess.Popen] = []

    class Noted(subprocess.Popen):
        def __init__(self, *args: object, **kwargs: object) -> None:
            super().__init__(*args, **kwargs)
            processes.append(self)

    monkeypatch.setattr(subprocess, "Popen", Noted)
    monkeypatch.setattr(parts, "HEAD_START", 20_000)
    monkeypatch.setattr(parts, "cores", lambda: _PROCESSES)
    return processes


@pytest.fixture
def merged(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many events each of the other processes contributed."""
    counts: list[int] = []
    extend = parts.Collector.extend

    def noted(self: parts.Collector, later: parts.Collector) -> None:
        counts.append(later.events)
        extend(self, later)

    monkeypatch.setattr(parts.Collector, "extend", noted)
    return counts


def test_python_frames_come_from_all_parts(tmp_path: Path, started: list, merged: list[int]) -> None:
    path = tmp_path / "trace.json"
    frames = [_event(f"a.py({n}): f", n * 10.125) | {"cat": "python_function", "tid": n % 7} for n in range(3000)]
    path.write_text('{"traceEvents": [\n' + ",\n".join(map(json.dumps, frames)) + '\n], "traceName": "x"}')
    trace, _ = read_trace(path)
    assert [trace.names[index] for index in trace.frames.name] == [f"a.py({n}): f" for n in range(3000)]
    assert [trace.threads[index].tid for index in trace.frames.thread] == [str(n % 7) for n in range(3000)]
    assert list(trace.frames.start_ns) == [n * 10_125 for n in range(3000)]
    assert set(trace.frames.duration_ns) == {2500}
    assert (len(started), len(merged)) == (_PROCESSES - 1, _PROCESSES - 1)


def test_each_process_reads_its_part(tmp_path: Path, started: list, merged: list[int]) -> None:
    path = tmp_path / "trace.json"
    path.write_text(_text())
    trace, problems = read_trace(path)
    assert problems == []
    assert _names(trace) == [f"region {n}" for n in range(3000)]
    assert list(trace.host.start_ns) == [n * 10_125 for n in range(3000)]
    assert list(trace.host.external_id) == list(range(3000))
    assert trace.events == 3000
    assert len(merged) == _PROCESSES - 1
    assert min(merged) > 500
    assert [process.returncode is None for process in started] == [False, False]


@pytest.mark.parametrize("place", [10, 900, 1500, 2000, 2990])
def test_damage_in_any_part_costs_no_event(place: int, tmp_path: Path, started: list) -> None:
    path = tmp_path / "trace.json"
    path.write_text(_text().replace(f'"region {place}"', f'"region "{place}""'))
    trace, problems = read_trace(path)
    assert [problem.code for problem in problems] == ["unescaped-quote"]
    assert _names(trace) == [f'region "{n}"' if n == place else f"region {n}" for n in range(3000)]
    assert len(started) == _PROCESSES - 1


def test_a_border_inside_of_an_event_is_none(tmp_path: Path, started: list) -> None:
    path = tmp_path / "trace.json"
    # Whole events in the arguments of others: what stands between them looks like any border.
    inside = [_event(f"not a region {n}", 1.0) for n in range(50)]
    events = [_event(f"region {n}", n, args={"inside": inside}) for n in range(60)]
    path.write_text(json.dumps({"traceEvents": events}))
    trace, problems = read_trace(path)
    assert problems == []
    assert _names(trace) == [f"region {n}" for n in range(60)]
    assert len(started) == _PROCESSES - 1


def test_a_file_that_is_cut_off_is_said_to_be(tmp_path: Path, started: list, merged: list[int]) -> None:
    path = tmp_path / "trace.json"
    path.write_text(_text()[:-60])
    trace, problems = read_trace(path)
    assert [problem.code for problem in problems] == ["cut-off"]
    assert _names(trace) == [f"region {n}" for n in range(2999)]
    assert len(merged) == _PROCESSES - 1


@pytest.mark.parametrize("program", ["exit 1", "echo no pickle", "kill -9 $$"])
def test_what_another_process_did_not_read_is_read_all_the_same(
    program: str, tmp_path: Path, started: list, merged: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "python"
    broken.write_text(f"#!/bin/sh\n{program}\n")
    broken.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(broken))
    path = tmp_path / "trace.json"
    path.write_text(_text())
    trace, problems = read_trace(path)
    assert problems == []
    assert _names(trace) == [f"region {n}" for n in range(3000)]
    assert (len(started), merged) == (_PROCESSES - 1, [])


def test_without_another_process_a_file_is_read_alone(
    tmp_path: Path, started: list, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "none"))
    path = tmp_path / "trace.json"
    path.write_text(_text())
    assert _names(read_trace(path)[0]) == [f"region {n}" for n in range(3000)]
    assert started == []


def test_a_small_file_starts_no_process(tmp_path: Path, started: list) -> None:
    path = tmp_path / "trace.json"
    path.write_text(_text(100))
    assert len(read_trace(path)[0].host) == 100
    assert started == []


def test_an_interrupt_ends_the_others(tmp_path: Path, started: list, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(parts, "_read_part", interrupted)
    path = tmp_path / "trace.json"
    path.write_text(_text())
    with pytest.raises(KeyboardInterrupt):
        read_trace(path)
    assert len(started) == _PROCESSES - 1
    assert all(process.returncode is not None for process in started)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no SIGKILL")
def test_a_killed_reader_leaves_no_process_behind(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_text(_text())
    # It waits for ever where it should read: the other process then waits for ever to be read from.
    script = f"""
        import subprocess, sys, time
        sys.path.insert(0, {str(_CORE)!r})
        from kinetoscope_core.trace import parts, read_trace

        class Said(subprocess.Popen):
            def __init__(self, *args, **kwargs):
                super().__init__(*args, **kwargs)
                print(self.pid, flush=True)

        subprocess.Popen = Said
        parts.HEAD_START, parts.cores, parts._read_part = 20_000, lambda: 2, lambda *_: time.sleep(1000)
        read_trace({str(path)!r})
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as reader:
        assert reader.stdout is not None
        other = int(reader.stdout.readline())
        assert _is_alive(other)
        reader.kill()
    deadline = time.monotonic() + 30
    while _is_alive(other) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not _is_alive(other)


def _is_alive(pid: int) -> bool:
    """Whether it runs; nobody may have waited for it yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        if sys.platform == "linux":
            return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True

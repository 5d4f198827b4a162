"""What goes wrong on real GPUs, and what must be shown then."""

import os
import signal
import subprocess
import sys
import time

import pytest

from .conftest import ROOT, SCRIPTS


@pytest.mark.gpu
def test_awkward_names_and_threads_keep_names_lines_and_device_time(kinetoscope):
    ran = kinetoscope("profile", SCRIPTS / "awkward_names.py", "--to-the-end", "--json", keep_as="awkward_names")
    assert ran.code == 0, ran.stderr
    regions = {r["name"]: r for r in ran.result["regions"] if r["file"]}
    names = ['quote "q"', "back\\slash", "Übung λ 训练 🔥", "tab\tname", "line\nfeed", "", "x" * 300]
    assert set(regions) == {prefix + name for prefix in ("", "worker ") for name in names}
    for region in regions.values():
        assert region["calls"] == 9
        assert region["launches"]["median"] >= 1
        assert region["cuda_total_ns"]["min"] > 0


@pytest.mark.gpu
def test_a_graph_captured_before_the_profiler_started_is_seen(kinetoscope):
    ran = kinetoscope("profile", SCRIPTS / "graph.py", "--json", keep_as="graph")
    assert ran.code == 0, ran.stderr
    region = ran.region("replay")
    assert region["launches"]["median"] >= 3
    assert region["cuda_total_ns"]["median"] > 0


@pytest.mark.gpu
def test_a_script_that_marks_nothing_is_recorded_from_its_own_start_of_cuda_on(kinetoscope):
    ran = kinetoscope("profile", SCRIPTS / "unmarked.py", "--json", keep_as="unmarked")
    assert ran.code == 0, ran.stderr
    contents = ran.result["contents"]
    operators = {each["name"]: each for each in contents["operators"]}
    assert operators["aten::matmul"]["count"] == 20
    assert operators["aten::matmul"]["cuda_total_ns"] > 0
    assert contents["activities"] >= 60
    assert "1 device" in str(ran.stderr)


@pytest.mark.gpu
def test_a_stuck_script_loses_nothing_when_it_is_cancelled():
    command = [sys.executable, "-m", "kinetoscope_core.cli", "profile", str(SCRIPTS / "stuck.py"), "--json"]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
    )
    seen = b""
    while b"stuck now" not in seen:
        line = process.stderr.readline()
        assert line, seen
        seen += line
    start = time.monotonic()
    process.send_signal(signal.SIGINT)
    stdout, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b'"before"' in stdout
    print("cancelled and shown after", round(time.monotonic() - start, 2), "s")


@pytest.mark.gpu
@pytest.mark.parametrize("attempt", [1, 2])
def test_busy_threads_survive_the_end_of_the_recording(kinetoscope, attempt):
    ran = kinetoscope("profile", SCRIPTS / "busy_threads.py", "--json", keep_as=f"busy_threads_{attempt}")
    assert ran.code == 0, ran.stderr
    assert ran.region("main")["launches"]["median"] >= 1
    assert ran.region("busy")["launches"]["median"] >= 1


@pytest.mark.gpu
def test_cuda_out_of_memory_is_said_and_what_was_measured_is_shown(kinetoscope):
    ran = kinetoscope("profile", SCRIPTS / "out_of_memory.py", "--to-the-end", "--json")
    assert ran.code == 1
    assert "memory was full" in ran.stderr
    assert ran.region("grow")["calls"] > 20


@pytest.mark.gpu
def test_another_cupti_client_is_named(kinetoscope):
    ran = kinetoscope("profile", SCRIPTS / "cupti_taken.py", "--json")
    assert "another tool uses CUPTI" in ran.stderr, ran.stderr
    assert ran.region("taken")["cuda_total_ns"] is None


@pytest.mark.gpu
def test_hidden_devices_are_said(kinetoscope):
    ran = kinetoscope(
        "profile", "examples/matmul_add.py", "--env", "CUDA_VISIBLE_DEVICES=", "--json", "--", "--size", 64
    )
    assert ran.code == 0, ran.stderr
    assert "CUDA_VISIBLE_DEVICES" in ran.result["no_cuda_because"]
    assert ran.region("matmul_add")["cuda_total_ns"] is None


@pytest.mark.gpu
def test_a_script_that_stays_on_the_cpu_is_said_to(kinetoscope):
    ran = kinetoscope("profile", SCRIPTS / "cpu_only.py", "--json")
    assert ran.code == 0, ran.stderr
    assert ran.result["device_total_ns"] is None
    assert "launched no work" in ran.result["no_cuda_because"]


@pytest.mark.gpu
def test_waits_copies_and_streams(kinetoscope):
    ran = kinetoscope("profile", SCRIPTS / "waits.py", "--json", keep_as="waits")
    assert ran.code == 0, ran.stderr
    assert ran.region("launch")["bound"] == "compute"
    assert ran.region("wait")["cuda_total_ns"]["sum"] == 0
    assert ran.region("wait")["bound"] == "cpu-only"
    assert ran.region("copy")["launches"]["median"] == 1
    two = ran.region("two streams")
    assert two["cuda_busy_ns"]["median"] <= two["cuda_total_ns"]["median"]


@pytest.mark.gpu
def test_no_process_is_left_behind():
    left = [
        entry
        for entry in os.listdir("/proc")
        if entry.isdigit() and b"KINETOSCOPE_RUN=" in _environment(entry) and int(entry) != os.getpid()
    ]
    assert not left


def _environment(process):
    try:
        with open(f"/proc/{process}/environ", "rb") as file:
            return file.read()
    except OSError:
        return b""

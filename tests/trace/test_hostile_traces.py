"""Traces that are hostile or very long: nothing waits, nothing is an escape sequence, what is cut is said."""

import gzip
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kinetoscope_core.analysis.breakdown import MOST_LINKS
from kinetoscope_core.cli.main import main
from kinetoscope_core.jobs.measure import measure_traces

REGION = '{"ph":"X","cat":"user_annotation","name":"a","pid":1,"tid":1,"ts":1,"dur":1}'


def seconds_of(path: Path, text: str) -> float:
    path.write_text(text)
    begin = time.process_time()
    measure_traces([path], [])
    return time.process_time() - begin


def grows_evenly(seconds: Callable[[int], float], count: int) -> bool:
    """Whether four times as much takes less than nine times as long, in one of three turns; sixteen would be squared.

    Other work on the machine can make a turn slower, as it takes the cache away.
    """
    return any(seconds(4 * count) < 9 * max(seconds(count), 0.05) for _ in range(3))


@pytest.mark.parametrize(
    ("before", "each", "after"),
    [
        ("", " ", ""),
        (',{"ph":NaN,"name":"', '}, {"ph":', '"}]}'),
        (',{"ph":NaN,"name":"', '\\\\"', ""),
        (",", "{} ", "]}"),
    ],
)
def test_four_times_the_damage_takes_four_times_as_long(tmp_path: Path, before: str, each: str, after: str) -> None:
    def seconds(count: int) -> float:
        return seconds_of(tmp_path / "t.json", f'{{"traceEvents":[{REGION}{before}{each * count}{after}')

    assert grows_evenly(seconds, 5_000)


def test_long_names_are_cut_kept_apart_and_said(tmp_path: Path) -> None:
    names = ["n" * 100_000 + end for end in "ab"]
    slices = [
        {"ph": "X", "cat": "user_annotation", "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": 5}
        for ts, name in enumerate(names * 2, start=1)
    ]
    trace = tmp_path / "t.json.gz"
    trace.write_bytes(gzip.compress(json.dumps({"traceEvents": slices}).encode()))
    result = measure_traces([trace], [])
    assert len(result.regions) == 2
    assert all(len(region.name) <= 2_000 for region in result.regions)
    (said,) = [problem.message for problem in result.problems if problem.code == "long-names"]
    assert said == "2 regions have names of more than 2,000 characters. Only the beginning is kept."


def test_a_kernel_s_name_of_thousands_of_characters_is_nothing_to_tell(tmp_path: Path) -> None:
    # That of `torch.randn` has 5,050: the templates spell out their types.
    trace = tmp_path / "t.json"
    kernel = {"ph": "X", "cat": "kernel", "name": "k" * 5050, "pid": 0, "tid": 7, "ts": 1, "dur": 5, "args": {}}
    trace.write_text(json.dumps({"traceEvents": [kernel]}))
    result = measure_traces([trace], [])
    assert result.contents.kernels[0].name.startswith("kkk")
    assert "long-names" not in {problem.code for problem in result.problems}


@pytest.mark.skipif(sys.platform == "win32", reason="no FIFO there")
def test_a_trace_is_read_from_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    text = f'{{"traceEvents":[{REGION}]}}'.encode()
    threading.Thread(target=pipe.write_bytes, args=(gzip.compress(text),)).start()
    assert [region.name for region in measure_traces([pipe], []).regions] == ["a"]
    command = [sys.executable, "-m", "kinetoscope_core.cli", "read", "/dev/stdin", "--json"]
    done = subprocess.run(command, input=text, capture_output=True, timeout=120, check=True)
    assert json.loads(done.stdout)["regions"][0]["name"] == "a"


def test_no_foreign_text_is_an_escape_sequence_in_the_terminal(tmp_path: Path) -> None:
    trace = tmp_path / "t\x1b[31m.json"
    name = "\\u001b[31m[fix](command:x)"
    device = f'"deviceProperties":[{{"id":0,"name":"{name}"}}],'
    kernel = f'{{"ph":"X","cat":"kernel","name":"{name}","pid":0,"tid":7,"ts":5,"dur":3,"args":{{"stream":7}}}}'
    trace.write_text(f'{{{device}"traceEvents":[{REGION.replace("a", name)},{REGION},{kernel}]}}')
    command = [sys.executable, "-m", "kinetoscope_core.cli", "read", str(trace)]
    done = subprocess.run(command, capture_output=True, timeout=120, check=False)
    assert b"\x1b" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    "code",
    ["../errors", "..\\errors", "/etc/passwd", "README", "idle-gap/../idle-gap", "idle-gap\n", "\x1b[31m", "*"],
)
def test_explain_opens_no_file_but_the_pages_of_findings(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", code]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("kinetoscope: There is no finding ")
    assert "\x1b" not in said.err
    assert said.err.count("\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="no such names there")
def test_a_file_with_an_odd_name_is_named_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["read", "no\nfile\udcff\x1b[31m.json"]) == 3
    assert capsys.readouterr().err == (
        "kinetoscope: There is no file no\\nfile\\udcff\\x1b[31m.json. Check the path of the trace.\n"
    )


def event(cat: str, name: str, ts: int, dur: int, tid: int = 1, pid: int = 1, **args: int) -> dict[str, object]:
    return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}


def region(name: str, ts: int, dur: int, tid: int = 1) -> dict[str, object]:
    return event("user_annotation", name, ts, dur, tid)


def kernel(number: int, ts: int, dur: int, name: str = "k", stream: int = 7) -> list[dict[str, object]]:
    """With its launch, 2 µs before it. Numbers begin with 1."""
    return [
        event("cuda_runtime", "cudaLaunchKernel", ts - 2, 1, correlation=number),
        event("kernel", name, ts, dur, stream, 0, correlation=number, stream=stream, device=0),
    ]


def word(number: int) -> str:
    """A name without a number in it: numbered ones are one series."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))


def nested(count: int, name: Callable[[int], str]) -> list[list[dict[str, object]]]:
    return [
        [region(name(at), 10 * at, 300 * count - 20 * at), *kernel(at + 1, 10 * at + 4, (3, 25)[at % 2], word(at % 9))]
        for at in range(count)
    ]


HOSTILE: dict[str, Callable[[int], list[list[dict[str, object]]]]] = {
    "calls that cross": lambda count: [
        [region("task", 10 * at, 10 * count), *kernel(at + 1, 10 * at + 4, 8)] for at in range(count)
    ],
    "a deep nest": lambda count: nested(count, lambda _: "deep"),
    "a deep nest with a kernel of its own in each": lambda count: [
        [region(word(at), 10 * at, 300 * count - 20 * at), *kernel(at + 1, 10 * at + 4, 3, word(at))]
        for at in range(count)
    ],
    "a deep nest of torch's annotations": lambda count: [
        [region("a", 0, 10**9)],
        *nested(count, lambda at: "Optimizer.step#" + word(at)),
    ],
    "waits at the bottom of a deep nest": lambda count: [
        [
            region(word(at), 10 * at, 300 * count - 20 * at),
            event("cuda_runtime", "cudaDeviceSynchronize", 10 * (count + at), 3),
            *kernel(at + 1, 10 * (count + at) + 6, 2),
        ]
        for at in range(count)
    ],
    "regions of different names": lambda count: [
        [region(word(at), 100 * at, 90), *kernel(at + 1, 100 * at + 20, 60, "ampere_sgemm_x")] for at in range(count)
    ],
    "long gaps in a deep nest": lambda count: [
        [region(word(at), at, 10_000 * count - 2 * at), *kernel(at + 1, 10_000 * at + 5_000, 60)] for at in range(count)
    ],
    "threads that wait for the same work": lambda count: [
        [
            region("a", 0, 10 * count, at + 2),
            event("cuda_runtime", "cudaStreamSynchronize", 2, 10 * count - 5, at + 2),
            *kernel(at + 1, 10 * at + 4, 3),
        ]
        for at in range(count)
    ],
    "streams that all work at once": lambda count: [
        [region("a", 10 * at, 9), *kernel(at + 1, 10 * at + 4, 10 * count, stream=at)] for at in range(count)
    ],
}


@pytest.mark.parametrize("shape", HOSTILE)
def test_four_times_the_calls_take_four_times_as_long(tmp_path: Path, shape: str) -> None:
    def seconds(count: int) -> float:
        events = [each for some in HOSTILE[shape](count) for each in some]
        return seconds_of(tmp_path / "t.json", json.dumps({"traceEvents": events}))

    seconds(10)  # what is imported and compiled once
    assert grows_evenly(seconds, 350)


def test_the_way_to_a_kernel_leaves_out_the_middle_of_a_deep_nest(tmp_path: Path) -> None:
    trace = tmp_path / "t.json"
    regions = [region(word(at), at, 1_000 - 2 * at) for at in range(200)]
    trace.write_text(json.dumps({"traceEvents": [*regions, *kernel(1, 300, 5)]}))
    breakdown = measure_traces([trace], []).regions[0].breakdown
    assert breakdown is not None
    first, left_out, *rest = [link.name for link in breakdown.chain]
    assert (first, left_out) == (word(0), "…")
    assert len(rest) == MOST_LINKS - 2 + 2  # and the call and the kernel


def test_a_region_that_may_have_launched_what_has_no_id_is_not_called_cpu_only(tmp_path: Path) -> None:
    trace = tmp_path / "t.json"
    lost = event("kernel", "k", 500, 5, 7, 0, stream=7)
    before, after = region("before", 100, 50), region("after", 600, 50)
    trace.write_text(json.dumps({"traceEvents": [before, after, lost]}))
    found = {each.name: each.bound for each in measure_traces([trace], []).regions}
    assert found == {"before": None, "after": "cpu-only"}


def test_four_times_the_regions_of_a_source_take_four_times_as_long(tmp_path: Path) -> None:
    source, trace = tmp_path / "a.py", tmp_path / "t.json"

    def seconds(count: int) -> float:
        lines = "".join(f'with record_function("{word(at)}"):\n    pass\n' for at in range(count))
        source.write_text("from torch.profiler import record_function\n" + lines)
        trace.write_text(json.dumps({"traceEvents": [region(word(at), 100 * at, 90) for at in range(count)]}))
        begin = time.process_time()
        assert {each.line for each in measure_traces([trace], [source]).regions} == set(range(2, 2 * count + 2, 2))
        return time.process_time() - begin

    assert grows_evenly(seconds, 250)

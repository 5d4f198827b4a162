"""Traces that are hostile or very long: nothing waits, nothing is an escape sequence, what is cut is said."""

import gzip
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from kinetoscope_core.cli.main import main
from kinetoscope_core.jobs.measure import measure_traces

REGION = '{"ph":"X","cat":"user_annotation","name":"a","pid":1,"tid":1,"ts":1,"dur":1}'


def seconds_of(path: Path, text: str) -> float:
    path.write_text(text)
    begin = time.process_time()
    measure_traces([path], [])
    return time.process_time() - begin


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

    assert seconds(40_000) < 9 * max(seconds(10_000), 0.1)


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
    assert said == "2 regions have names of more than 2,000 characters: only the beginning is kept."


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

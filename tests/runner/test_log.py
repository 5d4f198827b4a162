"""What `--log FILE` holds of a run, and what it does not."""

import re

LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3} \d+ (DEBUG|INFO|WARNING|ERROR|CRITICAL) \w+: .*")
SCRIPT = """import os
import torch
from torch.profiler import record_function
for _ in range(20):
    with record_function("step"):
        torch.ones(4).add(1)
    print("a word of the script")
raise ValueError("a word of the script's failure, " + os.environ["TOKEN"])
"""


def test_a_run_is_told_in_the_log_without_the_script_s_words_and_values_of_variables(kinetoscope, tmp_path):
    (tmp_path / "train.py").write_text(SCRIPT)
    log = tmp_path / "log"
    options = ["--to-the-end", "--log", log, "--env", "TOKEN=a secret value"]
    ran = kinetoscope(tmp_path / "train.py", "--epochs", "1", options=options)
    assert ran.code == 1, ran
    assert b"a word of the script's failure" in ran.stderr
    text = log.read_text()
    lines = text.splitlines()
    assert all(LINE.fullmatch(line) for line in lines), text
    told = [line.split(": ", 1)[1] for line in lines]
    order = (
        "kinetoscope ",
        "command profile",
        "interpreter: ",
        "profile script=",
        "starting ",
        "runner: hello ",
        'runner: phase {"phase": "torch-imported"}',
        'runner: phase {"phase": "measuring"}',
        "runner: failed",
        "runner: measured ",
        "runner: ended ",
        "the run came to an end (failed) after ",
        f"{kinetoscope.cache}",
        "measured 1 regions in ",
        "kept as ",
        "exit code 1",
    )
    found = iter(told)
    for beginning in order:
        assert any(line.startswith(beginning) for line in found), (beginning, text)
    assert "arguments=('--epochs', '1')" in text
    assert "environment=['TOKEN']" in text
    assert "variables set: TOKEN" in text
    assert "secret" not in text
    assert "a word" not in text


def test_a_log_grows_and_one_that_cannot_be_written_is_refused(kinetoscope, tmp_path):
    log = tmp_path / "log"
    log.write_text("before\n")
    assert kinetoscope("endings.py", "x", options=["--log", log, "--python", tmp_path / "none"]).code == 2
    first, *lines = log.read_text().splitlines()
    assert first == "before"
    assert lines[-1].endswith(": ended by InterpreterError, exit code 2")
    log.chmod(0o400)
    folder = tmp_path / "folder"
    folder.mkdir()
    ran = kinetoscope("endings.py", "x", options=["--log", folder])
    assert (ran.code, ran.script_output.splitlines()[-1].split(b": error: ")[-1][:14]) == (2, b"argument --log")

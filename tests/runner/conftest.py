"""Runs real scripts by the real command, and looks at everything a user would see.

Each run has a mark of its own in its environment, so that a process it leaves behind is found though other runs go on
beside it.
"""

import contextlib
import json
import os
import re
import secrets
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parent / "scripts"
COMMAND = [sys.executable, "-m", "kinetoscope_core.cli", "profile"]
MARK = "KINETOSCOPE_TEST"
_CHANGED = """
import sys, time
from pathlib import Path
from types import SimpleNamespace
from kinetoscope_core.cli.main import main
from kinetoscope_core.run import patience, run
{}
sys.exit(main())
"""
_AHEAD = """
late = Path(sys.argv.pop(1))
def monotonic():
    if not late.exists():
        return time.monotonic()
    late.with_name("seen").touch()
    return time.monotonic() + 101
run.time = SimpleNamespace(monotonic=monotonic)
"""
_OUR_LINE = re.compile(rb"kinetoscope: [^\n]*\n")


@dataclass
class Ran:
    """What a run showed. `script_output` is its stderr without our own lines."""

    code: int
    stdout: bytes
    stderr: bytes

    @property
    def result(self):
        return json.loads(self.stdout)

    @property
    def script_output(self):
        return _OUR_LINE.sub(b"", self.stderr)

    @property
    def messages(self):
        return b"".join(_OUR_LINE.findall(self.stderr)).decode()

    @property
    def problems(self):
        return {problem["code"] for problem in self.result["problems"]}

    def regions(self):
        """The user's regions by name: each stands at one line only."""
        found = [region for region in self.result["regions"] if region["file"]]
        by_name = {region["name"]: region for region in found}
        assert len(by_name) == len(found), self
        return by_name

    def counts(self):
        """How many calls of each region were recorded, and how many of them count."""
        return {name: (region["calls"], region["measured"]) for name, region in self.regions().items()}


def with_patience(seconds, *states):
    """The command, which lets a script stay so long in these states of its end, in all if none is given."""
    changes = f"patience.PATIENCE_S.update(dict.fromkeys({states} or patience.PATIENCE_S, {seconds}))"
    return [sys.executable, "-c", _CHANGED.format(changes), "profile"]


def late_once(file):
    """The command, whose clock is 101 s ahead as soon as the file is there; then it makes `seen` beside it."""
    return [sys.executable, "-c", _CHANGED.format(_AHEAD), file, "profile"]


def line_of(script, text):
    """The line, from 1, of the only line of the script that holds the text."""
    lines = (SCRIPTS / script).read_text(encoding="utf-8").splitlines()
    found = [number for number, line in enumerate(lines, start=1) if text in line]
    assert len(found) == 1, (script, text, found)
    return found[0]


def processes_with(mark):
    wanted = f"{MARK}={mark}".encode()
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit() and wanted in environment_of(entry)]


def environment_of(process):
    try:
        return Path("/proc", str(process), "environ").read_bytes().split(b"\0")
    except OSError:
        return []


def is_pending(process, number):
    """Whether a signal has been sent to a process that has not taken it yet."""
    try:
        with open(f"/proc/{process}/status") as status:
            masks = [int(line.split()[1], 16) for line in status if line.startswith(("SigPnd", "ShdPnd"))]
    except OSError:
        return False
    return any(mask >> (number - 1) & 1 for mask in masks)


def wait_until(holds, seconds=30):
    """Waits for a state of the system that no line of output announces."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


class Kinetoscope:
    """Runs the command in a cache and an environment of its own."""

    def __init__(self, tmp_path, popen=subprocess.Popen):
        self.popen = popen
        self.folder = SCRIPTS
        self.cache = tmp_path / "cache"
        self.mark = secrets.token_hex(8)
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV_", "VIRTUAL_ENV"))
        }
        self.environment |= {"XDG_CACHE_HOME": str(self.cache), MARK: self.mark, "OMP_NUM_THREADS": "1"}
        self.environment["VIRTUAL_ENV"] = sys.prefix  # whatever Python is on the path

    def start(self, *arguments, env=None, **options):
        return self.popen(
            [*options.pop("command", COMMAND), *map(os.fspath, arguments)],
            cwd=options.pop("cwd", self.folder),
            env=self.environment | (env or {}),
            stdin=options.pop("stdin", subprocess.DEVNULL),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            **options,
        )

    def finish(self, process, stdin=None, seen=b""):
        stdout, stderr = process.communicate(stdin, timeout=100)
        assert not processes_with(self.mark)
        return Ran(process.returncode, stdout, seen + stderr)

    def __call__(self, script, *script_arguments, options=(), stdin=None, as_json=True, **others):
        """`kinetoscope profile OPTIONS SCRIPT --json -- ARGUMENTS`."""
        if stdin is not None:
            others["stdin"] = subprocess.PIPE
        json_option = ["--json"] if as_json else []
        process = self.start(*options, script, *json_option, "--", *script_arguments, **others)
        return self.finish(process, stdin)

    def start_and_see(self, text, *arguments, **others):
        """Starts a run and returns when stderr held the text."""
        process = self.start(*arguments, **others)
        seen = b""
        while text not in seen:
            line = process.stderr.readline()
            assert line, seen
            seen += line
        return process, seen

    def interrupted(self, text, *arguments, by=signal.SIGINT, **others):
        """Sends the signal to the command once stderr held the text."""
        process, seen = self.start_and_see(text, *arguments, **others)
        process.send_signal(by)
        return self.finish(process, seen=seen)

    def python(self, *arguments, interpreter=sys.executable, cwd=None, env=None, stdin=b""):
        """The same without Kinetoscope."""
        done = subprocess.run(
            [interpreter, *map(os.fspath, arguments)],
            cwd=cwd or self.folder,
            env=self.environment | (env or {}),
            input=stdin,
            capture_output=True,
            timeout=100,
            check=False,
        )
        return Ran(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def kinetoscope(tmp_path, popen):
    runs = Kinetoscope(tmp_path, popen)
    yield runs
    for process in processes_with(runs.mark):
        with contextlib.suppress(ProcessLookupError):  # it may just have ended
            os.kill(process, signal.SIGKILL)

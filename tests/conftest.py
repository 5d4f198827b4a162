"""What all tests share: the scenarios that were played say at the end what they did, and how long each step took."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

import forked

TESTS = Path(__file__).parent

# Who starts the tests may ignore it (`nohup`, `&` in a script), and children inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# What guards main tries the same examples each time; at a desk, new ones.
settings.register_profile("ci", derandomize=True)
settings.register_profile("thorough", max_examples=500)
if os.environ.get("CI"):
    settings.load_profile("ci")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--whole", action="store_true", help="start each process by itself; see tests/forked/forked.py")


def pytest_xdist_auto_num_workers() -> int:
    """Tests wait for processes for a good part of their time: half as many workers again as there are cores."""
    return (os.cpu_count() or 1) * 3 // 2


STARTED_FIRST = ("end_to_end", "server", "runner", "packaging", "cli")
"""The folders whose tests take long, the longest first. A worker that has nothing left takes over what is last: so
the end is short. Browsers come one after the other, on two of the workers until nothing else is left.
"""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    def place(item: pytest.Item) -> int:
        folder = item.path.relative_to(TESTS).parts[0]
        return STARTED_FIRST.index(folder) if folder in STARTED_FIRST else len(STARTED_FIRST)

    items.sort(key=place)
    # Each worker begins with a part of its own of the list.
    begins = len(items) // getattr(config, "workerinput", {}).get("workercount", 1)
    beside = [item for item in items if item.get_closest_marker("beside")]
    others = [item for item in items if not item.get_closest_marker("beside")]
    items[:] = [*others[:begins], *beside, *others[begins:]]


@pytest.fixture(scope="session")
def is_forked(request: pytest.FixtureRequest) -> bool:
    if sys.platform != "linux" or request.config.getoption("whole"):
        return False
    forked.start_server()
    return True


@pytest.fixture
def popen(request: pytest.FixtureRequest, is_forked: bool) -> type[subprocess.Popen[bytes]]:
    """What starts our programs for a test."""
    if not is_forked:
        return subprocess.Popen
    return forked.PopenOfWhole if request.node.get_closest_marker("whole") else forked.Popen


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports: list[Any] = [each for kind in ("passed", "failed") for each in terminalreporter.getreports(kind)]
    played = [(report, dict(report.user_properties).get("played")) for report in reports]
    for report, said in played:
        if said and report.when == "call":
            terminalreporter.section(f"{report.duration:.0f} s: {report.nodeid}")
            terminalreporter.write_line(said.rstrip())

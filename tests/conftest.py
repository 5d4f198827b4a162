"""What all tests share: the scenarios that were played say at the end what they did, and how long each step took."""

import os
from typing import Any

import pytest
from hypothesis import settings

# What guards main tries the same examples each time; at a desk, new ones.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports: list[Any] = [each for kind in ("passed", "failed") for each in terminalreporter.getreports(kind)]
    played = [(report, dict(report.user_properties).get("played")) for report in reports]
    for report, said in played:
        if said and report.when == "call":
            terminalreporter.section(f"{report.duration:.0f} s: {report.nodeid}")
            terminalreporter.write_line(said.rstrip())

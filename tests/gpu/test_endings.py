"""Runs that end in other ways than by having enough: what was measured is shown, and the script is not cut off."""

import json
import signal
import subprocess
import sys

import pytest

from .conftest import ROOT, SCRIPTS

pytestmark = pytest.mark.gpu


def test_a_time_limit_in_the_middle_of_a_large_recording_keeps_it(kinetoscope):
    ran = kinetoscope(
        "profile", SCRIPTS / "endless.py", "--json", "--to-the-end", "--time-limit", 20, keep_as="endless"
    )
    assert ran.code == 0, ran.stderr
    assert ran.region("endless")["measured"] > 100
    assert "finally ran" in ran.stderr


def test_one_interrupt_in_the_middle_of_a_large_recording_keeps_it():
    command = [sys.executable, "-m", "kinetoscope_core.cli", "profile", str(SCRIPTS / "endless.py"), "--json"]
    process = subprocess.Popen(
        [*command, "--to-the-end"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    seen = b""
    while seen.count(b"measuring") < 3:
        line = process.stderr.readline()
        assert line, seen
        seen += line
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=150)
    assert process.returncode == 130, stderr
    regions = {region["name"]: region for region in json.loads(stdout)["regions"]}
    assert regions["endless"]["cuda_total_ns"]["median"] > 0
    assert b"finally ran" in stderr


def test_a_region_around_the_whole_training_has_no_time_before_it_ends(kinetoscope):
    ran = kinetoscope("profile", SCRIPTS / "whole_training.py", "--json", "--budget", 5, keep_as="whole_training")
    assert ran.code == 0, ran.stderr
    assert ran.region("step")["measured"] >= 5
    (training,) = [each for each in ran.result["unmeasured"] if each["name"] == "training"]
    assert training["at_least_ns"] > 1_000_000_000


def test_regions_that_are_marked_in_other_ways_are_measured(kinetoscope):
    ran = kinetoscope("profile", SCRIPTS / "fast_regions.py", "--json", keep_as="fast_regions")
    assert ran.code == 0, ran.stderr
    for name in ("fast", "operator"):
        assert ran.region(name)["measured"] >= 5
        assert ran.region(name)["cuda_total_ns"]["median"] > 0

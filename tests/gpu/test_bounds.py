"""What limits a region, by what a real device did meanwhile (docs/measures.md, "What limits a region")."""

import pytest

from .conftest import SCRIPTS

pytestmark = pytest.mark.gpu


def codes(region):
    return {finding["code"] for finding in region["findings"]}


def test_copies_are_not_computing(kinetoscope):
    ran = kinetoscope("profile", SCRIPTS / "copies.py", "--json", keep_as="copies")
    assert ran.code == 0, ran.stderr
    assert ran.region("pinned up")["bound"] == "copy"
    assert ran.region("on the device")["bound"] == "copy"
    assert ran.region("pageable up")["bound"] != "compute"


def test_a_region_is_not_overhead_bound_while_the_gpu_is_busy_with_another_one(kinetoscope):
    ran = kinetoscope("profile", SCRIPTS / "busy_elsewhere.py", "--json", keep_as="busy_elsewhere")
    assert ran.code == 0, ran.stderr
    assert ran.region("large")["bound"] == "compute"
    assert ran.region("small while busy")["bound"] != "overhead"
    assert ran.region("small alone")["bound"] == "overhead"


def test_a_stall_in_one_operator_is_an_idle_gap_and_not_tiny_kernels(kinetoscope):
    ran = kinetoscope("profile", SCRIPTS / "stalls.py", "--json", keep_as="stalls")
    assert ran.code == 0, ran.stderr
    region = ran.region("stalled")
    assert "idle-gap" in codes(region)
    own = [finding for finding in region["findings"] if finding["code"] == "tiny-kernels"]
    for finding in own:  # if it is told, then of the time between launches alone
        assert finding["gain_ns"] < region["cpu_total_ns"]["sum"] / 2


def test_launches_into_a_capture_are_not_missing(kinetoscope):
    ran = kinetoscope("profile", SCRIPTS / "captures.py", "--json", keep_as="captures")
    assert ran.code == 0, ran.stderr
    said = [problem["code"] for problem in ran.result["problems"]]
    assert "launches-without-record" not in said, ran.stderr
    assert ran.region("replay")["bound"] == "compute"
    assert ran.region("replay")["launches"]["median"] >= 40


def test_our_own_launch_is_no_region_and_compiling_is_one_group(kinetoscope):
    ran = kinetoscope(
        "profile", "examples/matmul_add.py", "--json", "--", "--size", 4096, "--compile", keep_as="compile_4096"
    )
    assert ran.code == 0, ran.stderr
    names = [region["name"] for region in ran.result["regions"]]
    assert not [name for name in names if name.startswith("kinetoscope")]
    assert not [name for name in names if "compile_id=" in name]

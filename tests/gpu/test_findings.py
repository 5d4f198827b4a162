"""Findings on a GPU: the guide's experiments have no others than they should, and each change that a page suggests
makes its finding go and the step shorter. What was seen goes to $OUT/findings.md, for the pages.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "findings"

# Script, the region and the finding there.
PAIRS = [
    ("synchronisation", "log", "synchronisation"),
    ("tiny_kernels", "smooth", "tiny-kernels"),
    ("pageable_copy", "load", "pageable-copy"),
    ("tensor_cores_unused", "forward", "tensor-cores-unused"),
    ("waiting_for_data", "load", "waiting-for-data"),
    ("optimizer_loop", "optimizer", "optimizer-loop"),
    ("idle_gap", "diffuse", "idle-gap"),
]
BOUNDS = {"overhead-bound", "compute-bound", "communication-bound", "copy-bound", "mixed", "sync-bound", "cpu-only"}


def codes(ran, region):
    return {finding["code"]: finding for finding in ran.region(region)["findings"]}


def milliseconds(script, *arguments):
    """What a step takes without a profiler."""
    done = subprocess.run(
        [sys.executable, EXAMPLES / f"{script}.py", *arguments], capture_output=True, text=True, timeout=180, check=True
    )
    return float(re.search(r"([\d.]+) ms a step", done.stdout)[1])


@pytest.mark.gpu
@pytest.mark.parametrize(("script", "region", "code"), PAIRS)
def test_the_change_that_a_page_suggests_makes_the_finding_go(kinetoscope, script, region, code):
    path = f"examples/findings/{script}.py"
    before = kinetoscope("profile", path, "--json", keep_as=f"{script}_before")
    assert before.code == 0, before.stderr
    finding = codes(before, region)[code]
    after = kinetoscope("profile", path, "--json", "--", "--changed", keep_as=f"{script}_after")
    assert after.code == 0, after.stderr
    assert code not in codes(after, region)
    took, takes = milliseconds(script), milliseconds(script, "--changed")
    if "OUT" in os.environ:
        with Path(os.environ["OUT"], "findings.md").open("a", encoding="utf-8") as table:
            table.write(f"| {code} | {finding['message']} | {took:.3f} ms | {takes:.3f} ms | {took / takes:.1f}× |\n")
    assert takes < took


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (("--size", 64), {"overhead-bound"}),
        (("--size", 4096), {"compute-bound"}),
        (("--size", 64, "--compile"), {"compile-tax"}),
        (("--size", 4096, "--compile"), {"compile-tax", "compute-bound", "mixed", "overhead-bound"}),
    ],
)
def test_the_experiments_have_no_other_findings_than_they_should(kinetoscope, arguments, wanted):
    ran = kinetoscope("profile", "examples/matmul_add.py", "--json", "--", *arguments)
    assert ran.code == 0, ran.stderr
    found = set(codes(ran, "matmul_add"))
    assert found
    assert found <= wanted
    assert not [finding["code"] for finding in ran.result["findings"]]

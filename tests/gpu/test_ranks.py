"""torchrun with two ranks: on a GPU each with NCCL, or on one GPU with gloo, which has no kernels to match."""

import os
import sys
from pathlib import Path

import pytest
import torch

from .conftest import SCRIPTS

pytestmark = pytest.mark.gpu
LAUNCHER = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]


def processes_with(mark):
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (process / "environ").read_bytes().split(b"\0"):
                found.append(process.name)
        except OSError:  # it has just ended
            continue
    return found


@pytest.mark.parametrize("how", ["even", "slow-host", "slow-work"])
def test_ranks_end_together_and_the_late_one_is_named(kinetoscope, how):
    mark = f"KINETOSCOPE_TEST={how}-{os.getpid()}"
    name, _, value = mark.partition("=")
    command = [*LAUNCHER, SCRIPTS / "ranks.py", how]
    ran = kinetoscope("profile", "--json", "--", *command, keep_as=f"ranks_{how}", env={name: value})
    assert ran.code == 0, ran.stderr
    assert "came to its own end" not in ran.stdout + ran.stderr
    assert not processes_with(mark)
    first, second = ran.result["ranks"]
    assert [first["rank"], second["rank"]] == [0, 1]
    for of_rank in (first, second):
        regions = {region["name"]: region for region in of_rank["regions"] if region["file"]}
        assert regions.keys() == {"data", "forward", "backward", "optimizer"}
        assert all(region["measured"] >= 5 for region in regions.values())
        assert regions["forward"]["cuda_total_ns"]["median"] > 0
    has_kernels = torch.cuda.device_count() > 1
    assert (first["collectives"] is not None) == has_kernels
    if has_kernels:
        late = [each["evidence"]["rank"] for each in ran.result["findings"] if each["code"] == "straggler"]
        assert late == ([] if how == "even" else [1])

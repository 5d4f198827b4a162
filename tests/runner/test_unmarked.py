"""Scripts in which neither they nor torch mark anything: what their operators took."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from kinetoscope_core.run.source_scan import marks_nothing
from kinetoscope_core.runner.regions import unmarked
from kinetoscope_core.runner.request import RunRequest

from .conftest import SCRIPTS


def operators(ran):
    return {each["name"]: each for each in ran.result["contents"]["operators"]}


def test_the_operators_of_a_script_that_marks_nothing_are_shown(kinetoscope):
    ran = kinetoscope("unmarked.py", "some")
    assert ran.code == 0, ran
    found = operators(ran)
    assert (found["aten::matmul"]["count"], found["aten::relu"]["count"]) == (7, 7)
    assert found["aten::matmul"]["cpu_total_ns"] > 0
    assert ran.result["contents"]["phases"] == []
    assert "no-region" in ran.problems
    assert ran.script_output == b"done\n"
    assert not ran.result["run"]["was_ended_early"]


def test_it_is_ended_with_the_budget(kinetoscope):
    ran = kinetoscope("unmarked.py", "without end", options=["--budget", "1"])
    assert ran.code == 0, ran
    assert ran.result["run"]["was_ended_early"]
    assert operators(ran)["aten::relu"]["count"] > 1


def test_it_gives_way_to_regions_that_the_source_does_not_show(kinetoscope):
    ran = kinetoscope("unmarked.py", "hidden region")
    assert ran.code == 0, ran
    assert ran.counts() == {"hidden": (8, 5)}
    assert ran.result["contents"] is None


def test_it_gives_way_to_steps_that_the_source_does_not_show(kinetoscope):
    ran = kinetoscope("unmarked.py", "hidden steps")
    assert ran.code == 0, ran
    assert ran.result["contents"]["steps"]["count"] == 5
    assert ran.result["run"]["was_ended_early"]


def test_a_script_that_starts_others_is_waited_for_and_told_so(kinetoscope):
    ran = kinetoscope("unmarked.py", "starts another", options=["--budget", "4"])
    assert ran.code == 3, ran
    assert "the processes that it started" in ran.messages
    assert ran.script_output.endswith(b"done\n")


@pytest.mark.parametrize("device", ["/dev/nvidiactl", None])
def test_where_there_may_be_a_gpu_the_script_initialises_cuda_first(monkeypatch, device):
    done = []
    torch = SimpleNamespace(version=SimpleNamespace(cuda="12.8"), cuda=SimpleNamespace())
    torch.cuda._lazy_init = initialise = lambda: done.append("CUDA")
    monkeypatch.setitem(sys.modules, "torch.autograd.profiler", torch)
    monkeypatch.setattr(unmarked, "_exists", lambda path: path == device)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)

    def start():
        done.append("recording")
        return True

    recording = unmarked.Unmarked(RunRequest("a.py", marks_nothing=True), start)
    recording.note_import(torch)
    assert recording.is_recorded() == (device is None)
    torch.cuda._lazy_init()
    assert done == (["CUDA", "recording"] if device else ["recording", "CUDA"])
    assert recording.is_recorded()
    assert torch.cuda._lazy_init is initialise


@pytest.mark.parametrize(
    ("script", "other", "nothing"),
    [
        ("import torch\n", "", True),
        ("import torch, other  # for record_function\n", "x = 1\n", True),
        ("import torch, other\n", "from torch.profiler import record_function\n", False),
        ("import torch\ndef load():\n    import other\n", "torch.optim.SGD()\n", False),
        ("import torch\n", "torch.optim.SGD()\n", True),
        ("from torch.utils.data import DataLoader\n", "", False),
        ("import (\n", "", False),
    ],
)
def test_what_marks_is_looked_for_in_all_that_the_script_imports(tmp_path, script, other, nothing):
    (tmp_path / "script.py").write_text(script)
    (tmp_path / "other.py").write_text(other)
    assert marks_nothing(RunRequest("script.py", folder=str(tmp_path))) is nothing


def test_of_a_script_that_is_not_there_nothing_is_known(tmp_path):
    assert not marks_nothing(RunRequest("none.py", folder=str(tmp_path)))
    assert not marks_nothing(RunRequest("torch.distributed.run", is_module=True, folder=str(tmp_path)))
    assert marks_nothing(RunRequest(Path("unmarked.py").name, folder=str(SCRIPTS)))

"""What a script may no longer do once CUDA was used ahead of it is an error that says so; all else goes on. No GPU."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "profiler_core"

PRIMED = """import os, sys, torch
from kinetoscope_core.runner.prewarm import variables
from kinetoscope_core.runner.prewarm.cuda import PreparedInterpreterError, Priming
told = []
priming = Priming(told.append)
priming._torch, priming._seen_by_cuda = torch, variables.actual()
torch._C._cuda_getDeviceCount = lambda: 2
torch.cuda._queued_calls.append((priming._note_use, ["by Kinetoscope"]))
priming.watch()

def in_child(do):
    read, write = os.pipe()
    if not os.fork():
        try:
            text = do()
        except BaseException as error:
            text = f"{type(error).__name__}: {error}"
        os.write(write, str(text).encode())
        os._exit(0)
    os.wait()
    return os.read(read, 1000).decode()

def fails(do):
    try:
        do()
    except PreparedInterpreterError as error:
        assert "Run it again without preparation" in str(error)
        return str(error)
    raise AssertionError("went on")
"""

CHILDREN = """
from torch.utils.data import DataLoader
drawn = [value.item() for value in DataLoader(torch.arange(6), num_workers=2)]
assert drawn == list(range(6)), drawn
assert in_child(torch.cuda._is_in_bad_fork) == "False"
assert in_child(lambda: torch.manual_seed(3).initial_seed()) == "3"
used = in_child(torch.cuda._lazy_init)
assert used.startswith("PreparedInterpreterError: A process that the script forks uses CUDA"), used
assert told == []  # a child says nothing for its parent: it fails itself
original = torch.cuda._is_in_bad_fork
assert torch._C._cuda_getDeviceCount() == 2
assert in_child(lambda: torch.cuda._is_in_bad_fork is original) == "True"  # as in a plain run: torch's own word
"""

VARIABLES = """
os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] = os.environ["NCCL_DEBUG"] = os.environ["MINE"] = "1"
os.environ["KMP_INIT_AT_FORK"] = "FALSE"  # Lightning brings this; CUDA does not read it
priming._note_use()
os.environ["CUDA_VISIBLE_DEVICES"] = ""
for do in (priming._note_question, priming._note_use):
    assert "The script sets CUDA_VISIBLE_DEVICES before it uses CUDA" in fails(do)
assert len(told) == 2
del os.environ["CUDA_VISIBLE_DEVICES"]
assert torch._C._cuda_getDeviceCount() == 2
"""

PROFILER = """
from kinetoscope_core.runner.profiler.recording import Profiler, device_facts
import tempfile
torch.cuda.is_available = lambda: False
profiler = Profiler(tempfile.mkdtemp())
profiler.start()
assert "torch._inductor" not in sys.modules
torch.ones(2)
assert profiler.stop_and_export(profiler.folder + "/trace.json")
assert "sympy" not in sys.modules
assert "_inductor" in torch._lazy_modules
def fail(): raise PreparedInterpreterError("no")
torch.version.cuda, torch.cuda.is_available = "13", fail
assert device_facts()["no_cuda_because"].startswith("no, but in a prepared interpreter")
"""


@pytest.mark.timeout(180)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks here")
@pytest.mark.parametrize("case", [CHILDREN + VARIABLES, PROFILER], ids=["children and variables", "profiler"])
def test_children_variables_and_the_profiler_of_a_primed_process(case):
    environment = {**os.environ, "PYTHONPATH": str(CORE)}
    done = subprocess.run([sys.executable, "-c", PRIMED + case], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

"""What a script finds before it imports torch, and of torch when it has, as JSON."""

import as_python  # prints what can be seen of the start
import hashlib
import json
import logging
import os
import random
import sys
import warnings


def packages():
    modules = list(sys.modules.items())
    return sorted(name for name, module in modules if "/site-packages/" in (getattr(module, "__file__", None) or ""))


def process():
    return {
        "environment": {name: value for name, value in os.environ.items() if name != "KINETOSCOPE_RUN"},
        "filters": [str(item) for item in warnings.filters if "fork" not in str(item)],
        "loggers": sorted(name for name in logging.root.manager.loggerDict if name.startswith(("torch", "numpy"))),
        "descriptors": {number: kind for number, kind in as_python.descriptors().items() if 2 < int(number) < 200},
    }


print(json.dumps({"packages": packages(), "process": process()}, indent=1))
assert "torch" not in sys.modules
assert __import__("importlib.util").util.find_spec("torch").origin.endswith("/torch/__init__.py")
assert "torch" not in sys.modules

import torch
import torch.nn as nn
from torch.profiler import record_function

import numpy

with open("/dev/null") as first:
    first_number = first.fileno()
torch.manual_seed(3)
torch.set_num_interop_threads(3)
seen = {
    "process": process(),
    "spec": [torch.__spec__.name, type(torch.__spec__.loader).__name__, torch.__spec__.origin, nn is torch.nn],
    "main": [sys.modules["__main__"].__dict__ is globals(), __file__, sys.argv, sys.orig_argv[1:]],
    "generator": hashlib.sha256(bytes(torch.get_rng_state().tolist())).hexdigest(),
    "random": torch.rand(3).tolist(),
    "threads": [torch.get_num_threads(), torch.get_num_interop_threads()],
    "defaults": [str(torch.get_default_dtype()), torch.is_grad_enabled(), torch.is_inference_mode_enabled()],
    "deterministic": [torch.are_deterministic_algorithms_enabled(), torch.backends.cudnn.benchmark],
    "cuda": [torch.cuda.is_initialized(), torch.cuda.is_available()],
    "profiler": [torch.autograd._profiler_enabled(), torch._C._autograd._profiler_type().name],
    "numpy": [numpy.geterr(), str(numpy.random.default_rng(1).random())],
    "unseeded": numpy.random.get_state()[1][0] != 5489 and random.getstate()[1][0] is not None,
    "first file": first_number,
}
if torch.cuda.is_available():
    seen["before use"] = torch.cuda.memory_stats()
    torch.manual_seed(7)
    seen["cuda random"] = torch.rand(3, device="cuda").tolist()
    seen["cuda state"] = hashlib.sha256(bytes(torch.cuda.get_rng_state().tolist())).hexdigest()
    seen["memory"] = torch.cuda.memory_stats()
    seen["visible"] = [torch.cuda.device_count(), os.environ.get("CUDA_MODULE_LOADING")]
print(json.dumps(seen, indent=1, default=str))
for _ in range(10):
    with record_function("step"):
        torch.ones(8, 8) @ torch.ones(8, 8)

"""What people do without Kinetoscope: a script under torch.profiler, its table and trace. TRACE SCRIPT ARGUMENTS."""
# pyright: basic

import runpy
import sys

import torch
from torch.profiler import ProfilerActivity, profile

trace, sys.argv = sys.argv[1], sys.argv[2:]
activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if torch.cuda.is_available() else [])
with profile(activities=activities) as prof:
    runpy.run_path(sys.argv[0], run_name="__main__")
print(prof.key_averages().table(row_limit=20))
prof.export_chrome_trace(trace)

"""Its modules are named like ours."""

import channel
import imports
import profiling
import regionlog
import script
import session
import torch
import window
from torch.profiler import record_function

for _ in range(9):
    with record_function("mine"):
        torch.ones(8) + 1
print([module.MINE for module in (window, channel, session, regionlog, imports, profiling, script)])

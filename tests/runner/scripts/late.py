"""A region that is entered only when the run is ended."""

import torch
from torch.profiler import record_function

a = torch.ones(8)
try:
    # One region that stands in the source, so that it alone is waited for.
    while True:
        with record_function("loop"):
            a + 1
finally:
    enter = record_function
    with enter("clean-up"):
        a + 1

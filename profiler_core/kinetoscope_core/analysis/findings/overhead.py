"""What of the overhead slices of a trace is the profiler's own work, and what the loading of CUDA modules."""

import re
from typing import Final

LOADING: Final = re.compile("^.*Loading")
"""`Runtime Triggered Module Loading`, `Lazy Function Loading`: CUPTI tells them, and they would be there without it."""

PROFILING: Final = re.compile("^(?!.*Loading)")

"""Names that break trace files, and those that only look as if they did."""

import torch
from torch.profiler import record_function

names = [
    'quote "q"',
    "back\\slash",
    "line\nfeed",
    "tab\tname\x1b[31m\x7f",
    "Übung λ 训练 🔥",
    "",
    "x" * 300,
    "%s {} </script> '",
    "ProfilerStep#7",
    "lone \ud800 surrogate",
    "quote 'q'",
]
for _ in range(9):
    for name in names:
        with record_function(name):
            torch.ones(8) + 1

"""Names that break a trace, on two threads."""

import threading

import torch
from torch.profiler import record_function

NAMES = ['quote "q"', "back\\slash", "Übung λ 训练 🔥", "tab\tname", "line\nfeed", "", "x" * 300]


def work(prefix):
    a = torch.ones(256, 256, device="cuda")
    for _ in range(9):
        for name in NAMES:
            with record_function(prefix + name):
                a @ a
    torch.cuda.synchronize()


thread = threading.Thread(target=work, args=("worker ",))
thread.start()
work("")
thread.join()

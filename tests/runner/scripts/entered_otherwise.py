"""Regions of the fast class and of operators, one that is made only under a profiler, and hooks on a model."""

import contextlib

import torch
from torch.profiler import record_function


def maybe(name):
    return record_function(name) if torch.autograd.profiler._is_profiler_enabled else contextlib.nullcontext()


def hook_in(model):
    entered = []

    def before(name):
        def hook(module, inputs):
            entered.append(record_function(name))
            entered[-1].__enter__()

        return hook

    def after(module, inputs, output):
        entered.pop().__exit__(None, None, None)

    for name, module in model.named_modules():
        module.register_forward_pre_hook(before(name or "model"))
        module.register_forward_hook(after)


model = torch.nn.Sequential(*(torch.nn.Linear(8, 8) for _ in range(80)))
hook_in(model)
while True:
    with maybe("guarded"):
        torch.ones(8) + 1
    with torch._C._profiler._RecordFunctionFast("fast"):
        torch.ones(8) + 1
    handle = torch.ops.profiler._record_function_enter_new('an "operator"', None)
    torch.ones(8) + 1
    torch.ops.profiler._record_function_exit(handle)
    model(torch.ones(1, 8))

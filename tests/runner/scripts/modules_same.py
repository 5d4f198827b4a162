"""Models in all that torch does with modules; prints what must be the same with regions of modules as without.

`compile` tries what is compiled; `cuda` does it on a GPU.
"""

import copy
import hashlib
import pickle
import re
import sys
import warnings

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

DEVICE = "cuda" if "cuda" in sys.argv else "cpu"


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        return x + self.drop(self.down(torch.relu(self.up(self.norm(x)))))


class Net(nn.Module):
    def __init__(self, checkpointed=None):
        super().__init__()
        self.blocks = nn.ModuleList([Block(8) for _ in range(3)])
        self.head = nn.Sequential(nn.Linear(8, 4), nn.BatchNorm1d(4))
        self.checkpointed = checkpointed

    def forward(self, x):
        for block in self.blocks:
            x = block(x) if self.checkpointed is None else checkpoint(block, x, use_reentrant=self.checkpointed)
        return self.head(x)


def rounded(value):
    """Sums differ in their last bits by where in memory a tensor lies."""
    return [round(each, 3) + 0.0 for each in value.detach().double().flatten().tolist()]


def digest(*values):
    found = hashlib.sha256()
    for value in values:
        found.update(repr(rounded(value) if isinstance(value, torch.Tensor) else value).encode())
    return found.hexdigest()[:12]


def train(model, call=None, steps=6):
    torch.manual_seed(0)
    x = torch.randn(5, 8, requires_grad=True, device=DEVICE)
    outputs = [(call or model)(x) for _ in range(steps)]
    sum(each.sum() for each in outputs).backward()
    grads = [each.grad for each in model.parameters()]
    states = [torch.get_rng_state(), *([torch.cuda.get_rng_state()] if DEVICE == "cuda" else [])]
    return digest(*outputs, *grads, x.grad, *states, *model.state_dict(), *model.state_dict().values())


def seeded(*arguments):
    torch.manual_seed(1)
    return Net(*arguments).to(DEVICE)


def compiled_counts():
    from torch._dynamo.utils import counters

    kept = {name: dict(each) for name, each in counters.items() if name in ("stats", "frames", "graph_break")}
    return re.sub(r" at 0x\w+", "", str(kept))


def attempt(name, work):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            result = work()
        except Exception as error:
            result = f"{type(error).__name__}: {error}"
    said = sorted({str(each.message) for each in seen})
    print(name, result, digest(*said) if said else "")


def hooked():
    model, order = seeded(), []
    model.register_forward_pre_hook(lambda *_: order.append("before"))
    model.register_forward_hook(lambda *_: order.append("after"))
    model.head.register_full_backward_hook(lambda *_: order.append("backward"))
    handle = nn.modules.module.register_module_forward_hook(lambda *_: order.append("global"))
    result = train(model)
    handle.remove()
    return result, order.count("global"), [each for each in order if each != "global"]


def pickled():
    model = seeded()
    train(model)
    again = pickle.loads(pickle.dumps(model))
    names = sorted(set(model.__dict__) | set(model.blocks[0].__dict__))
    return train(copy.deepcopy(again)), digest(*names), len(list(model.modules()))


def fails():
    model = seeded()
    try:
        model(torch.ones(5, 9, device=DEVICE))
    except RuntimeError as error:
        return str(error)[:40], train(model)


def traced():
    model = seeded().eval()
    with torch.no_grad():
        trace = torch.jit.trace(model, torch.ones(5, 8, device=DEVICE))
    return trace.graph.__str__().count("record_function"), digest(trace(torch.ones(5, 8, device=DEVICE)))


def scripted():
    made = torch.jit.script(nn.Sequential(nn.Linear(8, 8), nn.ReLU()).to(DEVICE))
    return made.graph.__str__().count("record_function"), train(made)


def exported():
    program = torch.export.export(seeded().eval(), (torch.ones(5, 8, device=DEVICE),), strict=False)
    return [str(node.target) for node in program.graph.nodes][:40], len(program.graph.nodes)


def symbolic():
    graph = torch.fx.symbolic_trace(seeded())
    return digest(graph.code), train(graph)


def functional():
    model = seeded().eval()
    weights = dict(model.named_parameters())
    call = lambda weights, x: torch.func.functional_call(model, weights, (x,)).sum()
    grads = torch.func.grad(call)(weights, torch.ones(5, 8, device=DEVICE))
    return digest(*grads.values()), digest(torch.vmap(model, randomness="same")(torch.ones(2, 5, 8, device=DEVICE)))


def counted():
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as mode:
        seeded()(torch.ones(5, 8, device=DEVICE))
    return mode.get_total_flops()


def compiled(**how):
    def work():
        torch._dynamo.reset()
        torch._dynamo.utils.counters.clear()
        model = seeded()
        call = torch.compile(model, backend="aot_eager", **how)
        return train(model, call), train(model.eval(), call), compiled_counts()

    return work


def compiled_in_place():
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    model = seeded()
    model.compile(backend="aot_eager")
    states = [sorted(each.__getstate__()) for each in model.modules()]
    return train(model), digest(states), train(pickle.loads(pickle.dumps(model))), compiled_counts()


def compiled_blocks():
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    model = seeded()
    for index, block in enumerate(model.blocks):
        model.blocks[index] = torch.compile(block, backend="aot_eager")
    return train(model), sorted(model.state_dict())[:3], compiled_counts()


def compiled_function():
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    model = seeded()

    @torch.compile(backend="aot_eager", fullgraph=True)
    def step(x):
        return model(x) * 2

    return train(model, step), compiled_counts()


def broken_graph():
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    model = seeded()

    @torch.compile(backend="aot_eager")
    def step(x):
        for block in model.blocks:
            x = block(x)
            torch._dynamo.graph_break()
        return model.head(x)

    return train(model, step), compiled_counts()


def disabled_inside():
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    model = seeded()
    head = torch._dynamo.disable(model.head.__call__)

    @torch.compile(backend="aot_eager")
    def step(x):
        for block in model.blocks:
            x = block(x)
        return head(x)

    return train(model, step), compiled_counts()


if __name__ == "__main__":
    if "compile" not in sys.argv:
        attempt("plain", lambda: train(seeded()))
        attempt("checkpointed", lambda: train(seeded(False)))
        attempt("checkpointed, reentrant", lambda: train(seeded(True)))
        for work in (hooked, pickled, fails, traced, scripted, exported, symbolic, functional, counted):
            attempt(work.__name__, work)
    else:
        attempt("compiled", compiled())
        attempt("compiled, one graph", compiled(fullgraph=True))
        for work in (compiled_in_place, compiled_blocks, compiled_function, broken_graph, disabled_inside):
            attempt(work.__name__, work)

# ruff: noqa: B007, E501, E701, F402, F821, F823, F841, N805
# fmt: off
"""Names that look like torch's and are not, and names that don't and are."""
import torch
from torch import profiler
from torch.profiler import record_function


def parameter(record_function):
    with record_function("no"): pass
    lambda: stack.enter_context(record_function("no"))


def splat(*record_function, **profiler):
    with record_function("no"), profiler.record_function("no"): pass


def default(f=record_function, *, record_function: int = 1):
    with record_function("no"): pass
    with f("a default is not followed"): pass


def local():
    record_function = print
    with record_function("no"): pass


def later():
    with record_function("no: unbound here"): pass
    record_function = print


def loop():
    for record_function in (): pass
    with record_function("no"): pass


def caught():
    try: pass
    except E as torch:
        with torch.profiler.record_function("no"): pass


def imported():
    from mine import record_function
    with record_function("handed on"): pass  #: with | handed on | imported
    import mine as torch
    with torch.profiler.record_function("handed on, too"): pass  #: with | handed on, too | imported
    with torch.profiler.record("no"): pass


def nested():
    def record_function(name): pass
    with record_function("no"): pass


def matched(x):
    match x:
        case {"a": record_function}:
            with record_function("no"): pass


class Body:  # its own record_function is a method
    def record_function(name): pass
    with record_function("no"): pass

    def method(self):
        with record_function("a class body is not seen from its methods"): pass  #: with | a class body is not seen from its methods | Body.method
        with self.record_function("no"): pass
        with torch.record_function("no"): pass
        with torch.cuda.profiler.record_function("no"): pass
        with torch.profiler.profile("no"): pass


[0 for record_function in () if stack.enter_context(record_function("no"))]
[stack.enter_context(record_function("yes")) for x in ()]  #: enter_context | yes
[0 for record_function in stack.enter_context(record_function("the first iterable is outside"))]  #: enter_context | the first iterable is outside

if (torch2 := torch):
    with torch2.profiler.record_function("through a walrus"): pass  #: with | through a walrus

del profiler
with profiler.record_function("no"): pass

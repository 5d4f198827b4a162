# ruff: noqa: E501, E701, E731, F401, F821, F841, SIM115, SIM117
# fmt: off
"""Every way to enter a region. `#: kind | name | path | decorates` stands on the line where one is shown.

with record_function("in a docstring"): pass
"""
import contextlib

import torch
from torch.profiler import record_function

with record_function("alone"): pass  #: with | alone
with record_function("left"), record_function("right") as right: pass  #: with | left #: with | right
with (record_function("bracketed")): pass  #: with | bracketed
with (
    open("x") as file,
    record_function("first of two"),  #: with | first of two
    record_function(  #: with | second of two
        "second of two",
    ) as second,
):
    with record_function("nested"):  #: with | nested
        pass
with open("x") \
        , record_function("continued"): pass  #: with | continued
with record_function("chosen") if file else contextlib.nullcontext(): pass  #: with | chosen
with (walrus := record_function("named at once")): pass  #: with | named at once
with contextlib.nullcontext() if record_function("a condition only") else file: pass

# with record_function("in a comment"): pass
text = "with record_function('in a string'): pass"
f"{text} record_function('in an f-string')"
record_function("made and dropped")
print(record_function("given away"))


class Model:
    @record_function("method")  #: decorator | method | Model.method | plain
    def method(self):
        with record_function("in a method"):  #: with | in a method | Model.method
            run = lambda stack: stack.enter_context(record_function("in a lambda"))  #: enter_context | in a lambda | Model.method.<lambda>
        return [self.other() for _ in run]

    @property
    @record_function("below another")  #: decorator | below another | Model.below | plain
    def below(self): return 1

    @record_function("async")  #: decorator | async | Model.later | async
    async def later(self):
        async with self.lock:
            with record_function("in a coroutine"):  #: with | in a coroutine | Model.later
                await self.lock
        async with self.lock, record_function("refused by torch at run time"):  #: with | refused by torch at run time | Model.later
            pass

    @record_function("yields")  #: decorator | yields | Model.items | generator
    def items(self):
        yield from self.parts

    @record_function("yields inside only")  #: decorator | yields inside only | Model.makes | plain
    def makes(self):
        def inner():
            yield 1
        return inner, lambda: (yield)

    @record_function("itself")  #: decorator | itself | Model.walk | recursive
    def walk(self, node):
        for child in node:
            self.walk(child)

    @record_function("by its class")  #: decorator | by its class | Model.walk_static | recursive
    @staticmethod
    def walk_static(node):
        return [Model.walk_static(child) for child in node]

    @record_function("parent's")  #: decorator | parent's | Model.forward | plain
    def forward(self, forward):
        super().forward(forward)
        other.forward(forward)
        return forward(1)


@record_function("fib")  #: decorator | fib | fib | recursive
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@record_function("shadowed")  #: decorator | shadowed | loop | plain
def loop(loop):
    return loop(1)


@record_function("a class")  #: decorator | a class | Made | class
class Made:
    with record_function("in a class body"):  #: with | in a class body | Made
        size = 1


def stacked():
    with contextlib.ExitStack() as stack:
        region = stack.enter_context(record_function("stacked"))  #: enter_context | stacked | stacked
        self.stack.enter_context(
            record_function("on two lines")  #: enter_context | on two lines | stacked
        )
        stack.enter_context(other, record_function("second argument"))
        stack.push(record_function("pushed"))
    return region


def apart():
    region = record_function("apart")
    with region:  #: with | apart | apart
        pass
    with region as again:  #: with | apart | apart
        pass
    other = record_function("by hand")
    other.__enter__()  #: call | by hand | apart
    work()
    other.__exit__(None, None, None)
    record_function("at once").__enter__()  #: call | at once | apart
    other = open("x")
    with other: pass


kept = record_function("kept by the module")
def uses_kept():
    with kept: pass  #: with | kept by the module | uses_kept


async def main():
    def inner():
        class Local:
            def method(self):
                with record_function("deep"):  #: with | deep | main.inner.Local.method
                    pass

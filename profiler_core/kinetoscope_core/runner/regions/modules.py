"""A region for each forward of a module, by global hooks, for scripts that mark nothing (`--modules`).

What is compiled or traced stays as it is without us: while dynamo may compile what runs, torch sees no hook of ours,
and a compiled module is one region, opened outside.
"""

import functools
import os
import sys
import threading
from types import FrameType, ModuleType
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from ..request import ModuleChoice
from .entered_names import NamedRegion
from .log import OpenRegion, RegionLogger
from .module_names import ModuleNames, Named, inner_of
from .module_places import ModulePlaces
from .places import absolute

_MADE_BY_DYNAMO = "GraphModule"
"""The class of what it compiles to, where that is called as a module: no module of the user's."""

_OF_DYNAMO = ("set_eval_frame", "skip_code", "OptimizedModule")
"""What tells when compiled code runs: torch 2.1 to 2.13 have it."""

IN_BACKWARD = " (in backward)"
"""After the name of a module that is called while gradients are computed, as checkpointing does."""


class _Call(NamedTuple):
    """A call of a module that goes on. `region` is None where it has none; `error` is the exception that was handled
    when it began, by its `id`.
    """

    module: Any
    region: Optional[OpenRegion]
    error: int


class _Thread(threading.local):
    def __init__(self) -> None:
        self.calls: List[_Call] = []
        self.compiled = 0
        """In how many calls of what is compiled it is."""


class ModuleRegions:
    """Opens a region around each chosen module that is called."""

    def __init__(self, log: RegionLogger, choice: ModuleChoice) -> None:
        self._log = log
        self._names = ModuleNames(choice)
        self._places = ModulePlaces()
        self._thread = _Thread()
        self._lock = threading.Lock()
        self._compiled_threads = 0
        self._hooks: List[Tuple[Dict[int, Any], int, Any]] = []
        self._torch: Any = None
        self._end: Optional[Callable[[], None]] = None
        self._lost_sight = False
        """Whether modules are not measured since dynamo was imported."""

    def as_values(self) -> Dict[str, Any]:
        """What the region log says of the choice."""
        return {
            "left_out": self._names.left_out,
            "depth": self._names.depth,
            "classes": sorted(self._names.classes),
            "lost_sight": self._lost_sight,
        }

    def end_later(self, end: Callable[[], None]) -> bool:
        """Has `end` called when a model is called next, so that the backward pass of its last call is in the recording;
        False if none can come.
        """
        self._end = end if self._torch.is_grad_enabled() else None
        return self._end is not None

    def hooks(self) -> Dict[str, Callable[[ModuleType], None]]:
        """What is to be called with which of torch's modules, once it was executed."""
        return {"torch.nn.modules.module": self._hook, "torch._dynamo.eval_frame": self._hook_dynamo}

    def _hook(self, modules: ModuleType) -> None:
        """Hooks into `torch.nn.modules.module`."""
        names: Any = modules
        self._torch = torch = sys.modules["torch"]
        self._places.ignored_folder = os.path.dirname(str(torch.__file__)) + os.sep
        module_class, places = names.Module, self._places
        initialise = module_class.__init__

        @functools.wraps(initialise)
        def noted_init(self: Any, *args: Any, **kwargs: Any) -> None:
            places.note_made(self, sys._getframe(1))
            initialise(self, *args, **kwargs)

        module_class.__init__ = noted_init
        if hasattr(module_class, "compile"):
            module_class.compile = self._compiling(module_class.compile)
        before = names.register_module_forward_pre_hook(self._before)
        after = names.register_module_forward_hook(self._after, always_call=True)
        self._hooks = [
            (names._global_forward_pre_hooks, before.id, self._before),
            (names._global_forward_hooks, after.id, self._after),
            (names._global_forward_hooks_always_called, after.id, True),
        ]

    def _hook_dynamo(self, eval_frame: ModuleType) -> None:
        """Has `torch._dynamo.eval_frame` tell when a thread begins and ends to run what is compiled."""
        names: Any = eval_frame
        if not all(hasattr(names, each) for each in _OF_DYNAMO):  # a torch to come: what it compiles stays as it is
            self._count_compiled(1)
            self._lost_sight = True
            return
        set_eval_frame = names.set_eval_frame

        def noted_set_eval_frame(callback: Any) -> Any:
            # While dynamo compiles, C++ has taken the callback away, and puts it back: only what changes here counts.
            if callback is not None:
                self._count_compiled(1)
            previous = set_eval_frame(callback)
            if previous is not None:  # only now, as what is called before may be compiled
                self._count_compiled(-1)
            return previous

        names.skip_code(noted_set_eval_frame.__code__)
        for name in ("set_eval_frame", "_maybe_set_eval_frame"):
            if getattr(names, name, None) is set_eval_frame:
                setattr(names, name, noted_set_eval_frame)
        names.OptimizedModule.__call__ = self._one_region(names.OptimizedModule.__call__)

    # --- what is compiled

    def _count_compiled(self, more: int) -> None:
        """That this thread has begun (1) or ended (-1) something compiled; our hooks are away while any thread is in
        one.
        """
        before = self._thread.compiled
        self._thread.compiled = before + more
        if (before > 0) == (before + more > 0):
            return
        with self._lock:
            self._compiled_threads += more
            for hooks, number, hook in self._hooks:
                if self._compiled_threads:
                    hooks.pop(number, None)
                else:
                    hooks[number] = hook

    def _one_region(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """The same call of a compiled module, its first argument, as one region."""

        @functools.wraps(call)
        def compiled_call(module: Any, *args: Any, **kwargs: Any) -> Any:
            return self._call_as_one(module, functools.partial(call, module), args, kwargs)

        return compiled_call

    def _compiling(self, compile_module: Callable[..., Any]) -> Callable[..., Any]:
        """`Module.compile`, after which the module is one region."""

        @functools.wraps(compile_module)
        def compile_outside(module: Any, *args: Any, **kwargs: Any) -> Any:
            result = compile_module(module, *args, **kwargs)
            call = module._compiled_call_impl

            @functools.wraps(call)
            def compiled_call(*args: Any, **kwargs: Any) -> Any:
                return self._call_as_one(module, call, args, kwargs)

            module._compiled_call_impl = compiled_call
            return result

        return compile_outside

    def _call_as_one(self, module: Any, call: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        if self._thread.compiled:
            return call(*args, **kwargs)
        region = self._open(module, sys._getframe(2), is_compiled=True)
        self._count_compiled(1)
        failure: Optional[type] = None
        try:
            return call(*args, **kwargs)
        except BaseException as error:
            failure = type(error)
            raise
        finally:
            self._count_compiled(-1)
            if region is not None:
                self._log.close_region(region, failure)

    # --- what is called

    def _before(self, module: Any, _args: Any) -> None:
        error = sys.exc_info()[1]
        self._thread.calls.append(_Call(module, self._open(module, sys._getframe(1)), id(error)))

    def _after(self, module: Any, _args: Any, _result: Any) -> None:
        calls = self._thread.calls
        # Those further in were ended by what calls no hook: KeyboardInterrupt, or dynamo in another thread.
        index = next((index for index in reversed(range(len(calls))) if calls[index].module is module), None)
        if index is None:
            return
        error = sys.exc_info()[1]
        failure = None if error is None or id(error) == calls[index].error else type(error)
        ended, calls[index:] = calls[index:], []
        for call in reversed(ended):
            if call.region is not None:
                self._log.close_region(call.region, failure)

    def _open(self, module: Any, caller: FrameType, *, is_compiled: bool = False) -> Optional[OpenRegion]:
        """The region that a call of the module is, entered; None for one that gets none."""
        if self._is_traced() or type(module).__name__ == _MADE_BY_DYNAMO:
            return None
        named = self._names.of(module)
        if not named.is_chosen:
            return None
        in_backward = self._torch._C._current_graph_task_id() != -1
        if self._end is not None and not (in_backward or self._log.open_calls):
            end, self._end = self._end, None
            end()
        region = named.regions.get(in_backward)
        if region is None:
            name = named.name + (IN_BACKWARD if in_backward else "")
            region = self._region_of(module, named, caller, name, is_compiled=is_compiled)
            named.regions[in_backward] = region
        return self._log.open_region(region)

    def _region_of(self, module: Any, named: Named, caller: FrameType, name: str, *, is_compiled: bool) -> NamedRegion:
        module = inner_of(module)
        levels = self._places.levels(module, named.around and named.around(), caller)
        forward = [absolute(levels[0].code.co_filename), levels[0].line] if levels[0].kind == "forward" else None
        region = self._log.region_at(levels, name)
        was_compiled = region.module is not None and region.module["is_compiled"]
        is_compiled = was_compiled or is_compiled
        region.module = {"class": type(module).__name__, "forward": forward, "is_compiled": is_compiled}
        return region

    def _is_traced(self) -> bool:
        """Whether what runs is written down (traced, exported, transformed by `torch.func`), our region with it."""
        c = self._torch._C
        return (
            c._get_tracing_state() is not None
            or c._len_torch_dispatch_stack() > 0
            or c._functorch.peek_interpreter_stack() is not None
        )

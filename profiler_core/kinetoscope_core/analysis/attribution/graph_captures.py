"""When CUDA graphs were captured: what is launched then goes into the graph, and runs nothing itself."""

from collections.abc import Sequence
from typing import Final

from kinetoscope_core.analysis.attribution.intervals import Union
from kinetoscope_core.trace import Thread, Trace
from kinetoscope_core.trace.schema import API_CALL

_BEGINS: Final = ("cudaStreamBeginCapture", "cuStreamBeginCapture", "hipStreamBeginCapture")
_ENDS: Final = ("cudaStreamEndCapture", "cuStreamEndCapture", "hipStreamEndCapture")
"""Beginnings of names: variants end in `_v10000`, `_ptsz` or `ToGraph`."""

_FROM, _UNTIL = -(2**62), 2**62
"""Where a capture began before the recording, or ended after it."""

_NOTHING: Final = Union(())


class Captures:
    """The captures of a trace, by thread and by process: autograd threads launch into that of the thread that waits."""

    def __init__(self, trace: Trace) -> None:
        host = trace.host
        begins = {number for number, name in enumerate(trace.names) if name.startswith(_BEGINS)}
        ends = {number for number, name in enumerate(trace.names) if name.startswith(_ENDS)}
        of_thread: dict[int, list[tuple[int, int]]] = {}
        if begins or ends:
            borders = begins | ends
            for index, name in enumerate(host.name):
                if name in borders and host.kind[index] == API_CALL:
                    of_thread.setdefault(host.thread[index], []).append(
                        (host.start_ns[index], 1) if name in begins else (host.start_ns[index], -1)
                    )
        spans = {thread: list(_spans(sorted(each))) for thread, each in of_thread.items()}
        self._of_thread = {thread: Union(each) for thread, each in spans.items()}
        of_process: dict[str, list[tuple[int, int]]] = {}
        for thread, each in spans.items():
            of_process.setdefault(trace.threads[thread].pid, []).extend(each)
        self._of_process = {pid: Union(each) for pid, each in of_process.items()}
        self._threads: Sequence[Thread] = trace.threads

    def __bool__(self) -> bool:
        return bool(self._of_thread)

    def is_into_one(self, thread: int, moment_ns: int) -> bool:
        """Whether the thread's process was capturing then: a launch without a record is one into the graph."""
        return self._of_process.get(self._threads[thread].pid, _NOTHING).covered(moment_ns, moment_ns + 1) > 0

    def is_within(self, thread: int, start_ns: int, end_ns: int) -> bool:
        """Whether the thread captured at any moment of the span."""
        return self._of_thread.get(thread, _NOTHING).covered(start_ns, end_ns) > 0


def _spans(borders: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """From the first begin to the end that closes it, as captures of several streams can be nested."""
    spans: list[tuple[int, int]] = []
    depth, since = 0, _FROM
    for moment_ns, step in borders:
        if step > 0:
            since = since if depth else moment_ns
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                spans.append((since, moment_ns))
        elif not spans:
            spans.append((_FROM, moment_ns))
    if depth:
        spans.append((since, _UNTIL))
    return spans

"""One job in a process of its own, for an editor: `python -m kinetoscope_core.worker`.

The language server never reads a trace and never runs a script itself. The first line of stdin is the request, JSON
with `do`: `profile` or `read`; later lines cancel it. stdout gives JSON lines, each with an `event`: `progress`,
`output` of the script in whole lines, and last `result` or `error`. When stdin ends, the job is cancelled and all it
started is ended.
"""

import codecs
import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict
from io import FileIO, RawIOBase
from pathlib import Path
from typing import IO, Any

import orjson

from kinetoscope_core.errors import KinetoscopeError, RunError
from kinetoscope_core.measuring import measure_traces
from kinetoscope_core.profiling import Profiling
from kinetoscope_core.results import to_json, without_surrogates
from kinetoscope_core.runconfig import RunConfig, find_interpreter
from kinetoscope_core.store import Store
from kinetoscope_core.wording import call_settings

_LONGEST_LINE = 65_536


class Worker:
    """Carries out one request. `lines` is where events go, whole lines at a time."""

    def __init__(self, requests: RawIOBase, lines: IO[bytes]) -> None:
        self._requests = requests
        self._lines = lines
        self._lock = threading.Lock()

    def work(self) -> None:
        """Reads the request, carries it out, and says how it ended."""
        try:
            request = orjson.loads(self._requests.readline())
            if request["do"] == "profile":
                self._profile(request)
            else:
                result = measure_traces(_paths(request["traces"]), _paths(request["sources"]))
                self.send("result", run=None, result=orjson.Fragment(to_json(result)))
        except KinetoscopeError as error:
            traceback = error.traceback if isinstance(error, RunError) else ""
            self.send("error", kind=type(error).__name__, message=str(error), traceback=traceback)

    def _profile(self, request: dict[str, Any]) -> None:
        call_settings(request["called"])
        streams = [_Output(name, self.send) for name in ("stdout", "stderr")]
        profiling = Profiling(
            _config(request),
            request["region"],
            Store(),
            on_progress=lambda progress: self.send("progress", **asdict(progress)),
            stdin=subprocess.DEVNULL,
            stdout=streams[0].write_end,
            stderr=streams[1].write_end,
        )
        threading.Thread(target=self._listen, args=(profiling,), daemon=True).start()
        try:
            result, _ = profiling.run()
        finally:
            for stream in streams:
                stream.close()
        self.send("result", run=profiling.run_id, result=orjson.Fragment(to_json(result)))

    def _listen(self, profiling: Profiling) -> None:
        """Cancels on request, kills on a second one, and when the editor has gone."""
        for _ in iter(self._requests.readline, b""):
            profiling.cancel()
        profiling.cancel()
        profiling.cancel()

    def send(self, event: str, **fields: object) -> None:
        """Writes one event; when nobody reads any more, the run is about to be ended anyway."""
        values = {"event": event, **fields}
        try:
            line = orjson.dumps(values)
        except TypeError:  # a lone surrogate in what the script says or how it calls a region
            line = orjson.dumps(without_surrogates(values))
        with self._lock, contextlib.suppress(BrokenPipeError):
            self._lines.write(line + b"\n")
            self._lines.flush()


class _Output:
    """A pipe for one output of the script, passed on as it comes. In whole lines: a traceback is written in pieces."""

    def __init__(self, name: str, send: Callable[..., None]) -> None:
        self._name = name
        self._send = send
        read_end, self.write_end = os.pipe()
        self._thread = threading.Thread(target=self._pass_on, args=(read_end,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Waits for what was written, though not for processes that the script left behind with this output."""
        os.close(self.write_end)
        self._thread.join(1.0)

    def _pass_on(self, read_end: int) -> None:
        # A character may be cut in two by the pipe.
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        begun = ""
        with open(read_end, "rb", buffering=0) as pipe:
            while data := pipe.read(65_536):
                lines, newline, begun = (begun + decoder.decode(data)).rpartition("\n")
                if newline:
                    self._send("output", stream=self._name, text=lines + newline)
                if len(begun) > _LONGEST_LINE:
                    self._send("output", stream=self._name, text=begun)
                    begun = ""
        if begun:
            self._send("output", stream=self._name, text=begun)


def _config(request: dict[str, Any]) -> RunConfig:
    folder = request["folder"]
    return RunConfig(
        interpreter=find_interpreter(request["interpreter"]),
        script=request["script"],
        is_module=request["is_module"],
        arguments=tuple(request["arguments"]),
        folder=Path(folder) if folder else None,
        environment=request["environment"],
        warmup=request["warmup"],
        active=request["active"],
        to_the_end=request["to_the_end"],
        budget_s=request["budget_s"],
        time_limit_s=request["time_limit_s"],
    )


def _paths(names: list[str]) -> list[Path]:
    return [Path(name) for name in names]


if __name__ == "__main__":
    # Unbuffered and not sys.stdin: a thread that waits inside its buffer aborts the interpreter at its end.
    with FileIO(os.dup(0)) as requests:
        Worker(requests, sys.stdout.buffer).work()

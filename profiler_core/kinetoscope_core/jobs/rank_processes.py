"""Many ranks are read by several processes, each every n-th rank, so that only a few traces are held at once."""

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from kinetoscope_core.analysis.ranks.facts import RankFacts
from kinetoscope_core.errors import TraceError

_WORTH_BYTES: Final = 32 << 20
"""So much to read is worth starting a process for."""

_MOST_PROCESSES: Final = 4


def facts_of_ranks(
    by_rank: Sequence[Sequence[Path]], sources: Sequence[str], read: Callable[[Sequence[Path]], RankFacts]
) -> Iterator[RankFacts]:
    """The facts of each rank in turn. `read` takes them from its traces, placed in the sources, in this process.

    Raises `TraceError`.
    """
    size = sum(path.stat().st_size for paths in by_rank for path in paths)
    processes = min(_cores(), _MOST_PROCESSES, len(by_rank), 1 + size // _WORTH_BYTES)
    if processes < 2:
        yield from map(read, by_rank)
        return
    shares = [by_rank[number::processes] for number in range(processes)]
    with _reading(shares, sources) as pipes:
        for number, paths in enumerate(by_rank):
            found: RankFacts | TraceError | None = None
            if number % processes < len(pipes):
                try:
                    found = pickle.load(pipes[number % processes])  # noqa: S301 - from a process of ours
                except (EOFError, pickle.UnpicklingError):  # it was ended, perhaps for want of memory
                    found = None
            if isinstance(found, TraceError):
                raise found
            yield read(paths) if found is None else found


@contextmanager
def _reading(shares: Sequence[Sequence[Sequence[Path]]], sources: Sequence[str]) -> Generator[list[IO[bytes]]]:
    """A process for each share, and what it writes, a rank at a time as it is read here. They end with us."""
    start = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import main; main()"
    started: list[subprocess.Popen[bytes]] = []
    try:
        for share in shares:
            command = [sys.executable, "-I", "-c", start, repr([[str(each) for each in paths] for paths in share])]
            pipe = subprocess.PIPE
            try:
                # In a session of its own, since a Ctrl-C is for us.
                started.append(subprocess.Popen([*command, *sources], stdin=pipe, stdout=pipe, start_new_session=True))
            except OSError:  # the system gives no more processes; the rest is read here
                break
        yield [process.stdout for process in started if process.stdout is not None]
    finally:
        for process in started:
            process.kill()
            with process:
                pass


def main() -> None:
    """Reads the ranks of a share in a process of its own."""
    from ast import literal_eval  # noqa: PLC0415

    from kinetoscope_core.jobs.ranks import PlacedTraces  # noqa: PLC0415 - it imports this module

    threading.Thread(target=_end_with_parent, daemon=True).start()
    placed = PlacedTraces([Path(source) for source in sys.argv[2:]])
    for paths in literal_eval(sys.argv[1]):
        try:
            found: RankFacts | TraceError = placed.facts_at([Path(path) for path in paths])
        except TraceError as error:
            found = error
        pickle.dump(found, sys.stdout.buffer, pickle.HIGHEST_PROTOCOL)
        sys.stdout.flush()


def _end_with_parent() -> None:
    """The input has nothing in it: it ends when the process that reads our output has gone."""
    os.read(0, 1)
    os._exit(1)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

"""Many ranks are read by several processes, each every n-th rank, so that only a few traces are held at once."""

import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from kinetoscope_core.analysis.ranks.facts import RankFacts
from kinetoscope_core.errors import TraceError
from kinetoscope_core.trace.readers import cores, end_with_parent, readers

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
    processes = min(cores(), _MOST_PROCESSES, len(by_rank), 1 + size // _WORTH_BYTES)
    if processes < 2:
        yield from map(read, by_rank)
        return
    shares = [by_rank[number::processes] for number in range(processes)]
    arguments = ([repr([[str(each) for each in paths] for paths in share]), *sources] for share in shares)
    with readers(__name__, arguments) as pipes:
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


def main() -> None:
    """Reads the ranks of a share in a process of its own."""
    from ast import literal_eval  # noqa: PLC0415

    from kinetoscope_core.jobs.ranks import PlacedTraces  # noqa: PLC0415 - it imports this module

    end_with_parent()
    placed = PlacedTraces([Path(source) for source in sys.argv[2:]])
    for paths in literal_eval(sys.argv[1]):
        try:
            found: RankFacts | TraceError = placed.facts_at([Path(path) for path in paths])
        except TraceError as error:
            found = error
        pickle.dump(found, sys.stdout.buffer, pickle.HIGHEST_PROTOCOL)
        sys.stdout.flush()

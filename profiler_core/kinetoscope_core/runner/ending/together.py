"""The end of one process of a command: alone where it may be, else with all other ranks, at one call of one region.

No rank may end by itself: the others would fail, or hang in a collective. Each closes its window when it has enough,
says so and runs on. When all have, who started them proposes a call that none has come to; a rank that comes there
waits until all have agreed. Its watching thread answers meanwhile, so a collective that waits for it holds nobody up.
"""

import os
import sys
import threading
from typing import Any, Callable, Dict, Optional

from .end import End
from .interrupts import end_here

_AGREED_WITHIN_S = 5.0
_OF_RANKS = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "LOCAL_RANK")


class Together(End):
    """Counts the entries of each place on the main thread, from the beginning, so that a call means the same to all."""

    def __init__(self, send: Callable[..., Any]) -> None:
        super().__init__(send)
        self._counts: Dict[Any, int] = {}
        self._is_forked = False
        self._has_group_of_parent = False
        self._end_place = ""
        self._end_call: Optional[int] = None
        self._is_agreed = False
        self._news = threading.Event()

    def begin_after(self, save: Callable[[str], None], why: str, *, is_raised_here: bool) -> None:
        """Ends a process that stands for itself; any other has its window closed and goes on."""
        how = self.how()
        if how == "alone":
            super().begin_after(save, why, is_raised_here=is_raised_here)
            return
        save(why)
        self._send("enough", how=how, **self.rank_facts())

    def how(self) -> str:
        """How it may end: `together` with other ranks, `alone`, or as it would have (`later`): a worker of a pool or of
        pytest-xdist hands an exception on as its result.
        """
        if self.rank_facts()["world_size"] > 1:
            return "together"
        return "later" if _is_of_xdist() or _is_worker() else "alone"

    def rank_facts(self) -> Dict[str, Any]:
        """The rank of this process among others, as far as it is one: by its process group, or by what started it."""
        group = None if self._has_group_of_parent else _process_group()
        if group is None and (self._is_forked or _is_worker()):
            return {"rank": None, "local_rank": None, "world_size": 1, "local_world_size": 0}
        found = [number for number in map(_number, _OF_RANKS) if number is not None]
        return {
            "rank": int(group.get_rank()) if group is not None else found[0] if found else None,
            "local_rank": _number("LOCAL_RANK"),
            "world_size": int(group.get_world_size()) if group is not None else _number("WORLD_SIZE") or 1,
            "local_world_size": _number("LOCAL_WORLD_SIZE") or 0,
        }

    def begin_in_child(self) -> None:
        """In a forked child: the process group of its parent, and what a launcher has announced, are not for it."""
        self._is_forked = True
        self._has_group_of_parent = _process_group() is not None

    def note_entry(self, place: Any = None) -> None:
        """That the place is entered, which a rank may have been waiting for."""
        if place is not None and threading.current_thread() is threading.main_thread():
            self._counts[place] = self._counts.get(place, 0) + 1
            if self._end_call is not None and key_of(place) == self._end_place:
                self._come_to(self.calls().get(self._end_place, 0))
        super().note_entry(place)

    def calls(self) -> Dict[str, int]:
        """How often each place has been entered on the main thread."""
        found: Dict[str, int] = {}
        for place, calls in list(self._counts.items()):
            key = key_of(place)
            if key is not None:
                found[key] = found.get(key, 0) + calls
        return found

    def propose(self, place: str, call: int) -> int:
        """The end may be there. Returns how often the place has been entered: if that is not less, it is too late."""
        self._is_agreed = False
        self._end_place, self._end_call = place, call
        self._news.set()
        return self.calls().get(place, 0)

    def agree(self) -> None:
        """All ranks will come to what was proposed last."""
        self._is_agreed = True
        self._news.set()

    def _come_to(self, call: int) -> None:
        while self._end_call is not None and call >= self._end_call and not self._is_agreed:
            self._news.clear()
            if not (self._is_agreed or self._news.wait(_AGREED_WITHIN_S)):
                self._end_call = None  # nobody answers any more
        if self._end_call is not None and call >= self._end_call:
            self._end_call = None
            self.is_over = True
            self._choose_kind()
            self._send("leaving")
            end_here(self._kind)


def key_of(place: Any) -> Optional[str]:
    """What a place is called in all processes; None as long as it is not known where it stands."""
    if isinstance(place, str):
        return place
    return f"{place.file}:{place.line}" if place.is_settled else None


def _process_group() -> Any:
    """torch.distributed, where a process group is there."""
    distributed: Any = sys.modules.get("torch.distributed")
    return distributed if distributed and distributed.is_available() and distributed.is_initialized() else None


def _is_of_xdist() -> bool:
    """Whether this is a worker of pytest-xdist: what it starts inherits the variable, and is a file or a module."""
    return "PYTEST_XDIST_WORKER" in os.environ and not hasattr(sys.modules["__main__"], "__file__")


def _is_worker() -> bool:
    """Whether multiprocessing has started this process: then what a launcher has announced is for its parent."""
    multiprocessing: Any = sys.modules.get("multiprocessing.process")
    return multiprocessing is not None and multiprocessing.parent_process() is not None


def _number(name: str) -> Optional[int]:
    text = os.environ.get(name, "")
    return int(text) if text.isdigit() else None

"""Ends every process that belongs to a run, also those that left its process group. Used by both sides."""

import contextlib
import os
import signal
from time import sleep
from typing import List

ENVIRONMENT_VARIABLE = "KINETOSCOPE_RUN"
ROUNDS = 100
SECONDS_BETWEEN_ROUNDS = 0.01
SECONDS_BETWEEN_LOOKS = 0.25


def processes_of(run_id: str) -> List[int]:
    """The ids of the living processes that inherited the run's mark (Linux; elsewhere none), without the caller."""
    mark = (ENVIRONMENT_VARIABLE + "=" + run_id).encode()
    found: List[int] = []
    if not os.path.isdir("/proc/self"):
        return found
    for entry in os.listdir("/proc"):
        if not entry.isdigit() or int(entry) == os.getpid():
            continue
        try:
            with open("/proc/" + entry + "/environ", "rb") as file:
                environment = file.read()
        except OSError:  # ended meanwhile, or another user's
            continue
        if mark in environment.split(b"\0"):
            found.append(int(entry))
    return found


def end_with_all(run_id: str, own_group: bool) -> None:
    """Ends this process with everything that the run started; who started it has gone.

    On Windows the starter's job ends them all with it (run/windows_job.py); this is for the moment before it had one.
    """
    if os.name == "posix":
        end_processes(run_id, os.getpgrp() if own_group else 0)
        os.kill(os.getpid(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGTERM)  # on Windows: TerminateProcess


def end_with_starter(run_id: str, own_group: bool) -> None:
    """`end_with_all`, as soon as who started this process has gone."""
    starter = os.getppid()
    while os.getppid() == starter:
        sleep(SECONDS_BETWEEN_LOOKS)
    end_with_all(run_id, own_group)


def end_processes(run_id: str, own_group: int = 0) -> None:
    """Kills what `processes_of` finds and, where given, the process group that the run was started in.

    Until there are none, since a process may start another one while it is looked for. The group comes last: it may be
    the caller's.
    """
    for _ in range(ROUNDS):
        found = processes_of(run_id)
        for process in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)  # only Linux finds any
        if not found:
            break
        sleep(SECONDS_BETWEEN_ROUNDS)
    if own_group and hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(own_group, signal.SIGKILL)

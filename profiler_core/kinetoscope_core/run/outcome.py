"""How a run goes and how it ended, as plain values."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from kinetoscope_core.errors import Problem

Ending = Literal["ended", "failed", "exited", "not-found", "cancelled", "time-limit", "killed"]


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run is. `phase` is text for people; the rest counts while it measures."""

    phase: str
    region: str = ""
    calls: int = 0
    complete: int = 0
    seen: int = 0
    is_leaving: bool = False
    """Whether the script, measured by now, is waited for."""


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """What the script's torch said of itself and its GPUs (`runner/profiler/recording.py`); nothing where it could not.

    `no_cuda_because` is None where there is a GPU; `is_used` says whether the script had CUDA initialised.
    """

    torch: str | None = None
    cuda: str | None = None
    devices: tuple[str, ...] = ()
    no_cuda_because: str | None = None
    is_used: bool = False


@dataclass(frozen=True, slots=True)
class ProcessOutcome:
    """One process of a command that called, and how far it came. `folder` holds its traces and its log.

    `is_lost`: it went without a word, as by SIGKILL, `while_recording` maybe.
    """

    name: str
    folder: Path
    pid: int
    host: str
    rank: int | None
    local_rank: int | None
    world_size: int
    interpreter: str
    python: str
    device: DeviceFacts
    ended_for: Literal["enough", "budget"] | None
    is_lost: bool
    while_recording: bool
    problems: tuple[Problem, ...] = ()


@dataclass(slots=True)
class Outcome:
    """How a run ended. `exit_code` is that of the process, negative for a signal."""

    ending: Ending
    exit_code: int
    seconds: float
    interpreter: str
    python: str | None = None
    failure: Problem | None = None
    script_code: int | None = None
    message: str = ""
    left_by: str | None = None
    device: DeviceFacts = field(default_factory=DeviceFacts)
    ended_for: Literal["enough", "budget"] | None = None
    """Why the script was ended early, if it was: enough was measured, or the recording had lasted as long as it may."""
    is_leaving: bool = False
    """Whether the script is still in its own clean-up."""
    lost_while: Literal["recording", "saving"] | None = None
    """What the run was doing when it ended without having saved what it had measured."""
    torch_was_imported: bool = False
    is_prepared: bool = False
    seconds_to_recording: float | None = None
    """Until measuring began; None if it did not."""
    problems: list[Problem] = field(default_factory=list[Problem])
    processes: tuple[ProcessOutcome, ...] | None = None
    """Of a command: those that called, the ranks first."""

    @property
    def what(self) -> str:
        """What ran, as messages call it."""
        return "script" if self.processes is None else "command"

    @property
    def was_ended_early(self) -> bool:
        return self.ended_for is not None

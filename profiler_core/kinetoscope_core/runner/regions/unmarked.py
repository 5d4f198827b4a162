"""Scripts in which neither the user nor torch marks anything, such as inference: their operators are recorded.

On a machine without a GPU the recording begins once torch is imported, else when the script has initialised CUDA, which
a profiler would do for it. It ends with the budget or the script, and gives way to steps and regions.
"""

import os
import sys
from typing import Any, Callable

from ..request import RunRequest

_exists = os.path.exists  # as it was before the script, which may patch it
_DEVICES = ("/dev/nvidiactl", "/dev/dxg", "/dev/nvhost-ctrl", "/dev/nvmap", "/dev/kfd")
"""One of these is there if CUDA or ROCm can be used on Linux: of NVIDIA, in WSL, of Tegra (two), of AMD."""


class Unmarked:
    """Starts a recording of plain operators where that is all there may be. `start` says whether it did."""

    def __init__(self, request: RunRequest, start: Callable[[], bool]) -> None:
        self._start = start
        self._is_wanted = request.marks_nothing and not request.has_focus and request.modules is None
        self._has_begun = False
        self._modules = 0

    def give_way(self) -> bool:
        """That the recording is of something else; whether it was one of plain operators until now."""
        was_recorded = self._is_wanted and self._has_begun
        self._is_wanted = False
        return was_recorded

    def is_recorded(self) -> bool:
        return self._is_wanted and self._has_begun

    def imports_still(self) -> bool:
        """Whether modules were loaded since this was asked the last time: the script has yet to begin."""
        before, self._modules = self._modules, len(sys.modules)
        return self._modules > before

    def note_import(self, torch: Any) -> None:
        """That torch was imported."""
        if not self._is_wanted or self._has_begun or "torch.autograd.profiler" not in sys.modules:
            return
        if _may_have_gpu(torch):
            self._wait_for_cuda(torch)
        else:
            self._has_begun = self._start()

    def _wait_for_cuda(self, torch: Any) -> None:
        cuda = torch.cuda
        initialise = cuda._lazy_init

        def noted_init() -> None:
            """What torch looks up by its name, also from C++."""
            cuda._lazy_init = initialise
            initialise()
            if self._is_wanted and not self._has_begun:
                self._has_begun = self._start()

        cuda._lazy_init = noted_init


def _may_have_gpu(torch: Any) -> bool:
    if torch.version.cuda is None and getattr(torch.version, "hip", None) is None:
        return False
    if os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1"):
        return False
    return not sys.platform.startswith("linux") or any(map(_exists, _DEVICES))

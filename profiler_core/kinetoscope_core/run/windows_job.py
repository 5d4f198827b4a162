"""A Windows job: processes that end together, also with the program that made it.

Elsewhere runner/processes.py finds them.

Source: "Job Objects", learn.microsoft.com/windows/win32/procthread/job-objects.
"""

import ctypes
import sys
from typing import Any

_EXTENDED_LIMIT_INFORMATION = 9
_KILL_ON_JOB_CLOSE = 0x2000
_SET_QUOTA_AND_TERMINATE = 0x0101
_ENDED_BY_US = 1


class _BasicLimits(ctypes.Structure):
    _fields_ = (
        ("PerProcessUserTimeLimit", ctypes.c_int64),
        ("PerJobUserTimeLimit", ctypes.c_int64),
        ("LimitFlags", ctypes.c_uint32),
        ("MinimumWorkingSetSize", ctypes.c_size_t),
        ("MaximumWorkingSetSize", ctypes.c_size_t),
        ("ActiveProcessLimit", ctypes.c_uint32),
        ("Affinity", ctypes.c_size_t),
        ("PriorityClass", ctypes.c_uint32),
        ("SchedulingClass", ctypes.c_uint32),
    )


class _ExtendedLimits(ctypes.Structure):
    _fields_ = (
        ("BasicLimitInformation", _BasicLimits),
        ("IoInfo", ctypes.c_uint64 * 6),
        ("ProcessMemoryLimit", ctypes.c_size_t),
        ("JobMemoryLimit", ctypes.c_size_t),
        ("PeakProcessMemoryUsed", ctypes.c_size_t),
        ("PeakJobMemoryUsed", ctypes.c_size_t),
    )


class Job:
    """What a process starts is in its job. When the last handle closes, as it does when we die, all of them are ended.

    Raises OSError where the system refuses it. `kernel32` is the system's, or what stands for it in a test.
    """

    def __init__(self, process: int, kernel32: Any) -> None:  # noqa: ANN401 - a library of the system
        self._kernel32 = kernel32
        self._handle = kernel32.CreateJobObjectW(None, None)
        limits = _ExtendedLimits()
        limits.BasicLimitInformation.LimitFlags = _KILL_ON_JOB_CLOSE
        size = ctypes.sizeof(limits)
        if not self._handle or not kernel32.SetInformationJobObject(
            self._handle, _EXTENDED_LIMIT_INFORMATION, ctypes.byref(limits), size
        ):
            raise OSError("Windows made no job for the script")
        opened = kernel32.OpenProcess(_SET_QUOTA_AND_TERMINATE, False, process)
        if not opened:
            raise OSError("Windows did not open the script's process")
        is_in = kernel32.AssignProcessToJobObject(self._handle, opened)
        kernel32.CloseHandle(opened)
        if not is_in:
            raise OSError("Windows did not put the script into its job")

    def end(self) -> None:
        """Ends every process in it."""
        self._kernel32.TerminateJobObject(self._handle, _ENDED_BY_US)

    def close(self) -> None:
        """Ends what is left in it."""
        self._kernel32.CloseHandle(self._handle)


def job_of(process: int) -> Job | None:
    """A job with the process in it, on Windows; None elsewhere, and where the system refuses one."""
    if sys.platform != "win32":
        return None
    kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)
    handle, number = ctypes.c_void_p, ctypes.c_uint32
    kernel32.CreateJobObjectW.restype = handle
    kernel32.CreateJobObjectW.argtypes = (handle, ctypes.c_wchar_p)
    kernel32.SetInformationJobObject.argtypes = (handle, ctypes.c_int, handle, number)
    kernel32.OpenProcess.restype = handle
    kernel32.OpenProcess.argtypes = (number, ctypes.c_int, number)
    kernel32.AssignProcessToJobObject.argtypes = (handle, handle)
    kernel32.TerminateJobObject.argtypes = (handle, number)
    kernel32.CloseHandle.argtypes = (handle,)
    try:
        return Job(process, kernel32)
    except OSError:
        return None

"""A Windows job, with a stand-in for the system's library that keeps what it was asked."""

import ctypes

import pytest

from kinetoscope_core.run.windows_job import Job, job_of


class Kernel32:
    """Answers as the system does; what is named in `refused` it does not do."""

    def __init__(self, *refused):
        self.asked = []
        self._refused = refused

    def __getattr__(self, name):
        def call(*arguments):
            self.asked.append((name, *arguments))
            return 0 if name in self._refused else {"CreateJobObjectW": 11, "OpenProcess": 22}.get(name, 1)

        return call


def test_the_script_and_what_it_starts_end_with_us():
    kernel32 = Kernel32()
    job = Job(4711, kernel32)
    names = [name for name, *_ in kernel32.asked]
    assert names == [
        "CreateJobObjectW", "SetInformationJobObject", "OpenProcess", "AssignProcessToJobObject", "CloseHandle",
    ]  # fmt: skip
    _, _, kind, limits, size = kernel32.asked[1]
    assert kind == 9
    assert limits._obj.BasicLimitInformation.LimitFlags == 0x2000
    assert size == ctypes.sizeof(limits._obj)
    assert kernel32.asked[2][-1] == 4711
    assert kernel32.asked[3][1:] == (11, 22)
    job.end()
    job.close()
    assert kernel32.asked[-2:] == [("TerminateJobObject", 11, 1), ("CloseHandle", 11)]


@pytest.mark.parametrize(
    "refused", ["CreateJobObjectW", "SetInformationJobObject", "OpenProcess", "AssignProcessToJobObject"]
)
def test_what_the_system_refuses_is_an_error(refused):
    with pytest.raises(OSError, match="Windows"):
        Job(4711, Kernel32(refused))


def test_elsewhere_there_is_no_job():
    assert job_of(4711) is None

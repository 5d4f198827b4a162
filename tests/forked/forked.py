"""Starts our programs, and interpreters that will import torch, as forks of a process that has imported all that.

Importing torch takes 2 seconds of a core, the language server 0.9, the command 0.4; some five hundred such processes
are started by the tests. A fork is a process like any other: it has its own id, its parent, session, descriptors,
signals and environment, and begins to run a program with `__main__`, `sys.argv` and `sys.path` as Python makes them.
What it has not: a start of Python of its own. Where a test has the mark `whole`, what our programs start (the script's
interpreter above all) is not forked; with `--whole`, nothing is.

Only on Linux; elsewhere every process is a whole one.
"""

import atexit
import ctypes
import fcntl
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

PROGRAM = Path(__file__).with_name("fork_server.py")
OURS = ("kinetoscope_core.cli.main", "kinetoscope_core.jobs.worker", "kinetoscope_server.__main__")
PROGRAMS = ("kinetoscope_core.cli", "kinetoscope_core.jobs.worker", "kinetoscope_server")
SCRIPTS = ("worker_without_scan.py", "faulty_server.py")
"""Our programs with something changed, among the tests."""
CARRIED = ("PYTHONPATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE")
"""What of Python's own variables is carried out for a fork, too."""
RUNNER = os.path.join("kinetoscope_core", "runner", "__main__.py")
ROOM = 1 << 16
PR_SET_CHILD_SUBREAPER = 36

whole = subprocess.Popen
_server = None
"""The address of the fork server below this process."""
_life = None
"""The descriptor whose end ends it."""
_taking_in = threading.Lock()
"""Else a thread that has its child would say for another that children are no longer taken in: whose child that is
then, nobody can wait for.
"""


class Popen(whole):
    """A process, forked if it is one of those that take long to start. So are those that it starts, if it `asks`."""

    asks = True

    def _execute_child(self, args, executable, preexec_fn, close_fds, pass_fds, cwd, env, *others):
        arguments = [os.fspath(each) for each in ([args] if isinstance(args, (str, bytes, os.PathLike)) else args)]
        environment = dict(os.environ) if env is None else dict(env)
        if _server is None or executable or preexec_fn or not _is_known(arguments, environment):
            super()._execute_child(args, executable, preexec_fn, close_fds, pass_fds, cwd, env, *others)
            return
        # As subprocess.py calls it: start-up info, flags, shell, six ends of pipes, signals, ids, umask, session
        pipes = others[3:9]
        streams = [end if end >= 0 else number for number, end in enumerate((pipes[0], pipes[3], pipes[5]))]
        given = {number: number for number in (pass_fds if close_fds else _inheritable())}
        given.update(enumerate(streams))
        request = {
            "arguments": arguments[1:],
            "cwd": os.fspath(cwd or os.getcwd()),
            "env": {os.fsdecode(name): os.fsdecode(value) for name, value in environment.items()},
            "numbers": list(given),
            "start_new_session": bool(others[14]),
            "ignored": [each for each in signal.valid_signals() if signal.getsignal(each) is signal.SIG_IGN],
            "is_ours": not arguments[1].endswith(RUNNER),
            "asks": self.asks,
        }
        self.pid = _forked(request, list(given.values()))
        self._child_created = True
        self._close_pipe_fds(*pipes)


class PopenOfWhole(Popen):
    """A process that is forked, and what it starts is not."""

    asks = False


def _is_known(arguments, environment):
    """Whether it is one of our programs, or the runner where it will find torch; by this interpreter."""
    if arguments[0] != sys.executable or len(arguments) < 2:
        return False
    if any(name.startswith("PYTHON") and name not in CARRIED for name in environment):
        return False  # they are for the start of Python
    how, *rest = [each for each in arguments[1:3] if each != "-I"] + arguments[3:]
    if how.endswith(RUNNER):
        return "PYTHONPATH" not in environment  # else there is a stand-in for torch
    if how in ("-m", "-c"):
        return any(rest[0] == each if how == "-m" else each in rest[0] for each in PROGRAMS)
    return how.endswith(SCRIPTS)


def _inheritable():
    return [number for number in map(int, os.listdir("/proc/self/fd")) if number > 2 and _is_inheritable(number)]


def _is_inheritable(number):
    try:
        return os.get_inheritable(number)
    except OSError:
        return False


def _forked(request, fds):
    """The process id of a new child of ours."""
    with _taking_in, socket.socket(socket.AF_UNIX) as line:
        line.connect(_server)
        _take_in_children(1)  # before it is asked for: else it may be there first, and is nobody's child
        try:
            socket.send_fds(line, [json.dumps(request).encode() + b"\n"], fds)
            answer = b""
            while not answer.endswith(b"\n"):
                more = line.recv(100)
                if not more:
                    raise ChildProcessError("the fork server has ended")
                answer += more
        finally:
            _take_in_children(0)
    return int(answer)


def _take_in_children(does):
    """Whether processes below this one that their parent has left become its children."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, ctypes.c_ulong(does), *[ctypes.c_ulong(0)] * 3)


def begin(address, life):
    """From now on this process has its children forked."""
    global _server, _life
    _server, _life = address, life
    subprocess.Popen = Popen


def moved_life(lowest):
    """The descriptor's new number, which is at least that; None if there is none."""
    global _life
    if _life is not None:
        _life = fcntl.fcntl(_life, fcntl.F_DUPFD_CLOEXEC, lowest)
    return _life


def new_address():
    return f"\0kinetoscope-tests-{secrets.token_hex(8)}"


def start_server():
    """Starts the fork server of a process that runs tests; it ends with it."""
    global _server
    _server = new_address()
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV_"))}
    # The environment of a fork is written over that of the server: so /proc shows it as that of any process.
    environment |= {"OMP_NUM_THREADS": "1", "FORK_SERVER_PADDING": "x" * ROOM}
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(_server)
        listener.listen(100)
        number = listener.fileno()
        command = [sys.executable, str(PROGRAM), str(number), *OURS]
        server = whole(command, stdin=subprocess.PIPE, pass_fds=[number], env=environment)

    @atexit.register
    def end():
        server.stdin.close()
        server.wait()

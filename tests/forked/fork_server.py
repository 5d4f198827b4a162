"""Interpreters that begin with modules imported: each is a fork of this one, as Python is when it begins a script.

    python fork_server.py LISTENER MODULE...

LISTENER is the number of a socket that listens. Each connection brings one request, as `forked.py` makes it, and the
descriptors that go with it; the answer is the process id. The fork becomes a child of who asks: it is left alone by its
parent, and who asks takes in the processes below it at that time. Who is to ask in its turn has a fork server below
it, a fork of this one. A fork server ends when its stdin does.

torch and all that it imports are not seen by a script until it imports them.
"""

import atexit
import ctypes
import fcntl
import gc
import importlib
import importlib.machinery
import io
import json
import os
import runpy
import select
import signal
import socket
import sys
import threading
import types

import forked

WATCHED = ("torch.autograd.profiler", "torch.profiler.profiler", "torch.nn.modules.module")
"""What the runner waits for: it must be imported by the import system, not just be there."""
HIGH = 300
"""Above the descriptors that tests give to processes."""


def receive(connection):
    """The request and the descriptors that came with it."""
    data, fds, *_ = socket.recv_fds(connection, 1 << 16, 250)
    while not data.endswith(b"\n"):
        more = connection.recv(1 << 16)
        if not more:
            raise EOFError
        data += more
    return json.loads(data), fds


def serve(listener):
    """Returns, in a fork, what it was asked for."""
    while True:
        ready, _, _ = select.select([listener, 0], [], [])
        if 0 in ready:
            os._exit(0)
        connection, _ = listener.accept()
        request, fds = receive(connection)
        between = os.fork()
        if between:
            os.waitpid(between, 0)
            connection.sendall(b"\n")
            connection.close()
            for fd in fds:
                os.close(fd)
            continue
        process = os.fork()
        if process:
            connection.sendall(str(process).encode())
            os._exit(0)
        connection.close()
        listener.close()
        if request["is_ours"] and request["asks"]:
            below = begin_below(fds)
            if below is not None:
                listener = below
                continue
        return request, fds


def begin_below(fds):
    """The listener, in the fork server below this process, and None in the process itself, which may ask there."""
    address = forked.new_address()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen(100)
    reading, writing = os.pipe()
    if os.fork():
        os.close(reading)
        listener.close()
        forked.begin(address, writing)
        return None
    os.dup2(reading, 0)
    for fd in (reading, writing, *fds):
        os.close(fd)
    return listener


def become(request, fds):
    """Takes what the system gives to a new process: session, folder, descriptors, environment, signals."""
    if request["start_new_session"]:
        os.setsid()
    os.chdir(request["cwd"])
    numbers = request["numbers"]
    kept = {forked.moved_life(HIGH), *numbers}
    high = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, HIGH) for fd in fds]
    for fd, number in zip(high, numbers, strict=True):
        os.dup2(fd, number)
    for entry in os.listdir("/proc/self/fd"):
        if int(entry) not in kept:
            try:
                os.close(int(entry))
            except OSError:
                pass  # it was that of the listing
    os.environ.clear()
    show_environment(request["env"])
    os.environ.update(request["env"])
    sys.dont_write_bytecode = bool(os.environ.get("PYTHONDONTWRITEBYTECODE"))
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        open_stream(number, name)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        if number in request["ignored"]:
            signal.signal(number, signal.SIG_IGN)
        else:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


def open_stream(number, name):
    """As Python opens its own: text that knows whether its descriptor is a terminal, and whether it can seek."""
    before = getattr(sys, name)
    raw = io.FileIO(number, "w" if number else "r", closefd=False)
    raw.name = f"<{name}>"
    is_direct = bool(number and os.environ.get("PYTHONUNBUFFERED"))
    stream = io.TextIOWrapper(
        raw if is_direct else io.BufferedWriter(raw) if number else io.BufferedReader(raw),
        encoding=before.encoding,
        errors=before.errors,
        newline="\n",
        line_buffering=number == 2 or raw.isatty(),
        write_through=is_direct,
    )
    stream.mode = "w" if number else "r"
    setattr(sys, name, stream)
    setattr(sys, f"__{name}__", stream)


def show_environment(environment):
    """Writes it where /proc/PID/environ is read from, also for what the script forks."""
    with open("/proc/self/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    start, end = int(fields[47]), int(fields[48])
    shown = b"".join(os.fsencode(f"{name}={value}") + b"\0" for name, value in environment.items())
    ctypes.memmove(start, shown[: end - start].ljust(end - start, b"\0"), end - start)


class Hidden:
    """Finds modules that were imported before, a package at a time."""

    def __init__(self, modules, of_torch):
        self._modules = modules
        self._of_torch = of_torch

    def find_spec(self, name, path=None, target=None):
        module = self._modules.get(name)
        return module and importlib.machinery.ModuleSpec(name, Loader(module, self.show), origin=module.__file__)

    def show(self, name):
        """Puts back what importing it imports."""
        package = name.partition(".")[0]
        by_torch = self._of_torch if package == "torch" else ()
        found = [each for each in self._modules if each in by_torch or package == each.partition(".")[0]]
        for each in set(found) - {*WATCHED}:
            sys.modules[each] = self._modules.pop(each)
        for each in WATCHED:
            if each in found:
                importlib.import_module(each)
                del self._modules[each]


class Loader:
    """Of one module: who waits for its import replaces `exec_module`."""

    def __init__(self, module, show):
        self._module = module
        self._spec = module.__spec__
        self._show = show

    def create_module(self, spec):
        return self._module

    def exec_module(self, module):
        module.__spec__ = self._spec
        module.__loader__ = self._spec.loader
        if module.__name__ not in WATCHED:
            self._show(module.__name__)


def packages(names):
    """Those of the modules that are not Python's own."""
    files = {name: getattr(sys.modules[name], "__file__", None) or "" for name in names}
    mine = {name for name in names if "site-packages" in files[name] or name.startswith("kinetoscope")}
    tops = {name.partition(".")[0] for name in mine}
    return {name: sys.modules[name] for name in names if name.partition(".")[0] in tops}


def run(arguments):
    """As Python does with these arguments: `-m MODULE`, `-c PROGRAM` or a script."""
    if arguments[0] == "-I":  # of the worker, which sets sys.path itself
        arguments = arguments[1:]
    how, *rest = arguments
    sys.orig_argv = [sys.executable, *arguments]
    python_path = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    sys.path[:0] = python_path
    if how == "-m":
        sys.argv[:] = rest
        sys.path.insert(0, os.getcwd())
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        return
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    if how == "-c":
        sys.argv[:] = ["-c", *rest[1:]]
        sys.path.insert(0, "")
        code = compile(rest[0], "<string>", "exec")
    else:
        sys.argv[:] = arguments
        sys.path.insert(0, os.path.dirname(os.path.abspath(how)))
        main.__file__ = how
        with open(how, "rb") as file:
            code = compile(file.read(), how, "exec")
    exec(code, main.__dict__)


def main():
    number, *modules = sys.argv[1:]
    listener = socket.socket(fileno=int(number))
    del sys.path[0]
    before = set(sys.modules)
    import torch  # noqa: F401

    of_torch = packages(set(sys.modules) - before)
    import sympy  # noqa: F401 - what compiles, steps an optimizer or starts a profiler of its own imports it

    hidden = packages(set(sys.modules) - before)
    before = set(sys.modules)
    for module in modules:
        importlib.import_module(module)
    for module in modules:  # each may be run as __main__
        del sys.modules[module]
    ours = packages(set(sys.modules) - before)
    gc.collect()
    gc.freeze()
    request, fds = serve(listener)
    become(request, fds)
    for name in hidden if request["is_ours"] else [*hidden, *ours, "forked"]:
        del sys.modules[name]
    keep(dict(hidden))
    sys.meta_path.insert(0, Hidden(hidden, of_torch))
    return request


def keep(modules):
    """Leaves torch as it is when Python ends: taking it down takes half of the CPU time of a short script.

    Of the script itself all is taken down, and what C or C++ has printed is written.
    """

    def hide():
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(modules))
        for name in modules:
            sys.modules.pop(name, None)

    atexit.register(hide)
    libc = ctypes.CDLL(None)
    libc.on_exit(libc._exit, None)  # the last, before what libraries have registered when they were loaded
    libc.on_exit(libc._IO_flush_all, None)


def end(code):
    """As Python ends a program, but for the modules: taking down those of torch takes a fifth of a second of a core."""
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    request = main()
    try:
        run(request["arguments"])
    except SystemExit as error:
        if not request["is_ours"] or not isinstance(error.code, (int, type(None))):
            raise
        end(error.code or 0)
    if request["is_ours"]:
        end(0)

"""`kinetoscope serve`, also `python -m kinetoscope_server`: the language server over stdin and stdout, or over TCP."""

import sys

if __name__ == "__main__":
    # `-m` has put the working directory there: what is imported from here on must not be found in a workspace.
    del sys.path[0]

import argparse
import asyncio
import logging
import os
from collections.abc import Sequence
from typing import NoReturn

from pygls.io_ import StdoutWriter

from kinetoscope_core import __version__, log_file
from kinetoscope_core.errors import KinetoscopeError
from kinetoscope_server.features import commands, requests, standard
from kinetoscope_server.protocol.transport import Receiver, Streams, accept_tcp, claim_stdio
from kinetoscope_server.server import KinetoscopeServer

log = logging.getLogger("kinetoscope_server")


def main(arguments: Sequence[str] | None = None) -> int:
    """Serves one editor. Does not return, unless nothing can be served: the process ends with it."""
    options = _parse(sys.argv[1:] if arguments is None else arguments)
    try:
        log_file.log_to(options.log)
    except KinetoscopeError as error:
        sys.stderr.write(f"kinetoscope serve: {error}\n")
        return error.exit_code
    streams = claim_stdio() if options.tcp is None else accept_tcp(*options.tcp)
    logging.basicConfig(stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    for handler in logging.getLogger().handlers:  # a log file has more than that
        handler.setLevel(options.stderr)
    logging.getLogger().setLevel(options.stderr)
    # At INFO every message is logged, whole texts of files included.
    logging.getLogger("pygls").setLevel(logging.ERROR)
    try:
        return asyncio.run(_serve(streams))
    except KeyboardInterrupt:
        _leave(130)


def _leave(code: int) -> NoReturn:
    """Not by returning: asyncio waits for its tasks and threads, Python for those that read a pipe, and one that hangs
    would keep the process for ever. Our worker ends with its input.
    """
    sys.stderr.flush()
    os._exit(code)


async def _serve(streams: Streams) -> NoReturn:
    server = KinetoscopeServer()
    standard.register(server)
    commands.register(server)
    requests.register(server)
    server.protocol.set_writer(StdoutWriter(streams.writing))
    receiver = Receiver(streams.reading, asyncio.get_running_loop())
    server.on_orphaned = receiver.end
    receiver.start()
    try:
        await server.speaking.serve(receiver)
    except SystemExit as end:  # from `exit`
        _leave(end.code if isinstance(end.code, int) else 1)
    log.info("the editor has gone")
    _leave(1)


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="kinetoscope serve", description="The language server, over stdin and stdout."
    )
    parser.add_argument("--version", action="version", version=f"kinetoscope {__version__}")
    parser.add_argument("--stdio", action="store_true", help="use stdin and stdout, which is the default")
    parser.add_argument("--tcp", metavar="HOST:PORT", type=_address, help="serve one client over TCP, for debugging")
    parser.add_argument("--log", metavar="FILE", help="append a log to this file, for bug reports")
    parser.add_argument(
        "--stderr", metavar="LEVEL", type=_level, default="WARNING", help="level of the messages on stderr (WARNING)"
    )
    return parser.parse_args(arguments)


def _level(text: str) -> str:
    if text.upper() not in ("DEBUG", "INFO", "WARNING", "ERROR"):
        raise argparse.ArgumentTypeError(f"{text!r} is none of DEBUG, INFO, WARNING, ERROR")
    return text.upper()


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not port.isdigit() or int(port) > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST:PORT")
    return host or "127.0.0.1", int(port)


if __name__ == "__main__":
    sys.exit(main())

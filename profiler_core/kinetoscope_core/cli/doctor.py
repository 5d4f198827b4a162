"""`kinetoscope doctor`: prints what there is to measure with, and what is wrong with it."""

import argparse
import sys
from collections.abc import Sequence

import orjson

from kinetoscope_core.errors import InterpreterError
from kinetoscope_core.jobs.doctor import diagnosis, text_of
from kinetoscope_core.runner.request import RunRequest


def run(options: argparse.Namespace, _: Sequence[str]) -> int:
    """0 where regions can be measured, on the CPU at least; else 2."""

    def say(text: str) -> None:
        sys.stderr.write(f"kinetoscope: {text}\n")
        sys.stderr.flush()

    found = diagnosis(RunRequest(options.script or "", interpreter=options.python), say)
    if options.json:
        sys.stdout.buffer.write(orjson.dumps(found.as_dict(), option=orjson.OPT_INDENT_2) + b"\n")
    else:
        sys.stdout.write(text_of(found))
    sys.stdout.flush()
    return InterpreterError.exit_code if found.measures is None else 0

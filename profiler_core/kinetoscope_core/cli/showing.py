"""Where the command's words and results go: results to stdout, all else to stderr."""

import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from kinetoscope_core.output.sarif import to_sarif
from kinetoscope_core.output.terminal import print_result
from kinetoscope_core.results.result import Result, to_json
from kinetoscope_core.source.placement.fingerprints import file_digest
from kinetoscope_core.text import printable


def say(text: str) -> None:
    """A line on stderr."""
    with suppress(BrokenPipeError):  # who reads our messages may go before the run ends
        sys.stderr.write(f"kinetoscope: {printable(text)}\n")
        sys.stderr.flush()


def _for_others(result: Result) -> Result:
    """Without how the sources stood, which is of use to editors alone, and without values of variables: what is printed
    goes into logs and reports, and they may be secrets.
    """
    run = result.run
    if run is not None:
        run = replace(run, environment=dict.fromkeys(run.environment, "…"))
    return replace(result, run=run, sources={})


def show(result: Result, *, as_json: bool) -> None:
    """Prints a result, and its problems to stderr."""
    if as_json:
        sys.stdout.buffer.write(to_json(_for_others(result), is_indented=True))
        sys.stdout.flush()
    else:
        print_result(console(), result, _texts(result))
        sys.stdout.flush()  # the script may go on for a while
    for problem in result.problems:
        say(f"note: {problem.message}")


def _texts(result: Result) -> Mapping[str, str]:
    texts: dict[str, str] = {}
    for file in {region.file for region in result.regions if region.file is not None}:
        data = Path(file).read_bytes() if Path(file).is_file() else b""
        # Beside a text that is not the one that ran, the times would stand at wrong lines.
        if any(each.file == file_digest(data) for each in result.sources.get(file, ())):
            texts[file] = data.decode("utf-8", "replace")
    return texts


def console() -> Console:
    """Stdout."""
    # Piped, nothing may be cut to a width that only a terminal has.
    return Console(width=None if sys.stdout.isatty() else 200, highlight=False, emoji=False, markup=False)


def report(result: Result, sarif: Path | None) -> None:
    """Writes the SARIF file that was asked for."""
    if sarif is not None:
        sarif.write_bytes(to_sarif(result, Path.cwd()))

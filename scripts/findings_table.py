"""Which finding is found in which recording: the table of docs/findings/README.md, and the evidence to check it by.

    python scripts/findings_table.py [TRACE …]           all recordings of tests/traces by default
    python scripts/findings_table.py --messages [TRACE …]

Runs of ours (a folder with a region log beside the trace) are measured as such: their warm-up calls don't count.
"""

import argparse
import gzip
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from kinetoscope_core.analysis.findings import BOUNDS
from kinetoscope_core.errors import KinetoscopeError
from kinetoscope_core.jobs.measure import measure_run, measure_traces
from kinetoscope_core.results.measures import Finding
from kinetoscope_core.results.result import Result
from kinetoscope_core.run.outcome import DeviceFacts, Outcome
from kinetoscope_core.runner.request import RunRequest
from kinetoscope_core.source.snapshot import Sources

TRACES = Path(__file__).parents[1] / "tests" / "traces"


def recordings() -> list[Path]:
    """Those of the repository: traces, and folders of runs."""
    made = [path for path in TRACES.glob("made/*.json") if not path.name.startswith(("broken", "expected"))]
    return sorted([*TRACES.glob("h200/*.gz"), *TRACES.glob("cpu/*.gz"), *made, *TRACES.glob("runs/*")])


def result_of(path: Path) -> Result:
    """What is measured of a trace or of a run's folder. Raises `KinetoscopeError`."""
    if not path.is_dir():
        return measure_traces([path], [])
    told = json.loads((path / "result.json").read_text(encoding="utf-8"))
    run = told["run"]
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "regionlog.json").write_bytes((path / "regionlog.json").read_bytes())
        for trace in path.glob("trace-*.gz"):
            (folder / trace.stem).write_bytes(gzip.decompress(trace.read_bytes()))
        device = DeviceFacts(torch=told["torch"], cuda=None, devices=(told["device"]["name"],))
        outcome = Outcome(run["ending"], 0, 0.0, run["interpreter"], device=device, torch_was_imported=True)
        request = RunRequest(run["script"], warmup=run["warmup"], active=run["active"])
        return measure_run(request, outcome, folder, run["started"], None, Sources())


def found_in(result: Result) -> Iterator[tuple[str, Finding]]:
    """Region and finding, without bounds, which every region has; the run as a whole is named `(run)`."""
    for region in result.regions:
        for finding in region.findings:
            if finding.code not in BOUNDS:
                yield region.name, finding
    for finding in result.findings:
        yield "(run)", finding


def name_of(path: Path) -> str:
    """As the table shows it."""
    return f"{path.parent.name}/{path.name.removesuffix('.gz').removesuffix('.json')}"


def row_of(path: Path) -> str:
    """One row of the table."""
    codes: dict[str, list[str]] = {}
    for region, finding in found_in(result_of(path)):
        codes.setdefault(finding.code, []).append(region)
    cells = [f"{code} ({', '.join(regions)})" for code, regions in codes.items()]
    return f"| {name_of(path)} | {'; '.join(cells)} |"


def main() -> None:
    """Prints the table, or each message."""
    parser = argparse.ArgumentParser(description="Which finding is found in which recording.")
    parser.add_argument("traces", metavar="TRACE", nargs="*", type=Path, help="default: those of tests/traces")
    parser.add_argument("--messages", action="store_true", help="print what each finding says, with its evidence")
    options = parser.parse_args()
    for path in options.traces or recordings():
        try:
            if not options.messages:
                print(row_of(path))
                continue
            print(name_of(path))
            for region, finding in found_in(result_of(path)):
                print(f"    {finding.severity} {finding.code} [{region}] {finding.message} {dict(finding.evidence)}")
        except KinetoscopeError as error:
            print(f"{name_of(path)}: {error}", file=sys.stderr)


if __name__ == "__main__":
    main()

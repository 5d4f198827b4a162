"""Writes the answer of `kinetoscope/run` for traces from elsewhere, as the server makes it: real data for the panel.

.venv/bin/python tests/end_to_end/panel_sample.py OUT.json TRACE… [--source FILE] [--before TRACE]
.venv/bin/python tests/end_to_end/panel_sample.py OUT.json RESULT.json[.gz]

The second form is for what `kinetoscope profile --json` wrote.

With what was before: `{"run": …, "before": …, "comparison": …}`, the last as `kinetoscope/comparison` answers it.
"""

import argparse
import gzip
from collections.abc import Sequence
from pathlib import Path

import orjson

from kinetoscope_core.analysis.comparison import compare
from kinetoscope_core.jobs.measure import measure_traces
from kinetoscope_core.results import comparison
from kinetoscope_core.results.result import Result, from_dict, to_json
from kinetoscope_server.features.whole_run import whole_run
from kinetoscope_server.results.shown import Shown
from kinetoscope_server.text.documents import Documents


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("traces", type=Path, nargs="+")
    parser.add_argument("--source", type=Path, action="append", default=[])
    parser.add_argument("--before", type=Path)
    asked = parser.parse_args()
    run, answer = _run("loaded-2", asked.traces, asked.source)
    if asked.before:
        before, answer_before = _run("loaded-1", [asked.before], asked.source)
        compared = comparison.to_json(compare([before], [run], (["loaded-1"], ["loaded-2"])))
        answer = {"run": answer, "before": answer_before, "comparison": orjson.loads(compared)}
    asked.out.write_bytes(orjson.dumps(answer))


def _run(run: str, traces: Sequence[Path], sources: Sequence[Path]) -> tuple[Result, object]:
    (first, *_) = traces
    values = orjson.loads(gzip.decompress(first.read_bytes()) if first.suffix == ".gz" else first.read_bytes())
    if "schema" in values:
        result = from_dict(values)
    else:
        result = measure_traces(traces, [source.resolve() for source in sources])
        values = orjson.loads(to_json(result))
    return result, whole_run(values, Shown.of(values, run), Documents(), lambda _shown, _file: False)


main()

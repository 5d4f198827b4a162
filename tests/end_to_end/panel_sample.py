"""Writes the answer of `kinetoscope/run` for traces from elsewhere, as the server makes it: real data for the panel.

.venv/bin/python tests/end_to_end/panel_sample.py OUT.json TRACE… [--source FILE]
"""

import argparse
from pathlib import Path

import orjson

from kinetoscope_core.jobs.measure import measure_traces
from kinetoscope_core.results.result import to_json
from kinetoscope_server.features.whole_run import whole_run
from kinetoscope_server.results.shown import Shown
from kinetoscope_server.text.documents import Documents


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("traces", type=Path, nargs="+")
    parser.add_argument("--source", type=Path, action="append", default=[])
    asked = parser.parse_args()
    values = orjson.loads(to_json(measure_traces(asked.traces, [source.resolve() for source in asked.source])))
    shown = Shown.of(values, "loaded-1")
    answer = whole_run(values, shown, Documents(), lambda _shown, _file: False)
    asked.out.write_bytes(orjson.dumps(answer))


main()

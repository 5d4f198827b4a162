"""Traces made by hand: calls of regions in which operators launch what is asked for."""

import json
import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from kinetoscope_core.jobs.measure import measure_traces

ROOT = Path(__file__).parents[2]
TRACES = ROOT / "tests" / "traces"
SHARED = next((each / "shared" for each in ROOT.parents if (each / "shared" / "cases").is_dir()), Path("/nowhere"))


def _script():
    spec = spec_from_file_location("findings_table", ROOT / "scripts" / "findings_table.py")
    module = sys.modules["findings_table"] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


table = _script()


def found_in(result):
    """All findings but bounds, by region and code."""
    return {(region, finding.code): finding for region, finding in table.found_in(result)}


def found(path):
    """The same of a recording in tests/traces."""
    return found_in(table.result_of(TRACES / path))


class Made:
    """A trace in which operators launch what is asked for. Times are microseconds."""

    def __init__(self):
        self.events = []
        self.correlation = 0

    def slice(self, category, name, start_us, duration_us, tid=1, **arguments):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": (tid == 7 and 1000) or 100, "tid": tid,
                            "ts": start_us, "dur": duration_us, "args": arguments})  # fmt: skip

    def launch(
        self, start_us, kernel, device_us, *, call="cudaLaunchKernel", category="kernel", tid=1, stream=7, device=0,
        **more
    ):  # fmt: skip
        """A call of 2 µs, and the activity that it launches 5 µs later."""
        self.correlation += 1
        self.slice("cuda_runtime", call, start_us, 2.0, tid, correlation=self.correlation)
        arguments = {"correlation": self.correlation, "stream": stream, "device": device, **more}
        self.events.append({"ph": "X", "cat": category, "name": kernel, "pid": device, "tid": stream,
                            "ts": start_us + 5, "dur": device_us, "args": arguments})  # fmt: skip

    def measured(self, folder):
        path = folder / "made.json"
        path.write_text(json.dumps({"traceEvents": self.events}))
        return measure_traces([path], [])

    def found(self, folder):
        return found_in(self.measured(folder))

    def bounds(self, folder):
        return {region.name: region.bound for region in self.measured(folder).regions}


def calls(number=5, name="r") -> Iterator[tuple[Made, float]]:
    """Calls of one region, 1 ms long each, one every 2 ms."""
    made = Made()
    for call in range(number):
        made.slice("user_annotation", name, 2000.0 * call, 1000.0)
        yield made, 2000.0 * call

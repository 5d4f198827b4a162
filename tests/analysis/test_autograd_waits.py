"""What calls wait for the autograd thread, against a count from the events of the trace alone."""

import gzip
import json
from collections import Counter
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import pytest

from kinetoscope_core.jobs.measure import measure_traces

TRACES = Path(__file__).parents[1] / "traces"
EVALUATE = "autograd::engine::evaluate_function: "
ON_CPU = ("cpu_op", "user_annotation", "cuda_runtime", "cuda_driver")


def counted(trace: Path, region: str) -> tuple[int, Counter[str]]:
    """The nanoseconds in which an operator of the autograd thread runs, nothing on the region's own thread in it does,
    and a call of the region is open; and the same for each name of the outermost operators.
    """
    events = json.loads(gzip.decompress(trace.read_bytes()), parse_float=Decimal)["traceEvents"]
    slices = [
        (int(each["ts"] * 1000), int((each["ts"] + each["dur"]) * 1000), each["tid"], each["name"], each["cat"])
        for each in events
        if each.get("ph") == "X" and each.get("cat") in ON_CPU
    ]
    autograd = {tid for _, _, tid, name, _ in slices if name.startswith(EVALUATE)}
    waited_ns, of_names = 0, Counter[str]()
    for enter, leave, thread, name, category in slices:
        if (name, category) != (region, "user_annotation"):
            continue
        inside = [each for each in slices if each[2] == thread and enter <= each[0] < leave and each[3] != region]
        operators = [
            each for each in slices if each[2] in autograd and each[4] == "cpu_op" and enter <= each[0] < leave
        ]
        outermost = [each for each in operators if not any(o[0] <= each[0] < o[1] for o in operators if o != each)]
        moments = sorted({moment for each in (*inside, *operators) for moment in each[:2]} | {enter, leave})
        for begin, end in pairwise(moment for moment in moments if enter <= moment <= leave):
            running = [each[3] for each in outermost if each[0] <= begin < each[1]]
            if running and not any(each[0] <= begin < each[1] for each in inside):
                waited_ns += end - begin
                of_names.update(dict.fromkeys(running, end - begin))
    return waited_ns, of_names


def test_what_backward_waits_for_is_counted_to_the_nanosecond() -> None:
    trace = TRACES / "h200" / "train_mlp.json.gz"
    waited_ns, of_names = counted(trace, "backward")
    assert waited_ns == 9_611_365
    result = measure_traces([trace], [])
    regions = {region.name: region for region in result.regions}
    parts = regions["backward"].breakdown
    assert parts.cpu_autograd_wait_ns == waited_ns
    assert parts.cpu_self_ns == regions["backward"].cpu_self_ns.sum == 15_496_832
    assert [(each.name, each.cpu_total_ns) for each in parts.autograd_operators] == of_names.most_common(25)
    assert all(each.is_on_other_thread for each in parts.autograd_operators)
    assert parts.autograd_operator_names == len(of_names)
    launched = {each.name: each.cuda_total_ns for each in parts.operators if each.is_on_other_thread}
    assert launched.items() <= {each.name: each.cuda_total_ns for each in parts.autograd_operators}.items()
    assert [name for name, each in regions.items() if each.breakdown.cpu_autograd_wait_ns] == ["backward"]


@pytest.mark.parametrize(
    "trace", sorted(TRACES.glob("**/*.json.gz")), ids=lambda path: f"{path.parent.name}-{path.name}"
)
def test_a_wait_is_part_of_cpu_self_and_made_of_what_ran_meanwhile(trace: Path) -> None:
    for region in measure_traces([trace], []).regions:
        parts = region.breakdown
        assert 0 <= parts.cpu_autograd_wait_ns <= parts.cpu_self_ns
        if parts.autograd_operator_names <= len(parts.autograd_operators):
            assert sum(each.cpu_total_ns for each in parts.autograd_operators) >= parts.cpu_autograd_wait_ns
        assert (parts.autograd_operator_names > 0) >= (parts.cpu_autograd_wait_ns > 0)

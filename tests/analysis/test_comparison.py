"""Comparisons of results: which region is which, what changed of it, and the guide's own comparisons on an H200."""

from dataclasses import replace
from pathlib import Path

import orjson
import pytest

from kinetoscope_core.analysis.comparison import compare
from kinetoscope_core.jobs.measure import measure_traces
from kinetoscope_core.output.comparison_text import arrow_text, verdict_text, what_changed
from kinetoscope_core.results.comparison import to_json
from kinetoscope_core.results.result import rows_of
from kinetoscope_core.source.placement import fingerprints_of
from kinetoscope_core.trace import read_trace

TRACES = Path(__file__).parents[1] / "traces"
BEFORE = """\
from torch.profiler import record_function

def step(model, data):
    with record_function("forward"):
        out = model(data)
    with record_function("loss"):
        return out.sum()
"""
MOVED = '''\
"""Now with more above."""
from torch.profiler import record_function

LOSS_WEIGHT = 2

def step(model, data):
    with record_function("all of forward"):
        out = model(data)

    with record_function("loss"):
        return LOSS_WEIGHT * out.sum()
'''


@pytest.fixture(scope="module")
def trained():
    return measure_traces([TRACES / "h200" / "train_mlp.json.gz"], [])


def guide(name):
    return measure_traces([TRACES / "compare" / f"matmul_add_{name}.json.gz"], [])


def placed(result, text, lines):
    """The regions of those names at those lines of a source with that text."""
    rows = {each.name: each for each in result.regions}
    regions = tuple(replace(rows[taken], name=name, file="/a.py", line=line) for name, taken, line in lines)
    return replace(result, regions=regions, groups=(), sources={"/a.py": tuple(fingerprints_of(text))})


def test_a_result_compared_with_itself_has_no_difference(trained):
    comparison = compare([trained], [trained])
    assert len(comparison.regions) == len(rows_of(trained))
    for region in comparison.regions:
        assert region.where == "both"
        assert region.was is None
        changes = (region.cpu_total_ns, region.cpu_self_ns, region.cuda_total_ns, region.cuda_self_ns)
        assert {each.verdict for each in changes} == {"same"}
        assert what_changed(region) == []
    assert (comparison.differences, comparison.code_changed) == ((), ())


def test_a_region_renamed_and_moved_is_still_one_region(trained):
    a = placed(trained, BEFORE, [("forward", "forward", 4), ("loss", "backward", 6)])
    b = placed(trained, MOVED, [("all of forward", "forward", 7), ("loss", "backward", 10)])
    forward, loss = compare([a], [b]).regions
    assert (forward.name, forward.line, forward.where) == ("all of forward", 7, "both")
    assert (forward.was.name, forward.was.line) == ("forward", 4)
    assert what_changed(forward) == ["Was forward at line 4."]
    assert (loss.name, loss.line, loss.where, loss.was.line) == ("loss", 10, "both", 6), "its own code changed"
    assert {forward.cuda_total_ns.verdict, loss.cuda_total_ns.verdict} == {"same"}


def test_a_region_that_one_side_has_is_listed_and_compared_with_nothing(trained):
    a = placed(trained, BEFORE, [("forward", "forward", 4)])
    b = placed(trained, BEFORE, [("loss", "backward", 6)])
    new, gone = compare([a], [b]).regions
    assert (new.name, new.where, new.cpu_total_ns.a, new.cpu_total_ns.verdict) == ("loss", "b", None, "unknown")
    assert (gone.name, gone.where, gone.cpu_total_ns.b) == ("forward", "a", None)
    assert verdict_text(gone.cpu_total_ns) == ""


def test_names_of_one_line_are_told_apart():
    text = (
        "from torch.profiler import record_function\nfor i in range(2):\n    with record_function(f'layer {i}'): pass\n"
    )
    result = measure_traces([TRACES / "h200" / "train_mlp.json.gz"], [])
    lines = [("layer 0", "forward", 3), ("layer 1", "backward", 3)]
    a, b = placed(result, text, lines), placed(result, "\n" + text, [(n, t, 4) for n, t, _ in reversed(lines)])
    assert [(each.name, each.was.name, each.cuda_total_ns.verdict) for each in compare([a], [b]).regions] == [
        ("layer 1", "layer 1", "same"),
        ("layer 0", "layer 0", "same"),
    ]


def test_processes_are_samples_and_calls_are_not(trained):
    """One process against one says nothing of CPU times, however many calls each has; five of each do."""

    def slower(factor):
        regions = (
            replace(each, cpu_total_ns=replace(each.cpu_total_ns, median=int(each.cpu_total_ns.median * factor)))
            for each in trained.regions
        )
        return replace(trained, regions=tuple(regions), groups=())

    now = [slower(1.5 + number / 100) for number in range(5)]
    before = [slower(1 + number / 100) for number in range(5)]
    (one,) = (each for each in compare(before[:1], now[:1]).regions if each.name == "forward")
    assert (one.cpu_total_ns.verdict, arrow_text(one.cpu_total_ns)) == ("unknown", "")
    comparison = compare(before, now)
    (five,) = (each for each in comparison.regions if each.name == "forward")
    assert comparison.b.processes == 5
    assert (five.cpu_total_ns.verdict, arrow_text(five.cpu_total_ns)) == ("slower", "▲49 %")


def test_what_one_side_took_to_warm_up_is_no_change(trained):
    """A run whose time was up after the call that compiled, against one that came to the calls after it."""

    def took(factor, *, is_cold):
        regions = (
            replace(each, is_cold=is_cold, cpu_total_ns=replace(each.cpu_total_ns, median=int(10**8 * factor)))
            for each in trained.regions
        )
        return replace(trained, regions=tuple(regions), groups=())

    def verdict(a, b):
        (forward,) = (each for each in compare(a, b).regions if each.name == "forward")
        return forward.cpu_total_ns.verdict

    warm, cold = took(1, is_cold=False), took(90, is_cold=True)
    assert (verdict([warm], [cold]), verdict([cold], [warm])) == ("unknown", "unknown")
    assert verdict([warm], [cold, warm]) == "same", "a process that is warm counts, the cold one does not"
    assert verdict([cold], [took(1, is_cold=True)]) == "faster"
    assert verdict([took(9000, is_cold=False)], [cold]) == "faster", "though it is cold"
    assert verdict([cold], [took(9000, is_cold=False)]) == "slower"


def test_a_comparison_mirrors_its_reverse(trained):
    other = measure_traces([TRACES / "h200" / "train_mlp.json.gz"], [])
    a = placed(trained, BEFORE, [("forward", "forward", 4), ("loss", "backward", 6)])
    b = placed(other, MOVED, [("all of forward", "backward", 7), ("more", "forward", 10)])
    opposite = {"faster": "slower", "slower": "faster", "a": "b", "b": "a"}
    sides = [{(each.was or each).name: each for each in compare([a], [b]).regions}]
    sides.append({each.name: each for each in compare([b], [a]).regions})
    forth, back = sides
    assert forth.keys() == back.keys() == {"forward", "loss", "more"}
    for name, there in forth.items():
        here = back[name]
        assert here.where == opposite.get(there.where, there.where)
        assert (here.launches, here.bound) == (there.launches[::-1], there.bound[::-1])
        for change, reverse in ((there.cpu_total_ns, here.cpu_total_ns), (there.cuda_total_ns, here.cuda_total_ns)):
            assert (reverse.a, reverse.b) == (change.b, change.a)
            assert reverse.verdict == opposite.get(change.verdict, change.verdict)
        if there.where != "both":
            continue
        assert [each.name for each in here.kernels.new] == [each.name for each in there.kernels.gone]
        assert here.kernels.same == there.kernels.same
        assert (here.findings_new, here.findings_gone) == (there.findings_gone, there.findings_new)


def test_as_json_it_has_what_the_docs_say(trained):
    values = orjson.loads(to_json(compare([trained], [trained])))
    assert values["schema"] == 1
    region = values["regions"][0]
    assert region["in"] == "both"
    assert set(region["cpu_total_ns"]) == {"a", "b", "change", "low", "high", "verdict", "more_runs"}
    assert set(region["kernels"]) == {"new", "gone", "changed", "same", "is_whole"}
    assert set(region["bound"]) == set(region["launches"]) == {"a", "b"}


# --- the guide, recorded on an H200


@pytest.mark.parametrize(
    ("a", "b", "verdict", "arrow", "launches"),
    [
        ("64", "4096", "slower", "▲60×", (2, 3)),
        ("64", "64_compiled", "faster", "▼42 %", (2, 1)),
        ("4096", "4096_compiled", "faster", "▼18 %", (3, 2)),
        ("64_fp32", "64", "faster", "▼18 %", (2, 2)),
        ("4096_fp32", "4096", "faster", "▼13×", (2, 3)),
    ],
)
def test_what_the_guide_has_its_readers_find(a, b, verdict, arrow, launches):
    (region, *_) = compare([guide(a)], [guide(b)]).regions
    assert (region.name, region.cuda_total_ns.verdict, arrow_text(region.cuda_total_ns)) == (
        "matmul_add",
        verdict,
        arrow,
    )
    assert region.launches == launches
    names = {
        side: {trace.names[name] for trace in [read_trace(path)[0]] for name in trace.device.name}
        for side, path in ((each, TRACES / "compare" / f"matmul_add_{each}.json.gz") for each in (a, b))
    }
    assert {each.name for each in region.kernels.new} <= names[b] - names[a]
    assert {each.name for each in region.kernels.gone} <= names[a] - names[b]
    assert region.kernels.new
    assert region.kernels.gone
    assert region.kernels.is_whole


def test_larger_matrices_change_the_bound():
    (region,) = compare([guide("64")], [guide("4096")]).regions
    assert region.bound == ("overhead", "compute")
    said = what_changed(region)
    assert "GPU launches per call: 2 → 3." in said
    assert "Bound: overhead-bound → compute-bound." in said


def test_bfloat16_uses_tensor_cores():
    (region,) = compare([guide("4096_fp32")], [guide("4096")]).regions
    assert region.findings_gone == ("tensor-cores-unused",)

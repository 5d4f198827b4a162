"""Each rule finds what it is about and nothing else: on recordings, and on traces made by hand where none has the case.

The numbers were worked out from the raw JSON by a script that shares no code with this project, but for those of
backward-elsewhere and kernel-time-varies, which hold what the rules said.
"""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from kinetoscope_core.findings import BOUNDS, BY_CODE, RULES
from kinetoscope_core.findings.pages import codes_with_a_page, text_of
from kinetoscope_core.findings.suppressing import ignored_at, ignored_codes
from kinetoscope_core.measuring import measure_traces
from kinetoscope_core.regions import SourceRegions
from kinetoscope_core.results import from_dict, to_json

ROOT = Path(__file__).parents[2]
TRACES = ROOT / "tests" / "traces"


def _script():
    spec = importlib.util.spec_from_file_location("findings_table", ROOT / "scripts" / "findings_table.py")
    module = sys.modules["findings_table"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


table = _script()


def found(path):
    """All findings but bounds, by region and code."""
    return {(region, finding.code): finding for region, finding in table.found_in(table.result_of(TRACES / path))}


RECORDED = [
    ("h200/odd_overhead.json.gz", "tiny_ops", "tiny-kernels", "warning",
     {"kernels_per_call": 200, "mean_kernel_ns": 903, "gpu_busy_ns": 180_833}, 4 * 2_726_429),
    ("h200/train_mlp.json.gz", "data", "pageable-copy", "information",
     {"copies": 4, "bytes": 8_388_608, "gpu_ns": 426_401, "cpu_ns": 888_764}, 888_764),
    ("h200/train_mlp.json.gz", "data", "idle-gap", "warning",
     {"gap_ns": 4_673_255, "call_ns": 9_471_167, "calls_with_one": 4, "cpu_was_in": "aten::randn"}, 23_148_163),
    ("h200/train_mlp.json.gz", "backward", "tensor-cores-unused", "information",
     {"kernels": 28, "gpu_ns": 819_613}, 819_613 * 7 // 8),
    ("h200/train_mlp.json.gz", "forward", "backward-elsewhere", "hint",
     {"backward_gpu_ns": 1_097_278, "own_gpu_ns": 761_756}, None),
    ("h200/train_mlp.json.gz", "backward", "profiler-overhead", "information",
     {"overhead_ns": 2_521_618, "in_the_median_ns": 0, "calls_with_it": 1}, None),
    ("h200/odd_async_tail.json.gz", "wait", "waiting-for-gpu", "information",
     {"waits": 4, "waited_ns": 4_201_221, "gpu_busy_ns": 4_124_775}, None),
    ("runs/waits", "wait", "waiting-for-gpu", "information",
     {"waits": 5, "waited_ns": 65_598_569, "gpu_busy_ns": 65_395_403}, None),
    ("runs/waits", "item", "kernel-time-varies", "information",
     {"min_ns": 54_175, "max_ns": 127_487, "calls": 5}, None),
    ("runs/train_mlp_focus", "load", "waiting-for-data", "warning",
     {"batches": 5, "loading_ns": 3_815_848, "idle_ns": 3_815_848}, 3_815_848),
    ("h200/matmul_add_64.json.gz", "matmul_add", "cold-start", "information",
     {"first_ns": 151_495_410, "loading_ns": 473_776}, None),
    ("h200/matmul_add_4096_compile.json.gz", "matmul_add", "compile-tax", "information", {"compiled_calls": 5}, None),
    ("h200/odd_threads.json.gz", "(run)", "threads-without-region", "information",
     {"gpu_ns": 1_508_776, "threads": 2}, None),
    ("cpu/recompile.json.gz", "compiled", "compiling", "warning", {"compilations": 2, "graphs": 3}, None),
]  # fmt: skip


@pytest.mark.parametrize(("trace", "region", "code", "severity", "evidence", "saves"), RECORDED)
def test_a_rule_finds_what_a_recording_has(trace, region, code, severity, evidence, saves):
    finding = found(trace)[region, code]
    assert {key: finding.evidence[key] for key in evidence} == evidence
    assert finding.severity == severity
    if saves is not None:
        assert finding.saves_at_most_ns == saves
    assert finding.spot is not None
    assert finding.message.endswith(".")


# As above, for the scripts of examples/findings on an H200, and what is left of it after the change (None: nothing).
CHANGED = [
    ("synchronisation", "log", "synchronisation", "warning",
     {"waits": 5, "waited_ns": 1_263_954, "lost_ns": 515_423, "cause": "aten::item"}),
    ("tiny_kernels", "smooth", "tiny-kernels", "warning",
     {"kernels_per_call": 40, "mean_kernel_ns": 1_232, "gpu_busy_ns": 49_309}),
    ("pageable_copy", "load", "pageable-copy", "warning",
     {"copies": 5, "bytes": 192_675_840, "gpu_ns": 30_469_569, "cpu_ns": 31_391_475 + 52_803}),
    ("tensor_cores_unused", "forward", "tensor-cores-unused", "warning", {"kernels": 20, "gpu_ns": 26_972_309}),
    ("waiting_for_data", "load", "waiting-for-data", "warning",
     {"batches": 5, "loading_ns": 45_410_991, "idle_ns": 45_410_991}),
    ("optimizer_loop", "optimizer", "optimizer-loop", "warning", {"steps": 5, "launches": 4_000}),
    ("idle_gap", "diffuse", "idle-gap", "warning", {"gap_ns": 26_358_818, "call_ns": 28_777_248}),
]  # fmt: skip


@pytest.mark.parametrize(("script", "region", "code", "severity", "evidence"), CHANGED)
def test_a_rule_finds_what_is_wrong_and_no_longer_when_it_is_changed(script, region, code, severity, evidence):
    finding = found(f"runs/{script}_before")[region, code]
    assert {key: finding.evidence[key] for key in evidence} == evidence
    assert finding.severity == severity
    assert (region, code) not in found(f"runs/{script}_after")


def test_what_torch_compile_marks_while_it_compiles_is_no_region_of_the_user_s():
    regions = table.result_of(TRACES / "runs" / "tiny_kernels_after").regions
    (marked,) = [region for region in regions if region.file is None and "ompile" in region.name]
    assert (marked.name, marked.names > 40) == ("torch.compile", True)
    assert not marked.findings


# What the guide's two experiments say is their bound; nothing else is wrong with them.
CLEAN = [
    "runs/matmul_add_64_cold",
    "runs/matmul_add_64_own",
    "runs/matmul_add_4096_cold",
    "runs/inference",
    "runs/graph",
]


@pytest.mark.parametrize("run", CLEAN)
def test_runs_in_which_nothing_is_wrong_have_no_findings(run):
    assert found(run) == {}


def test_no_rule_is_silent_on_all_traces_of_this_file():
    made = {"memory-churn", "optimizer-loop", "zero-grad", "exposed-communication", "hidden-copy"}
    made |= {"synchronisation", "launches-without-record", "launched-before-window", "outside-regions"}
    assert {code for _, _, code, *_ in RECORDED} | made | BOUNDS == set(BY_CODE)


# --- made by hand: no recording at hand has these


class Made:
    """A trace of passages of one region, 1 ms long each, in which operators launch what is asked for."""

    def __init__(self):
        self.events = []
        self.correlation = 0

    def slice(self, category, name, start_us, duration_us, tid=1, **arguments):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": (tid == 7 and 1000) or 100, "tid": tid,
                            "ts": start_us, "dur": duration_us, "args": arguments})  # fmt: skip

    def launch(
        self, start_us, kernel, device_us, *, call="cudaLaunchKernel", category="kernel", tid=1, stream=7, **more
    ):
        """A call of 2 µs, and the activity that it launches 5 µs later."""
        self.correlation += 1
        self.slice("cuda_runtime", call, start_us, 2.0, tid, correlation=self.correlation)
        self.events.append({"ph": "X", "cat": category, "name": kernel, "pid": 0, "tid": stream, "ts": start_us + 5,
                            "dur": device_us, "args": {"correlation": self.correlation, "stream": stream, "device": 0,
                                                       **more}})  # fmt: skip

    def found(self, folder):
        path = folder / "made.json"
        path.write_text(json.dumps({"traceEvents": self.events}))
        result = measure_traces([path], [])
        return {(region, finding.code): finding for region, finding in table.found_in(result)}


def passages(number=5, name="r"):
    made = Made()
    for passage in range(number):
        made.slice("user_annotation", name, 2000.0 * passage, 1000.0)
        yield made, 2000.0 * passage


@pytest.mark.parametrize(
    ("times_us", "is_cold"),
    [((9000, 500, 510, 520, 500), True), ((9000, 2500, 510, 520, 500), True), ((9000, 500, 12000, 520, 500), False)],
)
def test_a_first_passage_is_cold_where_none_of_the_others_is_that_slow(tmp_path, times_us, is_cold):
    made = Made()
    for passage, time_us in enumerate(times_us):
        made.slice("user_annotation", "r", 20_000.0 * passage, float(time_us))
        made.launch(20_000.0 * passage + 5, "k", 10.0)
    assert (("r", "cold-start") in made.found(tmp_path)) == is_cold


def test_memory_that_every_passage_asks_the_driver_for_is_found(tmp_path):
    for made, start in passages():
        made.launch(start + 20, "k", 900.0)
        made.slice("cuda_runtime", "cudaMalloc", start + 100, 40.0, correlation=0)
        made.slice("cuda_runtime", "cudaFree", start + 200, 60.0, correlation=0)
    finding = made.found(tmp_path)["r", "memory-churn"]
    assert finding.evidence == {"calls": 10, "cpu_ns": 500_000, "passages": 5}
    assert (finding.severity, finding.saves_at_most_ns) == ("warning", 500_000)


def test_memory_of_the_first_passages_alone_is_no_churn(tmp_path):
    for made, start in passages():
        made.launch(start + 20, "k", 900.0)
        if start < 4000:
            made.slice("cuda_runtime", "cudaMalloc", start + 100, 400.0, correlation=0)
    assert ("r", "memory-churn") not in made.found(tmp_path)


def test_memory_asked_for_at_several_places_of_one_passage_is_one_passage_s(tmp_path):
    for made, start in passages(4):
        made.launch(start + 20, "k", 900.0)
        for offset in (100, 300, 500):
            made.slice("user_annotation", "Optimizer.step#SGD.step", start + offset, 150.0)
            if start == 0:
                made.slice("cuda_runtime", "cudaMalloc", start + offset + 10, 100.0, correlation=0)
    assert ("r", "memory-churn") not in made.found(tmp_path)


@pytest.mark.parametrize(("kernel", "is_loop"), [("elementwise", True), ("multi_tensor_apply_kernel", False)])
def test_an_optimizer_that_goes_from_tensor_to_tensor_is_found(tmp_path, kernel, is_loop):
    for made, start in passages():
        made.slice("user_annotation", "Optimizer.step#SGD.step", start + 10, 900.0)
        for launch in range(40):
            made.launch(start + 20 + 20 * launch, kernel, 2.0)
    findings = made.found(tmp_path)
    assert (("r", "optimizer-loop") in findings) == is_loop
    if is_loop:
        assert findings["r", "optimizer-loop"].evidence == {"steps": 5, "launches": 200, "cpu_ns": 4_500_000}
        assert ("r", "tiny-kernels") not in findings  # the same fact


@pytest.mark.parametrize("fills", [True, False])
def test_gradients_that_are_filled_with_zeros_are_found(tmp_path, fills):
    for made, start in passages():
        made.launch(start + 5, "k", 400.0)
        made.slice("user_annotation", "Optimizer.zero_grad#SGD.zero_grad", start + 10, 100.0)
        if fills:
            made.launch(start + 20, "Memset (Device)", 2.0, call="cudaMemsetAsync", category="gpu_memset")
    assert (("r", "zero-grad") in made.found(tmp_path)) == fills


@pytest.mark.parametrize(("overlaps", "exposed_ns"), [(False, 5 * 300_000), (True, None)])
def test_communication_is_found_where_nothing_is_computed_meanwhile(tmp_path, overlaps, exposed_ns):
    for made, start in passages():
        made.launch(start + 10, "ncclDevKernel_AllReduce", 300.0, stream=20)
        made.launch(start + 10 if overlaps else start + 500, "gemm", 300.0)
    finding = made.found(tmp_path).get(("r", "exposed-communication"))
    assert (finding and finding.evidence["exposed_ns"]) == exposed_ns


@pytest.mark.parametrize(("operator", "is_hidden"), [("aten::linear", True), ("aten::contiguous", False)])
def test_a_copy_inside_of_another_operator_is_found(tmp_path, operator, is_hidden):
    for made, start in passages():
        made.slice("cpu_op", operator, start + 10, 100.0)
        made.launch(start + 20, "at::native::direct_copy_kernel_cuda", 50.0)
        made.launch(start + 40, "gemm", 200.0)
    finding = made.found(tmp_path).get(("r", "hidden-copy"))
    assert (finding and finding.evidence) == (
        {"copies": 5, "gpu_ns": 250_000, "operator": "aten::linear"} if is_hidden else None
    )


@pytest.mark.parametrize(
    ("gaps_us", "found_us"), [((600, 600, 300, 700, 300), 1900), ((100, 100, 300, 700, 300), None)]
)
def test_a_gap_is_told_where_most_passages_have_one_and_costs_those_that_there_are(tmp_path, gaps_us, found_us):
    # The fourth passage is the median one: its CPU time is in the middle.
    cpu_us = (1000.0, 1010.0, 1030.0, 1020.0, 1040.0)
    made = Made()
    made.launch(0, "first", 5.0)
    for passage, (gap_us, total_us) in enumerate(zip(gaps_us, cpu_us, strict=True)):
        start = 2000.0 * (passage + 1)
        made.slice("user_annotation", "r", start, total_us)
        made.launch(start, "k", 100.0)  # from 5 to 105 µs
        made.launch(start + 100 + gap_us, "k", 100.0)
        made.launch(start + 200 + gap_us, "k", 2000.0 - gap_us - 250)
    finding = made.found(tmp_path).get(("r", "idle-gap"))
    assert (finding and finding.saves_at_most_ns) == (found_us and found_us * 1000)
    assert finding is None or finding.evidence["gap_ns"] == 700_000


def test_a_kernel_that_varies_is_found_beside_others_that_torch_marks(tmp_path):
    for passage, (made, start) in enumerate(passages()):
        made.launch(start + 5, "gemm", 100.0 + 10 * passage)
        made.slice("user_annotation", "Optimizer.step#SGD.step", start + 300, 100.0)
        made.launch(start + 310, "step", 50.0)
    finding = made.found(tmp_path)["r", "kernel-time-varies"]
    assert finding.evidence == {"min_ns": 100_000, "median_ns": 120_000, "max_ns": 140_000, "calls": 5}


def test_launches_without_a_record_are_counted_where_they_stand(tmp_path):
    for made, start in passages():
        made.launch(start + 20, "k", 100.0)
    made.slice("cuda_runtime", "cudaLaunchKernel", 8500.0, 2.0, correlation=99)
    finding = made.found(tmp_path)["(run)", "launches-without-record"]
    assert finding.evidence == {"count": 1, "launches": 6}
    assert "(r 1×)" in finding.message


def test_work_from_before_the_window_is_told_once():
    result = measure_traces([TRACES / "made" / "launched_before_window.json"], [])
    assert [each.code for each in result.findings] == ["launched-before-window"]
    assert result.findings[0].evidence == {"count": 2, "gpu_ns": 45_000}
    assert "launched-before-window" not in [problem.code for problem in result.problems]


def test_backward_work_of_which_nothing_says_whose_it_is_lies_outside():
    finding = found("made/backward_two_candidates.json")["(run)", "outside-regions"]
    assert finding.evidence == {"gpu_ns": 20_000, "backward_gpu_ns": 20_000, "device_total_ns": 20_000}


def test_a_wait_in_a_copy_from_pinned_memory_is_told_as_such(tmp_path):
    for made, start in passages():
        made.launch(start + 5, "k", 5.0)
        made.slice("cpu_op", "aten::to", start + 20, 400.0)
        made.launch(start + 30, "Memcpy HtoD (Pinned -> Device)", 300.0, call="cudaMemcpyAsync",
                    category="gpu_memcpy", bytes=1 << 20)  # fmt: skip
        made.slice("cuda_runtime", "cudaStreamSynchronize", start + 40, 330.0, correlation=0)
        made.launch(start + 800, "k", 5.0)
    finding = made.found(tmp_path)["r", "synchronisation"]
    assert finding.evidence["pinned_waits"] == finding.evidence["waits"] == 5
    # From the end of the copy, 335 µs after the start, to the kernel at 805 µs the GPU is idle; the wait took 330 µs.
    assert finding.evidence["lost_ns"] == finding.saves_at_most_ns == 5 * 330_000


def test_the_loader_around_the_regions_is_waited_for_by_the_script(tmp_path):
    for made, start in passages():
        made.launch(start + 20, "k", 400.0)
        name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
        made.slice("user_annotation", name, start + 1100, 700.0)
    finding = made.found(tmp_path)["(run)", "waiting-for-data"]
    assert finding.evidence["batches"] == 5
    assert finding.evidence["idle_ns"] == 4 * 700_000  # after the last one, no work is known of
    assert finding.message.startswith("The script waits 3.50 ms for the DataLoader outside any region")


# --- what is told, and how


def test_a_region_has_one_bound_unless_a_rule_says_more():
    result = measure_traces([TRACES / "h200" / "odd_overhead.json.gz"], [])
    codes = [each.code for each in result.regions[0].findings]
    assert codes == ["tiny-kernels", "profiler-overhead"]
    for path in table.recordings():
        for region in table.result_of(path).regions:
            bounds = [each.code for each in region.findings or () if each.code in BOUNDS]
            assert len(bounds) <= 1
            assert bounds == [each.code for each in (region.findings or ())[-1:] if each.code in BOUNDS]


def test_a_bound_tells_the_times_of_the_median_passage_that_it_comes_from(tmp_path):
    # Sums and medians of each would say that an overhead-bound region's GPU worked more than its CPU.
    made = Made()
    for passage, device_us in enumerate((9000.0, 9000.0, 100.0)):
        start = 20_000.0 * passage
        made.slice("user_annotation", "r", start, (900.0, 1100.0, 1000.0)[passage])
        made.launch(start + 5, "k", device_us)
    path = tmp_path / "made.json"
    path.write_text(json.dumps({"traceEvents": made.events}))
    (bound,) = measure_traces([path], []).regions[0].findings
    assert bound.message == "r is overhead-bound: the GPU worked 100 µs of 1.00 ms (10 %) in the median of 3 calls."
    assert bound.evidence["median_gpu_busy_ns"] == 100_000


def test_the_same_bound_around_a_region_makes_its_own_a_hint():
    result = measure_traces([TRACES / "h200" / "train_mlp.json.gz"], [])
    severities = {
        region.name: each.severity for region in result.regions for each in region.findings or () if each.code in BOUNDS
    }
    assert severities["train_step"] == "information"
    assert severities["layer_0"] == "hint"
    assert severities["layer_2"] == "information"  # mixed, in an overhead-bound forward


def test_findings_survive_the_way_through_json():
    result = measure_traces([TRACES / "h200" / "train_mlp.json.gz"], [])
    again = from_dict(json.loads(to_json(result)))
    assert [region.findings for region in again.regions] == [region.findings for region in result.regions]
    assert again.findings == result.findings == ()


def test_every_spot_lies_in_its_recording():
    for path in table.recordings():
        result = table.result_of(path)
        for _, finding in table.found_in(result):
            if finding.spot is not None:
                assert finding.spot.trace < len(result.traces)
                assert finding.spot.duration_ns >= 0


@pytest.mark.parametrize(
    ("line", "ignored", "other"),
    [
        (b"with rf('a'):  # kinetoscope: ignore[tiny-kernels, idle-gap]", True, False),
        (b"with rf('a'):  # noqa: X # Kinetoscope:ignore", True, True),
        (b"with rf('a'):  # kinetoscope: nothing", False, False),
        (b"with rf('a'):  #kinetoscope:ignore [ Idle-Gap ,x]# why", True, False),
        (b"with rf('a'):  # kinetoscope: ignore[idle-gap", True, False),
        (b"with rf('a'):  # kinetoscope: ignore[]", False, False),
        (b"with rf('a'):  # kinetoscope: ignored before", False, False),
        (b"with rf('a'):  # kinetoscope: ignore[idle-gap] kinetoscope: ignore", True, False),
    ],
)
def test_a_comment_switches_findings_off(line, ignored, other):
    codes = ignored_codes([b"@decorator", line])
    assert ("idle-gap" in codes, "synchronisation" in codes) == (ignored, other)


def test_a_comment_in_the_source_that_ran_marks_the_finding(tmp_path):
    source = tmp_path / "tiny.py"
    source.write_text(
        "from torch.profiler import record_function\n"
        "with record_function('tiny_ops'):  # kinetoscope: ignore[tiny-kernels]\n    pass\n"
    )
    result = measure_traces([TRACES / "h200" / "odd_overhead.json.gz"], [source])
    assert {each.code: each.is_suppressed for each in result.regions[0].findings} == {
        "tiny-kernels": True,
        "profiler-overhead": False,
    }


@pytest.mark.parametrize("comment", ["", "# kinetoscope: ignore[threads-without-region]", "# kinetoscope: ignore[x]"])
def test_a_comment_on_the_first_line_marks_findings_of_the_run(tmp_path, comment):
    source = tmp_path / "odd.py"
    imported = f"import torch  {comment}\nfrom torch.profiler import record_function\n"
    source.write_text(f"{imported}with record_function('main_thread'):\n    pass\n")
    (finding,) = measure_traces([TRACES / "h200" / "odd_threads.json.gz"], [source]).findings
    assert finding.is_suppressed == ("threads" in comment)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("with rf('a'), rf('b'):  # kinetoscope: ignore[x]", {"a": True, "b": True}),
        ("with (\n  rf('a'),  # kinetoscope: ignore[x]\n  rf('b'),\n):", {"a": True, "b": False}),
        ("with rf('a'), \\\n     rf('b'):  # kinetoscope: ignore[x]", {"a": False, "b": True}),
        ("with rf(  # kinetoscope: ignore[x]\n  'a'\n):", {"a": True}),
        ("with rf(\n  'a'\n):  # kinetoscope: ignore[x]", {"a": True}),
        ("with rf('# kinetoscope: ignore[x]'):", {"# kinetoscope: ignore[x]": False}),
        ("with rf('a'):\n  # kinetoscope: ignore[x]", {"a": False}),
        ("@rf('a')\n@rf('b')  # kinetoscope: ignore[x]\ndef f():", {"a": False, "b": True}),
    ],
)
def test_a_comment_counts_for_the_regions_on_its_line(source, expected):
    data = f"from torch.profiler import record_function as rf\n{source}\n    pass\n".encode()
    regions = SourceRegions(data).regions
    lines = data.splitlines()
    assert {region.name: "x" in ignored_at(region, lines.__getitem__) for region in regions} == expected


# --- pages


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_every_rule_has_a_page_that_says_all_it_should(rule):
    text = text_of(rule.code)
    assert text.startswith(f"# {rule.code}\n\n*")
    for part in ("**What it means.**", "**In the trace.**", "**What to do.**", "**When it is fine.**"):
        assert part in text


def test_the_page_of_all_rules_lists_them_and_the_table_that_the_script_prints():
    page = (ROOT / "docs" / "findings" / "README.md").read_text(encoding="utf-8")
    for code in BY_CODE:
        assert f"| [{code}]({code}.md) |" in page
    rows = [table.row_of(path) for path in table.recordings() if path.parent.name != "made"]
    assert "\n".join(rows) in page
    assert "README" not in codes_with_a_page()

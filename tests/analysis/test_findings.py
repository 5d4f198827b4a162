"""Each rule finds what it is about and nothing else: on recordings, and on traces made by hand where none has the case.

The numbers were worked out from the raw JSON by a script that shares no code with this project, but for those of
backward-elsewhere and kernel-time-varies, which hold what the rules said. On 30 November 2026 those of `train_mlp` once
more: the union of all activities leaves gaps, and the longest in each `data` makes the idle gap (23,166,909 ns in all;
whatever operators, calls and regions stand in it uncovered are its names); the calls of pageable copies and of the
waits in their operators, from the first activity on, without what those gaps have already, are 624,896 ns; seven
eighths of each fp32 product of `backward` are 717,160 ns.
"""

import json
import re

import pytest
from made_traces import ROOT, TRACES, Made, found, table

from kinetoscope_core.analysis.findings import BOUNDS, BY_CODE, RULES
from kinetoscope_core.analysis.findings.pages import codes_with_a_page, text_of
from kinetoscope_core.jobs.measure import measure_traces
from kinetoscope_core.results.result import from_dict, to_json
from kinetoscope_core.source.regions import SourceRegions
from kinetoscope_core.source.suppressions import ignored_at, ignored_codes

RECORDED = [
    ("h200/odd_overhead.json.gz", "tiny_ops", "tiny-kernels", "warning",
     {"kernels_per_call": 200, "mean_kernel_ns": 903, "idle_between_launches_ns": 10_685_600}, 10_685_600),
    ("h200/train_mlp.json.gz", "data", "pageable-copy", "information",
     {"copies": 4, "bytes": 8_388_608, "gpu_ns": 426_401, "cpu_ns": 752_910}, 624_896),
    ("h200/train_mlp.json.gz", "data", "idle-gap", "warning",
     {"gap_ns": 4_673_255, "call_ns": 9_471_167, "calls_with_one": 4, "cpu_was_in": "aten::randn"}, 23_166_909),
    ("h200/train_mlp.json.gz", "backward", "tensor-cores-unused", "information",
     {"kernels": 28, "gpu_ns": 819_613}, 717_160),
    ("h200/train_mlp.json.gz", "forward", "backward-elsewhere", "hint",
     {"backward_gpu_ns": 1_097_278, "own_gpu_ns": 761_756}, None),
    ("h200/odd_threads.json.gz", "main_thread", "profiler-overhead", "information",
     {"overhead_ns": 12_698_653, "in_the_median_ns": 3_091_962, "calls_with_it": 4}, None),
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
     {"kernels_per_call": 40, "mean_kernel_ns": 1_232, "idle_between_launches_ns": 3_627_805}),
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
    made |= {"straggler", "uneven-work", "uneven-host"}  # of ranks: test_ranks.py
    made |= {"synchronisation", "launches-without-record", "launched-before-recording", "outside-regions"}
    assert {code for _, _, code, *_ in RECORDED} | made | BOUNDS == set(BY_CODE)


# --- what is told, and how


def test_a_region_has_one_bound_unless_a_rule_says_more():
    result = measure_traces([TRACES / "h200" / "odd_overhead.json.gz"], [])
    codes = [each.code for each in result.regions[0].findings]
    assert codes == ["tiny-kernels"]
    for path in table.recordings():
        for region in table.result_of(path).regions:
            bounds = [each.code for each in region.findings or () if each.code in BOUNDS]
            assert len(bounds) <= 1
            assert bounds == [each.code for each in (region.findings or ())[-1:] if each.code in BOUNDS]


def measured_calls(tmp_path, *cpu_and_gpu_us):
    """The measures of calls that each launch one kernel, with these CPU and GPU times."""
    made = Made()
    for call, (cpu_us, device_us) in enumerate(cpu_and_gpu_us):
        start = 20_000.0 * call
        made.slice("user_annotation", "r", start, cpu_us)
        made.launch(start + 5, "k", device_us)
    path = tmp_path / "made.json"
    path.write_text(json.dumps({"traceEvents": made.events}))
    return measure_traces([path], []).regions[0]


def test_a_bound_tells_the_times_of_the_median_call_that_it_comes_from(tmp_path):
    # Sums and medians of each would say that an overhead-bound region's GPU worked more than its CPU.
    times = [(900.0, 9000.0), (1100.0, 9000.0), (1000.0, 100.0), (950.0, 100.0), (1050.0, 100.0)]
    *_, bound = measured_calls(tmp_path, *times).findings
    assert bound.message == "r is overhead-bound: the GPU worked 100 µs of 1.00 ms (10 %) in the median call of 5."
    assert bound.evidence["median_gpu_busy_ns"] == 100_000


def test_there_is_no_bound_where_calls_of_the_middle_half_say_another_than_the_median(tmp_path):
    region = measured_calls(tmp_path, (900.0, 9000.0), (1100.0, 9000.0), (1000.0, 100.0))
    assert region.bound is None
    assert not region.findings
    assert region.cpu_middle_ns == (900_000, 1_100_000)
    assert region.cuda_middle_ns == (100_000, 9_000_000)


def test_the_profiler_own_work_is_no_finding_where_the_median_call_has_none():
    result = measure_traces([TRACES / "h200" / "train_mlp.json.gz"], [])
    (backward,) = [region for region in result.regions if region.name == "backward"]
    assert backward.overhead_ns == 2_521_618
    assert "profiler-overhead" not in {each.code for each in backward.findings}


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
        (b"with rf('a'):  # kinetoscope: ignore[idle-gap]  # kinetoscope: ignore[synchronisation]", True, True),
        (b"with rf('a'):  # kinetoscope: ignore[[idle-gap]]", False, False),
        (b"with rf('a'):  # kinetoscope: ignore[,, ,idle-gap,,]", True, False),
        (b"with rf('a'):  # kinetoscope: ignore[idle-gap synchronisation]", False, False),
        (b"with rf('a'):  # kinetoscope: ignore-all", False, False),
        (b"with rf('a'):  # kinetoscope: ignore(idle-gap)", True, False),
        (b"with rf('a'):  # kinetoscope: ignore (x, idle-gap)  # why", True, False),
        (b"with rf('a'):  # kinetoscope: ignore{idle-gap}", True, False),
        (b"with rf('a'):  # kinetoscope: ignore: idle-gap", True, False),
        (b"with rf('a'):  # kinetoscope: ignore=idle-gap,x", True, False),
        (b"with rf('a'):  # kinetoscope: ignore idle-gap # why", True, False),
        (b"with rf('a'):  # kinetoscope: ignore what is idle", False, False),
        (b"with rf('a'):  # kinetoscope: ignore   # why", True, True),
        ("with rf('a'):  # é 训练 kinetoscope:\u00a0ignore[idle-gap]".encode(), False, False),
        (b"with rf('a'):  # kinetoscope: ignore[\xff\xfe\x00, idle-gap]", True, False),
        (b"with rf('a'):  # kinetoscope: ignore[" + b"x," * 100_000 + b"idle-gap]", True, False),
        (b"with rf('a'):" + b"  # kinetoscope: " * 20_000, False, False),
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
    assert {each.code: each.is_suppressed for each in result.regions[0].findings} == {"tiny-kernels": True}


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
        ("with rf(\n  '# kinetoscope: ignore[x]'\n):", {"# kinetoscope: ignore[x]": False}),
        ('with rf("a", """\n# kinetoscope: ignore[x]\n"""):', {"a": False}),
        ("with rf('#'):  # kinetoscope: ignore[x]", {"#": True}),
        ("with rf('a'):\n  # kinetoscope: ignore[x]", {"a": False}),
        ("@rf('a')\n@rf('b')  # kinetoscope: ignore[x]\ndef f():", {"a": False, "b": True}),
    ],
)
def test_a_comment_counts_for_the_regions_on_its_line(source, expected):
    data = f"from torch.profiler import record_function as rf\n{source}\n    pass\n".encode()
    text = SourceRegions(data)
    assert {region.name: "x" in ignored_at(region, text) for region in text.regions} == expected


# --- pages

PARTS = ["What it means", "How it is measured", "In the trace", "What to do", "When it is fine", "Example"]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_every_rule_has_a_page_that_says_all_it_should(rule):
    text = text_of(rule.code)
    assert text.startswith(f"# {rule.code}\n\n*")
    parts = re.findall(r"^\*\*(.+?)\.\*\*", text, re.MULTILINE)
    assert [part for part in parts if part in PARTS] == PARTS


def test_the_pages_of_other_codes_have_one_shape_too():
    for code in set(codes_with_a_page()) - set(BY_CODE):
        _, short, *parts = text_of(code).split("\n\n")
        assert short.startswith("*")
        assert short.endswith(".*")
        headings = [part.partition(".**")[0].removeprefix("**") for part in parts if part.startswith("**")]
        assert headings[:3] == ["What it means", "How it is found", "What to do"]


def test_pages_link_to_pages_alone():
    """They are packed without the rest of docs/."""
    for code in codes_with_a_page():
        for link in re.findall(r"\]\((.+?)\)", text_of(code)):
            assert link.removesuffix(".md") in codes_with_a_page()


def test_the_page_of_all_rules_lists_them_and_the_table_that_the_script_prints():
    page = (ROOT / "docs" / "findings" / "README.md").read_text(encoding="utf-8")
    for code in BY_CODE:
        assert f"| [{code}]({code}.md) |" in page
    rows = [table.row_of(path) for path in table.recordings() if path.parent.name != "made"]
    assert "\n".join(rows) in page
    assert "README" not in codes_with_a_page()

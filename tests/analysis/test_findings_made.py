"""Rules on traces made by hand, where no recording at hand has the case."""

import pytest
from made_traces import TRACES, Made, calls, found

from kinetoscope_core.jobs.measure import measure_traces


@pytest.mark.parametrize(
    ("times_us", "is_cold"),
    [((9000, 500, 510, 520, 500), True), ((9000, 2500, 510, 520, 500), True), ((9000, 500, 12000, 520, 500), False)],
)
def test_a_first_call_is_cold_where_none_of_the_others_is_that_slow(tmp_path, times_us, is_cold):
    made = Made()
    for call, time_us in enumerate(times_us):
        made.slice("user_annotation", "r", 20_000.0 * call, float(time_us))
        made.launch(20_000.0 * call + 5, "k", 10.0)
    assert (("r", "cold-start") in made.found(tmp_path)) == is_cold


def test_a_copy_that_waits_for_work_from_before_the_recording_costs_what_comes_after(tmp_path):
    # As in a public trace (resnet50, 2021): 36 of the 40 ms of the first copy were before anything was recorded.
    made = Made()
    for call in range(2):
        start, waits_us = 100_000.0 * call, (36_000.0, 200.0)[call]
        made.slice("user_annotation", "r", start, 50_000.0)
        made.slice("cpu_op", "aten::copy_", start + 10, 40_000.0)
        made.slice("cuda_runtime", "cudaMemcpyAsync", start + 20, waits_us + 3000, correlation=call + 1)
        arguments = {"correlation": call + 1, "stream": 7, "device": 0, "bytes": 19_267_584}
        made.events.append({"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pageable -> Device)", "pid": 0,
                            "tid": 7, "ts": start + 20 + waits_us, "dur": 2800.0, "args": arguments})  # fmt: skip
    finding = made.found(tmp_path)["r", "pageable-copy"]
    assert finding.evidence["cpu_ns"] == 3_000_000 + 3_200_000
    assert "in 2 copies over 2 calls" in finding.message


def test_memory_that_every_call_asks_the_driver_for_is_found(tmp_path):
    for made, start in calls():
        made.launch(start + 20, "k", 900.0)
        made.slice("cuda_runtime", "cudaMalloc", start + 100, 40.0, correlation=0)
        made.slice("cuda_runtime", "cudaFree", start + 200, 60.0, correlation=0)
    finding = made.found(tmp_path)["r", "memory-churn"]
    assert finding.evidence == {"api_calls": 10, "cpu_ns": 500_000, "calls": 5}
    assert (finding.severity, finding.saves_at_most_ns) == ("warning", 500_000)


def test_memory_of_the_first_calls_alone_is_no_churn(tmp_path):
    for made, start in calls():
        made.launch(start + 20, "k", 900.0)
        if start < 4000:
            made.slice("cuda_runtime", "cudaMalloc", start + 100, 400.0, correlation=0)
    assert ("r", "memory-churn") not in made.found(tmp_path)


def test_memory_asked_for_at_several_places_of_one_call_is_one_call_s(tmp_path):
    for made, start in calls(4):
        made.launch(start + 20, "k", 900.0)
        for offset in (100, 300, 500):
            made.slice("user_annotation", "Optimizer.step#SGD.step", start + offset, 150.0)
            if start == 0:
                made.slice("cuda_runtime", "cudaMalloc", start + offset + 10, 100.0, correlation=0)
    assert ("r", "memory-churn") not in made.found(tmp_path)


@pytest.mark.parametrize(("kernel", "is_loop"), [("elementwise", True), ("multi_tensor_apply_kernel", False)])
def test_an_optimizer_that_goes_from_tensor_to_tensor_is_found(tmp_path, kernel, is_loop):
    for made, start in calls():
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
    for made, start in calls():
        made.launch(start + 5, "k", 400.0)
        made.slice("user_annotation", "Optimizer.zero_grad#SGD.zero_grad", start + 10, 100.0)
        if fills:
            made.launch(start + 20, "Memset (Device)", 2.0, call="cudaMemsetAsync", category="gpu_memset")
    assert (("r", "zero-grad") in made.found(tmp_path)) == fills


@pytest.mark.parametrize(("overlaps", "exposed_ns"), [(False, 5 * 300_000), (True, None)])
def test_communication_is_found_where_nothing_is_computed_meanwhile(tmp_path, overlaps, exposed_ns):
    for made, start in calls():
        made.launch(start + 10, "ncclDevKernel_AllReduce", 300.0, stream=20)
        made.launch(start + 10 if overlaps else start + 500, "gemm", 300.0)
    finding = made.found(tmp_path).get(("r", "exposed-communication"))
    assert (finding and finding.evidence["exposed_ns"]) == exposed_ns


@pytest.mark.parametrize(("operator", "is_hidden"), [("aten::linear", True), ("aten::contiguous", False)])
def test_a_copy_inside_of_another_operator_is_found(tmp_path, operator, is_hidden):
    for made, start in calls():
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
def test_a_gap_is_told_where_most_calls_have_one_and_costs_those_that_there_are(tmp_path, gaps_us, found_us):
    # The fourth call is the median one: its CPU time is in the middle.
    cpu_us = (1000.0, 1010.0, 1030.0, 1020.0, 1040.0)
    made = Made()
    made.launch(0, "first", 5.0)
    for call, (gap_us, total_us) in enumerate(zip(gaps_us, cpu_us, strict=True)):
        start = 2000.0 * (call + 1)
        made.slice("user_annotation", "r", start, total_us)
        made.launch(start, "k", 100.0)  # from 5 to 105 µs
        made.launch(start + 100 + gap_us, "k", 100.0)
        made.launch(start + 200 + gap_us, "k", 2000.0 - gap_us - 250)
    finding = made.found(tmp_path).get(("r", "idle-gap"))
    assert (finding and finding.saves_at_most_ns) == (found_us and found_us * 1000)
    assert finding is None or finding.evidence["gap_ns"] == 700_000


def test_a_kernel_that_varies_is_found_beside_others_that_torch_marks(tmp_path):
    for call, (made, start) in enumerate(calls()):
        made.launch(start + 5, "gemm", 100.0 + 10 * call)
        made.slice("user_annotation", "Optimizer.step#SGD.step", start + 300, 100.0)
        made.launch(start + 310, "step", 50.0)
    finding = made.found(tmp_path)["r", "kernel-time-varies"]
    assert finding.evidence == {"min_ns": 100_000, "median_ns": 120_000, "max_ns": 140_000, "calls": 5}


def test_launches_without_a_record_are_counted_where_they_stand(tmp_path):
    for made, start in calls():
        made.launch(start + 20, "k", 100.0)
    made.slice("cuda_runtime", "cudaLaunchKernel", 8500.0, 2.0, correlation=99)
    finding = made.found(tmp_path)["(run)", "launches-without-record"]
    assert finding.evidence == {"count": 1, "launches": 6}
    assert "(r 1×)" in finding.message


def test_work_from_before_the_recording_is_told_once():
    result = measure_traces([TRACES / "made" / "launched_before_window.json"], [])
    assert [each.code for each in result.findings] == ["launched-before-recording"]
    assert result.findings[0].evidence == {"count": 2, "gpu_ns": 45_000}
    assert "launched-before-recording" not in [problem.code for problem in result.problems]


def test_backward_work_of_which_nothing_says_whose_it_is_lies_outside():
    finding = found("made/backward_two_candidates.json")["(run)", "outside-regions"]
    assert finding.evidence == {"gpu_ns": 20_000, "backward_gpu_ns": 20_000, "device_total_ns": 20_000}


def test_a_wait_in_a_copy_from_pinned_memory_is_told_as_such(tmp_path):
    for made, start in calls():
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
    for made, start in calls():
        made.launch(start + 20, "k", 400.0)
        name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
        made.slice("user_annotation", name, start + 1100, 700.0)
    finding = made.found(tmp_path)["(run)", "waiting-for-data"]
    assert finding.evidence["batches"] == 5
    assert finding.evidence["idle_ns"] == 4 * 700_000  # after the last one, no work is known of
    assert finding.message.startswith("The script waits 3.50 ms for the DataLoader outside any region")

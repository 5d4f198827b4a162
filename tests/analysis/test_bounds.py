"""What limits a region: by what the device did, and nothing where that is not known (docs/measures.md)."""

from pathlib import Path

import pytest
from made_traces import SHARED, TRACES, Made, calls, table

from kinetoscope_core.analysis.bounds import DeviceWork, Pace, bound_of_pace, bound_of_work
from kinetoscope_core.analysis.collectives import is_collective
from kinetoscope_core.jobs.measure import measure_traces


@pytest.mark.parametrize(
    ("total", "sync", "sync_idle", "busy", "idle", "bound"),
    [
        (100, 0, 0, 49, 51, "overhead"),
        (100, 0, 0, 49, 50, None),  # others keep the device busy
        (100, 0, 0, 50, 0, "mixed"),
        (100, 0, 0, 100, 0, "mixed"),
        (100, 0, 0, 101, 0, "compute"),
        (100, 40, 0, 29, 31, "overhead"),
        (100, 40, 0, 61, 0, "compute"),
        (100, 60, 31, 29, 0, "sync"),  # waits most of the time, and for nothing
        (100, 60, 30, 41, 0, "compute"),  # waits for its own work
        (100, 50, 50, 5, 50, "overhead"),
        (100, 100, 0, 90, 0, "compute"),
        (0, 0, 0, 5, 0, "compute"),
    ],
)
def test_what_limits_a_call(total, sync, sync_idle, busy, idle, bound):
    assert bound_of_pace(Pace(total - sync, busy, idle, sync, sync_idle)) == bound


def test_a_long_wait_of_which_nothing_is_known_leaves_the_bound_open():
    assert bound_of_pace(Pace(active_ns=3, busy_ns=10, idle_ns=0, sync_ns=97, sync_unknown_ns=97)) is None


@pytest.mark.parametrize(
    ("computing", "communication", "copying", "bound"),
    [
        (100, 0, 0, "compute"),
        (50, 50, 0, "compute"),
        (49, 51, 0, "communication"),
        (0, 0, 51, "copy"),
        (20, 40, 40, None),  # mostly none of them
        (0, 10, 0, None),  # a collective beside others' kernels
    ],
)
def test_who_is_the_limit_where_the_device_is(computing, communication, copying, bound):
    assert bound_of_work(DeviceWork(100, computing, communication, copying)) == bound


@pytest.mark.parametrize(
    ("recording", "region", "bound"),
    [
        ("h200/matmul_add_4096_warm.json.gz", "matmul_add", "compute"),
        ("h200/matmul_add_64_warm.json.gz", "matmul_add", "overhead"),
        ("h200/matmul_add_64.json.gz", "matmul_add", "overhead"),
        ("runs/matmul_add_64_cold", "matmul_add", "overhead"),
        ("runs/matmul_add_64_own", "matmul_add", "overhead"),
        ("runs/matmul_add_4096_cold", "matmul_add", "compute"),
        ("runs/pageable_copy_after", "load", "copy"),
        ("runs/synchronisation_before", "log", None),  # its kernels run between those of the step
    ],
)
def test_the_experiments_of_the_guide_and_others_come_out_as_they_are(recording, region, bound):
    (found,) = [each.bound for each in table.result_of(TRACES / recording).regions if each.name == region]
    assert found == bound


@pytest.mark.parametrize(
    ("trace", "region", "bound"),
    [
        ("t05_spin_while_gpu_busy", "dispatch", None),
        ("t05_spin_while_gpu_busy", "compute", "compute"),
        ("t06_collectives_only", "forward", "communication"),
        ("t07_custom_all_reduce", "tp_allreduce", "communication"),
        ("r06_correlation_zero", "all_reduce", None),
    ],
)
def test_traces_after_public_ones_are_limited_by_what_the_device_did(trace, region, bound):
    result = measure_traces([TRACES / "cases" / f"{trace}.json"], [])
    assert {each.bound for each in result.regions if each.name == region} == {bound}


@pytest.mark.skipif(not SHARED.is_dir(), reason="the recordings of ../shared are not there")
@pytest.mark.parametrize(
    ("trace", "region", "bound"),
    [
        ("ranks/ddp_slow_host_rank0.json.gz", "train_step", "communication"),
        ("public/tl_inference_sglang_decode_sglang_Qwen3-8B_decode.json.gz", "step[DECODE bs=32]", None),
        ("public/hta_negative_queue_length_values_check_rank0.json.gz", "## copy_batch_to_gpu ##", "copy"),
    ],
)
def test_public_cases_are_limited_by_what_the_device_did(trace, region, bound):
    result = measure_traces([SHARED / "traces" / trace], [])
    assert {each.bound for each in result.regions if each.name == region} == {bound}


def _idle_calls(made: Made) -> None:
    made.launch(0, "first", 5.0)
    for call in range(3):
        made.slice("user_annotation", "r", 2000.0 * call + 100, 1000.0)
        made.launch(2000.0 * call + 110, "k", 50.0)


def test_few_kernels_are_overhead_only_while_the_device_is_idle(tmp_path: Path):
    made = Made()
    _idle_calls(made)
    assert made.bounds(tmp_path)["r"] == "overhead"
    made.slice("user_annotation", "big", 20, 50)
    made.launch(30, "gemm", 6000.0, stream=8)
    assert made.bounds(tmp_path)["r"] is None


def test_only_the_devices_of_the_region_s_streams_count(tmp_path: Path):
    made = Made()
    _idle_calls(made)
    made.slice("user_annotation", "big", 20, 50)
    made.launch(30, "gemm", 6000.0, device=1)
    assert made.bounds(tmp_path)["r"] == "overhead"


@pytest.mark.parametrize(("copies", "bound"), [(1, "copy"), (0, "compute")])
def test_a_region_of_one_copy_does_not_compute(tmp_path: Path, copies: int, bound: str):
    for made, start in calls():
        if copies:
            made.launch(start + 5, "Memcpy HtoD (Pinned -> Device)", 1500.0, call="cudaMemcpyAsync",
                        category="gpu_memcpy", bytes=1 << 26)  # fmt: skip
        else:
            made.launch(start + 5, "gemm", 1500.0)
    assert made.bounds(tmp_path)["r"] == bound


def test_a_collective_that_others_compute_beside_limits_nothing(tmp_path: Path):
    for made, start in calls():
        made.launch(start + 5, "ncclDevKernel_AllReduce", 1500.0, stream=20)
        made.launch(start + 1100, "gemm", 1.0)
    assert made.bounds(tmp_path)["r"] == "communication"
    for call in range(5):
        made.launch(2000.0 * call + 1, "gemm", 1600.0, tid=2, stream=9)
    assert made.bounds(tmp_path)["r"] is None


def test_there_is_no_bound_where_most_launches_have_no_record(tmp_path: Path):
    for made, start in calls():
        made.launch(start + 5, "k", 5.0)
        for lost in range(2):
            made.slice("cuda_runtime", "cudaLaunchKernel", start + 100 + lost, 1.0, correlation=10_000 + lost)
    assert made.bounds(tmp_path)["r"] is None


def test_work_from_before_the_recording_may_still_run_until_the_first_activity(tmp_path: Path):
    made = Made()
    made.slice("user_annotation", "r", 0, 1000.0)
    made.launch(900, "k", 5.0)
    assert made.bounds(tmp_path)["r"] is None


@pytest.mark.parametrize(
    "name",
    [
        "ncclDevKernel_AllReduce_Sum_f32(ncclDevComm*)",
        "rcclGenericKernel",
        "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(int)",
        "void sglang::cross_device_reduce_2stage<half, 4>(int)",
        "one_shot_all_reduce_kernel",
        "void tensorrt_llm::kernels::oneShotAllReduceKernel<float>(int)",
        "two_shot_all_reduce_kernel_inplace",
        "multimem_all_reduce_kernel",
        "void deep_ep::internode::notify_dispatch<false, 8>(int)",
        "void mine::intranode::combine<4>(int)",
        "nvshmemi_transfer_rma",
        "mscclpp::allreduce7",
        "void quickreduce::allreduce_prototype(int)",
        "void quick_reduce::two_shot(int)",
    ],
)
def test_kernels_of_these_names_communicate(name):
    assert is_collective(name)


@pytest.mark.parametrize("name", ["gemm", "void cunccl_like()", "Memcpy PtoP", "reduce_kernel", "internode"])
def test_kernels_of_other_names_compute(name):
    assert not is_collective(name)

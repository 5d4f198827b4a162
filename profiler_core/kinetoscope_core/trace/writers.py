"""Traces that other tools wrote: how they are told, and what of them is not read."""

from collections.abc import Container, Iterable
from typing import Final

from kinetoscope_core.errors import Problem

_NSYS: Final = frozenset(("cuda", "cuda_api", "nvtx"))
_LEGACY_ROWS: Final = frozenset(("CPU functions", "CUDA functions"))
_NPU: Final = ("AscendCL@", "aclnn")


def other_tool(categories: Container[str], names: Iterable[str], rows: Iterable[str]) -> Problem | None:
    """What must be known of a trace that is not Kineto's; `None` if nothing says that it is another's.

    `categories` are those that Kineto does not write or that are of no use here, `names` and `rows` (process names) are
    those of slices without a category.
    """
    if any(name.startswith(_NPU) for name in names) or "async_npu" in categories:
        return Problem(
            "other-tool",
            "The trace was written by torch_npu (Ascend). Its regions and the work of the NPU have no category, so"
            " only the operators of the CPU are read. MindStudio Insight reads the whole trace.",
            {"tool": "torch_npu"},
        )
    if any(category in categories for category in _NSYS):
        return Problem(
            "other-tool",
            "The trace was made from a report of NVIDIA Nsight Systems (categories cuda, cuda_api, nvtx). Its kernels,"
            " calls and NVTX ranges are not read. Record with torch.profiler, or open the report in nsys-ui.",
            {"tool": "nsys"},
        )
    if any(row in _LEGACY_ROWS for row in rows):
        return Problem(
            "other-tool",
            "The trace was written by the old torch.autograd.profiler (use_kineto=False), without categories. Its"
            " functions are not read. Record with torch.profiler.profile and export_chrome_trace.",
            {"tool": "torch.autograd.profiler"},
        )
    return None

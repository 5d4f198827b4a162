"""Which kernels move data between GPUs, or wait for other ranks to do so."""

from functools import lru_cache
from typing import Final

_PREFIXES: Final = ("nccl", "rccl")

# Of libraries that do without NCCL: all-reduces of vLLM, SGLang, TensorRT-LLM and torch's symmetric memory, DeepEP's
# dispatch and combine, NVSHMEM, MSCCL++. In small letters and without underscores, as some write CamelCase.
_PARTS: Final = (
    "crossdevicereduce",
    "oneshotallreduce",
    "twoshotallreduce",
    "multimemallreduce",
    "deepep::",
    "::internode::",
    "::intranode::",
    "nvshmem",
    "mscclpp",
    "quickreduce",
)


@lru_cache(maxsize=4096)
def is_collective(kernel: str) -> bool:
    """Whether a kernel of this name communicates."""
    name = kernel.lower().replace("_", "")
    return name.startswith(_PREFIXES) or any(part in name for part in _PARTS)

"""Environment variables that torch and C libraries read when they are imported or first used, unseen by Python."""

import os
from typing import AbstractSet, Dict, Iterable, List, Mapping, Optional

PREFIXES = (
    "ATEN_",
    "BLIS_",
    "CUBLAS",
    "CUDA",
    "CUDNN",
    "DISABLE_CUPTI",
    "GOMP_",
    "GOTO_",
    "HIP_",
    "HSA_",
    "KINETO_",
    "KMP_",
    "LD_",
    "MALLOC_",
    "MKL_",
    "NCCL_",
    "NUMEXPR_",
    "NVIDIA_",
    "OMP_",
    "OPENBLAS_",
    "PYTORCH_",
    "ROCR_",
    "TEARDOWN_CUPTI",
    "TORCH",
    "TRITON_",
)


def differing(before: Mapping[str, str], now: Mapping[str, str], also: Optional[AbstractSet[str]]) -> List[str]:
    """The variables with another value now that such libraries read or that are in `also`; where it is None, all."""
    return sorted(
        name
        for name in set(before) | set(now)
        if before.get(name) != now.get(name) and (also is None or name in also or name.startswith(PREFIXES))
    )


def changes(before: Mapping[str, str], now: Mapping[str, str]) -> Dict[str, str]:
    """What was set meanwhile; a variable that was removed is not in it."""
    return {name: value for name, value in now.items() if before.get(name) != value}


def restore(before: Mapping[str, str], changed: Iterable[str]) -> None:
    """Gives these variables the values that they had."""
    for name in changed:
        if name in before:
            os.environ[name] = before[name]
        else:
            del os.environ[name]

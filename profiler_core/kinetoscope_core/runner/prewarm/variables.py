"""Environment variables that torch and C libraries read when they are imported or first used, unseen by Python."""

import ctypes
import itertools
import os
from typing import AbstractSet, Dict, List, Mapping, Optional, Tuple

OF_TORCH = (
    "ATEN_",
    "CUBLAS",
    "CUDA",
    "CUDNN",
    "DISABLE_CUPTI",
    "HIP_",
    "HSA_",
    "KINETO_",
    "NCCL_",
    "NVIDIA_",
    "PYTORCH_",
    "ROCR_",
    "TEARDOWN_CUPTI",
    "TORCH_",
    "TRITON_",
)
OF_ANY_LIBRARY = (
    "BLIS_",
    "GOMP_",
    "GOTO_",
    "KMP_",
    "LD_",
    "MALLOC_",
    "MKL_",
    "NUMEXPR_",
    "OMP_",
    "OPENBLAS_",
)
"""Read by the libraries of other packages, too."""

PREFIXES = OF_TORCH + OF_ANY_LIBRARY


def actual() -> Dict[str, str]:
    """The environment as C libraries find it, where Python can tell: `os.putenv` changes it past `os.environ`."""
    if os.name != "posix":
        return dict(os.environ)
    values = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
    found = itertools.takewhile(lambda pair: pair is not None, (values[index] for index in itertools.count()))
    pairs = (os.fsdecode(pair).partition("=") for pair in found)
    return {name: value for name, _, value in pairs}


def differing(
    before: Mapping[str, str],
    now: Mapping[str, str],
    read: Optional[AbstractSet[str]],
    prefixes: Tuple[str, ...] = (),
) -> List[str]:
    """Variables with another value now that are in `read` (None: any) or whose name begins with one of `prefixes`."""
    return sorted(
        name
        for name in set(before) | set(now)
        if before.get(name) != now.get(name) and (read is None or name in read or name.startswith(prefixes))
    )

"""Which category of event means what, over all generations of Kineto's schema (2021 to 2026)."""

from typing import Final

# Kinds of host slices.
OPERATOR: Final = 0
REGION: Final = 1
API_CALL: Final = 2

# Kinds of device activities.
KERNEL: Final = 0
MEMCPY: Final = 1
MEMSET: Final = 2

HOST_KINDS: Final[dict[str, int]] = {
    "cpu_op": OPERATOR,
    "user_annotation": REGION,
    "cuda_runtime": API_CALL,
    "cuda_driver": API_CALL,
    "xpu_runtime": API_CALL,
    "xpu_driver": API_CALL,
    "mtia_runtime": API_CALL,
    "privateuse1_runtime": API_CALL,
    "privateuse1_driver": API_CALL,
    # 2021: annotations are operators too, see `LEGACY_REGION_PREFIXES`.
    "Operator": OPERATOR,
    "Runtime": API_CALL,
}

DEVICE_KINDS: Final[dict[str, int]] = {
    "kernel": KERNEL,
    "gpu_memcpy": MEMCPY,
    "gpu_memset": MEMSET,
    "Kernel": KERNEL,
    "Memcpy": MEMCPY,
    "Memset": MEMSET,
}

FORWARD_BACKWARD: Final = "fwdbwd"
OVERHEAD: Final = "overhead"
PYTHON_FRAME: Final = "python_function"

OF_USE: Final = {*HOST_KINDS, *DEVICE_KINDS, FORWARD_BACKWARD, OVERHEAD}

LEGACY_OPERATOR: Final = "Operator"
LEGACY_REGION_PREFIXES: Final = ("ProfilerStep#", "Optimizer.", "enumerate(DataLoader)#")

# Keys an event can begin with: what tells the border of two events from that of two objects inside one.
EVENT_KEYS: Final = ("ph", "cat", "name", "pid", "tid", "ts", "dur", "args", "id", "bp", "s")

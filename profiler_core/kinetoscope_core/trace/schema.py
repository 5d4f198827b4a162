"""Which category of event means what, over all generations of Kineto's schema (2021 to 2026)."""

from typing import Final, Literal

# Kinds of host slices.
OPERATOR: Final = 0
REGION: Final = 1
CALL: Final = 2

# Kinds of device activities.
KERNEL: Final = 0
MEMCPY: Final = 1
MEMSET: Final = 2

DEVICE_KIND_NAMES: Final[tuple[Literal["kernel", "memcpy", "memset"], ...]] = ("kernel", "memcpy", "memset")

HOST_KINDS: Final[dict[str, int]] = {
    "cpu_op": OPERATOR,
    "user_annotation": REGION,
    "cuda_runtime": CALL,
    "cuda_driver": CALL,
    "xpu_runtime": CALL,
    "xpu_driver": CALL,
    "mtia_runtime": CALL,
    "privateuse1_runtime": CALL,
    "privateuse1_driver": CALL,
    # 2021: annotations are operators too, see `LEGACY_REGION_PREFIXES`.
    "Operator": OPERATOR,
    "Runtime": CALL,
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

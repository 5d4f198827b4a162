"""Which regions are torch's own: those of its profiler, optimizers, loaders, compiler and communication."""

import re
from typing import Final

_OF_TORCH: Final = re.compile(
    r"ProfilerStep#|Optimizer\.|enumerate\(DataLoader\)#|DistributedDataParallel\.|nccl:|gloo:|mpi:|kinetoscope: "
    r"|Torch-Compiled Region|TorchDynamo|## Call CompiledFxGraph|Pregraph bytecode"
    r"|torch\.compile$|\S+_data: .*compile_id=|\S+ \(dynamo_timed\)$"
)


def is_of_torch(name: str, file: str | None) -> bool:
    """Whether torch (or our runner) made the region: it has no line of the user's and a name of theirs."""
    return file is None and _OF_TORCH.match(name) is not None

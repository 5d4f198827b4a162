"""Traces of ranks made by hand: what each rank does in a step, and its collectives."""

import json
from pathlib import Path


class MadeRank:
    """The trace of one rank. Times are microseconds."""

    def __init__(self, rank, world=2, host=None):
        self.rank, self.world, self.host = rank, world, host
        self.groups = {"0": list(range(world))}
        self.events = []
        self.correlation = 0

    def slice(self, category, name, start_us, duration_us, tid=1, **arguments):
        pid = arguments.pop("pid", 100)
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid,
                            "ts": round(start_us, 3), "dur": round(duration_us, 3), "args": arguments})  # fmt: skip

    def region(self, name, start_us, duration_us):
        self.slice("user_annotation", name, start_us, duration_us)

    def kernel(self, name, start_us, duration_us, *, launched_us=None, stream=7, **arguments):
        self.correlation += 1
        at = start_us - 10 if launched_us is None else launched_us
        self.slice("cuda_runtime", "cudaLaunchKernel", at, 2, correlation=self.correlation)
        self.slice("kernel", name, start_us, duration_us, stream, pid=0, correlation=self.correlation, device=0,
                   stream=stream, **arguments)  # fmt: skip

    def collective(self, start_us, end_us, *, name="allreduce", elements=1024, group="0", launched_us=None, peer=None):
        arguments = {
            "Collective name": name, "In msg nelems": elements, "Out msg nelems": elements, "dtype": "Float",
            "Group size": len(self.groups[group]), "Process Group Name": group,
            "Process Group Ranks": str(self.groups[group]),
        }  # fmt: skip
        if peer is not None:
            arguments["Dst Rank" if name == "send" else "Src Rank"] = str(peer)
        kernel = f"ncclDevKernel_{name}(ncclDevKernelArgsStorage<4096ul>)"
        self.kernel(kernel, start_us, end_us - start_us, launched_us=launched_us, stream=20, **arguments)

    def write(self, folder: Path, mark="") -> Path:
        trace = {
            "distributedInfo": {
                "backend": "nccl", "rank": self.rank, "world_size": self.world, "pg_count": len(self.groups),
                "pg_config": [{"pg_name": name, "pg_size": len(ranks), "ranks": ranks}
                              for name, ranks in self.groups.items()],
            },
            "baseTimeNanoseconds": 1_790_857_026_000_000_000,
            "traceEvents": self.events,
        }  # fmt: skip
        if self.host is not None:
            trace = {"host_name": self.host, **trace}
        path = folder / f"made{mark}_rank{self.rank}.json"
        path.write_text(json.dumps(trace))
        return path


def balanced(world=2, steps=6, step_us=5000.0, late=lambda rank, step: 0.0, **more):
    """Ranks whose steps compute for 1 ms and reduce for 100 µs, after `late` µs more of a region `data`."""
    ranks = [MadeRank(rank, world, **more) for rank in range(world)]
    for step in range(steps):
        at = 1000.0 + step_us * step
        ready = [at + 1200.0 + late(rank.rank, step) for rank in ranks]
        end = max(ready) + 100.0
        for rank, start in zip(ranks, ready, strict=True):
            delay = late(rank.rank, step)
            rank.region("train_step", at, 4000.0)
            rank.region("data", at + 10, 50.0 + delay)
            rank.region("forward", at + 100 + delay, 300.0)
            rank.kernel("gemm", at + 200 + delay, 1000.0, launched_us=at + 120 + delay)
            rank.collective(start, end, launched_us=at + 350 + delay)
    return ranks

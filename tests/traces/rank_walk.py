"""What ranks waited for, by a second way: from the traces' JSON, sharing no code with Kinetoscope."""

import gzip
import json
from collections import defaultdict
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")


@dataclass
class Sums:
    count: int = 0
    total_ns: int = 0
    waiting_ns: int = 0
    transfer_ns: int = 0
    exposed_ns: int = 0

    def add(self, kernel):
        self.count += 1
        self.total_ns += kernel.end - kernel.start
        self.waiting_ns += kernel.waiting
        self.transfer_ns += kernel.end - kernel.start - kernel.waiting
        self.exposed_ns += kernel.exposed


@dataclass
class Kernel:
    start: int
    end: int
    group: str
    kind: tuple
    regions: tuple
    waiting: int = 0
    exposed: int = 0


@dataclass
class Rank:
    rank: int
    kernels: list = field(default_factory=list)
    all: Sums = field(default_factory=Sums)
    regions: dict = field(default_factory=lambda: defaultdict(Sums))


def ns(value):
    return int(Decimal(str(value)) * 1000)


def read(path):
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt") as file:
        whole = json.load(file, parse_float=Decimal)
    base = whole.get("baseTimeNanoseconds", 0)
    launches, annotations, others, kernels, feeders = {}, defaultdict(list), [], [], defaultdict(list)
    for event in whole["traceEvents"]:
        arguments, kind = event.get("args", {}), event.get("cat")
        if kind == "fwdbwd":
            feeders[event["ph"]].append((event["id"], event["tid"]))
        if event.get("ph") != "X":
            continue
        start = ns(event["ts"]) + base
        end = start + ns(event["dur"])
        if kind in ("cuda_runtime", "cuda_driver"):
            launches[arguments.get("correlation")] = event["tid"], start
        elif kind == "user_annotation":
            annotations[event["tid"]].append((start, end, event["name"]))
        elif kind in DEVICE:
            if event["name"].startswith("nccl"):
                kernels.append((event, start, end))
            elif kind == "kernel":
                others.append((start, end))
    forward = dict(feeders["s"])
    waits_for = {tid: forward[number] for number, tid in feeders["f"] if forward.get(number, tid) != tid}

    def around(tid, moment):
        """The names of the annotations that are open, once each."""
        found = {name for start, end, name in annotations[tid] if start <= moment < end}
        return found | around(waits_for[tid], moment) if tid in waits_for else found

    rank = Rank(whole["distributedInfo"]["rank"])
    for event, start, end in sorted(kernels, key=lambda each: each[1]):
        arguments = event["args"]
        kind = tuple(arguments[key] for key in ("Collective name", "In msg nelems", "Out msg nelems", "dtype"))
        tid, moment = launches[arguments["correlation"]]
        rank.kernels.append(Kernel(start, end, arguments["Process Group Name"], kind, tuple(around(tid, moment))))
    computing = merged(others)
    for each in rank.kernels:
        each.exposed = each.end - each.start - covered(computing, each.start, each.end)
    return rank


def merged(spans):
    found = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1][1] = max(found[-1][1], end)
        else:
            found.append([start, end])
    return found


def covered(spans, start, end):
    return sum(max(0, min(finish, end) - max(begin, start)) for begin, finish in spans)


def walked(paths: list[Path]) -> list[Rank]:
    """The ranks of one job, in whose traces all collectives begin and end with the same ones."""
    ranks = [read(path) for path in paths]
    by_group = [defaultdict(list) for _ in ranks]
    for rank, groups in zip(ranks, by_group, strict=True):
        for kernel in rank.kernels:
            groups[kernel.group].append(kernel)
    for group in by_group[0]:
        for same in zip(*(groups[group] for groups in by_group), strict=True):
            assert len({each.kind for each in same}) == 1
            last = max(each.start for each in same)
            for each in same:
                each.waiting = min(last - each.start, each.end - each.start)
    for rank in ranks:
        for kernel in rank.kernels:
            rank.all.add(kernel)
            for name in kernel.regions:
                rank.regions[name].add(kernel)
    return ranks

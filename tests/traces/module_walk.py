"""What modules took, by a second way: a walk through the trace's JSON that shares no code with Kinetoscope."""

import gzip
import json
from bisect import bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

START_UP = "kinetoscope: start-up launch"
DEVICE = ("kernel", "gpu_memcpy", "gpu_memset")


@dataclass
class Slice:
    name: str
    start: int
    end: int
    sequence: int = -1
    is_backward: bool = False
    parent: "Slice | None" = None
    self_ns: int = 0
    total_ns: int = 0
    backward_ns: int = 0

    def around(self):
        found = self
        while found is not None:
            yield found
            found = found.parent


@dataclass
class Walk:
    """By name the calls of each annotation, in order; device time in ns: all, outside any, and of autograd's nodes."""

    calls: dict[str, list[Slice]] = field(default_factory=lambda: defaultdict(list))
    device_ns: int = 0
    outside_ns: int = 0
    engine_ns: int = 0
    linked_ns: int = 0


def ns(value):
    return int(Decimal(str(value)) * 1000)


def walked(path: Path) -> Walk:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt") as file:
        events = json.load(file, parse_float=Decimal)["traceEvents"]
    spans = defaultdict(lambda: defaultdict(list))
    launches, activities, flows = {}, [], defaultdict(dict)
    for event in events:
        kind, thread = event.get("cat"), (event.get("pid"), event.get("tid"))
        if event.get("cat") == "fwdbwd":
            flows[event["id"]][event["ph"]] = thread, ns(event["ts"])
        if event.get("ph") != "X":
            continue
        start = ns(event["ts"])
        arguments = event.get("args", {})
        if kind in DEVICE:
            activities.append((arguments.get("correlation"), ns(event["dur"])))
        elif kind in ("cuda_runtime", "cuda_driver"):
            launches[arguments.get("correlation")] = thread, start
        elif kind in ("user_annotation", "cpu_op"):
            number = arguments.get("Sequence number", -1)
            made = Slice(event["name"], start, start + ns(event["dur"]), number)
            made.is_backward = number >= 0 and arguments.get("Fwd thread id", 0) > 0
            spans[kind][thread].append(made)
    for of_kind in spans.values():
        for found in of_kind.values():
            found.sort(key=lambda each: (each.start, -each.end))
            nest(found)
    walk = Walk()
    for found in spans["user_annotation"].values():
        for each in found:
            walk.calls[each.name].append(each)
    for calls in walk.calls.values():
        calls.sort(key=lambda each: each.start)
    # A node of the graph is two operators, what evaluates it and itself; the flow ends at one of them.
    starts = {each["f"]: each["s"] for each in flows.values() if len(each) == 2}
    forward_of = {
        (thread, each.sequence): starts[thread, each.start]
        for thread, operators in spans["cpu_op"].items()
        for each in operators
        if each.is_backward and (thread, each.start) in starts
    }
    named = defaultdict(Counter)
    for (thread, _), (forward_thread, _) in starts.items():
        if thread != forward_thread:
            named[thread][forward_thread] += 1
    for correlation, took in activities:
        walk.device_ns += took
        if correlation not in launches:
            walk.outside_ns += took
            continue
        thread, moment = launches[correlation]
        owner = innermost(spans["user_annotation"][thread], moment)
        if owner is None and thread in named:  # what waits for autograd holds what it launches
            owner = innermost(spans["user_annotation"][named[thread].most_common(1)[0][0]], moment)
        if owner is None:
            walk.outside_ns += took
        else:
            owner.self_ns += took
            for each in owner.around():
                each.total_ns += took
        operator = innermost(spans["cpu_op"][thread], moment)
        way = [] if operator is None else list(operator.around())
        if any(each.name.startswith("autograd::engine::evaluate_function") for each in way):
            walk.engine_ns += took
            node = next((each for each in way if each.is_backward and (thread, each.sequence) in forward_of), None)
            region = None
            if node is not None:
                forward_thread, then = forward_of[thread, node.sequence]
                region = innermost(spans["user_annotation"][forward_thread], then)
            if region is not None:
                walk.linked_ns += took
                for each in region.around():
                    each.backward_ns += took
    own = sum(each.total_ns for each in walk.calls.pop(START_UP, []))
    walk.device_ns -= own
    return walk


def nest(found: list[Slice]) -> None:
    entered: list[Slice] = []
    for each in found:
        while entered and entered[-1].end <= each.start:
            entered.pop()
        each.parent = entered[-1] if entered else None
        entered.append(each)


def innermost(found: list[Slice], moment: int) -> Slice | None:
    place = bisect_right(found, moment, key=lambda each: each.start) - 1
    current = found[place] if place >= 0 else None
    while current is not None and current.end <= moment:
        current = current.parent
    return current


def check(result: dict, walk: Walk, warmup: int = 3) -> int:
    """Compares a run's result, in which each region's first calls were warm-up, with the walk; returns how many modules
    were compared.
    """
    assert result["device_total_ns"] == walk.device_ns
    assert result["outside_regions_ns"] == walk.outside_ns
    own = sum(each.self_ns for calls in walk.calls.values() for each in calls)
    assert own + walk.outside_ns == walk.device_ns
    backward = result["backward"] or {"total_ns": 0, "of_regions_ns": 0}
    assert (backward["total_ns"], backward["of_regions_ns"]) == (walk.engine_ns, walk.linked_ns)
    modules = [each for each in result["regions"] if each["origin"] == "module"]
    for region in modules:
        calls = walk.calls[region["name"]]
        assert region["calls"] == len(calls), region["name"]
        assert region["cuda_recorded_ns"] == sum(each.total_ns for each in calls), region["name"]
        measured = calls[warmup:]
        if region["measured"] != len(measured) or region["backward_cuda_ns"] is None:
            continue
        sums = {name: region[name]["sum"] for name in ("cuda_total_ns", "cuda_self_ns", "backward_cuda_ns")}
        assert sums == {
            "cuda_total_ns": sum(each.total_ns for each in measured),
            "cuda_self_ns": sum(each.self_ns for each in measured),
            "backward_cuda_ns": sum(each.backward_ns for each in measured),
        }, region["name"]
    return len(modules)

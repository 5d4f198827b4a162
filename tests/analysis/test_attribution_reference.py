"""Attribution against the definitions of docs/measures.md written down as plainly as possible, on random traces.

The reference looks at every pair of slices; nothing of it is shared with the product.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kinetoscope_core.analysis.attribution import attribute
from kinetoscope_core.analysis.breakdown import Recording, breakdowns
from kinetoscope_core.analysis.statistics import Calls, RecordedCalls, RegionKey, summarise
from kinetoscope_core.trace import read_trace

_WAIT = "cudaStreamSynchronize"


@dataclass
class _Slice:
    cat: str
    name: str
    tid: int
    start: int
    end: int
    place: int
    args: dict = field(default_factory=dict)

    @property
    def order(self) -> tuple:
        return (self.start, self.start - self.end, self.place)


def _slices(events: list[dict], *cats: str) -> list[_Slice]:
    return [
        _Slice(e["cat"], e["name"], e["tid"], e["ts"] * 1000, (e["ts"] + e["dur"]) * 1000, place, e["args"])
        for place, e in enumerate(events)
        if e.get("cat") in cats and e["ph"] == "X"
    ]


def _length(intervals: list[tuple[int, int]]) -> int:
    """Length of a union: every unit of time that lies in one of them."""
    return sum(1000 for unit in range(0, 200_000, 1000) if any(start <= unit < end for start, end in intervals))


def _innermost(regions: list[_Slice], tid: int, slice_: _Slice) -> _Slice | None:
    """The region entered last of those open on a thread when a slice started."""
    if slice_.tid == tid:
        open_ones = [r for r in regions if r.tid == tid and r.order < slice_.order and slice_.start < r.end]
    else:
        open_ones = [r for r in regions if r.tid == tid and r.start <= slice_.start < r.end]
    return max(open_ones, key=lambda region: region.order, default=None)


class _Reference:
    def __init__(self, events: list[dict]) -> None:
        self.regions = sorted(_slices(events, "user_annotation"), key=lambda region: region.order)
        self.host = _slices(events, "user_annotation", "cpu_op", "cuda_runtime")
        self.activities = _slices(events, "kernel")
        flows = [
            (start["tid"], start["ts"], end["tid"], end["ts"])
            for end in events
            if end.get("ph") == "f"
            for start in events
            if start.get("ph") == "s" and start["id"] == end["id"]
        ]
        self.named: dict[int, int] = {}
        for tid in {flow[2] for flow in flows if flow[0] != flow[2]}:
            sources = [flow[0] for flow in flows if flow[2] == tid and flow[0] != tid]
            self.named[tid] = max(dict.fromkeys(sources), key=sources.count)
        backward_ops = [s for s in self.host if s.cat == "cpu_op" and s.args.get("Fwd thread id", 0) > 0]
        self.autograd = {*self.named, *(s.tid for s in backward_ops)}
        self.autograd |= {s.tid for s in self.host if s.cat == "cpu_op" and s.name.startswith("autograd::engine::ev")}
        self.parent = {id(region): self._parent(region) for region in self.regions}

    def _around(self, slice_: _Slice) -> _Slice | None:
        if slice_.tid in self.named:
            return _innermost(self.regions, self.named[slice_.tid], slice_)
        others = {region.tid for region in self.regions} - {slice_.tid}
        found = [region for tid in sorted(others) if (region := _innermost(self.regions, tid, slice_)) is not None]
        return found[0] if len(found) == 1 else None

    def _parent(self, region: _Slice) -> _Slice | None:
        own = _innermost(self.regions, region.tid, region)
        if own is None and region.tid in self.autograd:
            around = self._around(region)
            return around if around is not None and around.order < region.order else None
        return own

    def chain(self, region: _Slice | None) -> list[_Slice]:
        chain = []
        while region is not None:
            chain.append(region)
            region = self.parent[id(region)]
        return chain

    def launch(self, activity: _Slice) -> _Slice | None:
        calls = [
            call
            for call in self.host
            if call.cat == "cuda_runtime" and call.args["correlation"] == activity.args["correlation"]
        ]
        return min(calls, key=lambda call: (call.start, call.place), default=None)

    def owner(self, activity: _Slice) -> _Slice | None:
        call = self.launch(activity)
        if call is None:
            return None
        own = _innermost(self.regions, call.tid, call)
        return self._around(call) if own is None and call.tid in self.autograd else own

    def cpu_self(self, region: _Slice) -> int:
        children = [
            (slice_.start, min(slice_.end, region.end))
            for slice_ in self.host
            if slice_.tid == region.tid and slice_.order > region.order and slice_.start < region.end
        ]
        return region.end - region.start - _length(children)

    def waits(self, region: _Slice) -> list[tuple[int, int]]:
        return [
            (call.start, min(call.end, region.end))
            for call in self.host
            if call.name == _WAIT and call.tid == region.tid and call.order > region.order and call.start < region.end
        ]


_TIMES = st.sampled_from([*range(0, 60, 5), 1, 7, 11, 23, 31])
_LENGTHS = st.sampled_from([0, 1, 5, 10, 20, 30, 40, 60, 60, 90])
_THREADS = st.sampled_from([1, 1, 1, 2, 2, 3])


def _event(cat: str, name: str, tid: int, ts: int, dur: int, **args: object) -> dict:
    return {"ph": "X", "cat": cat, "name": name, "pid": 9, "tid": tid, "ts": ts, "dur": dur, "args": args}


_REGIONS = st.builds(_event, st.just("user_annotation"), st.sampled_from("ABC"), _THREADS, _TIMES, _LENGTHS)
_OPERATORS = st.builds(
    lambda tid, ts, dur, name, forward: _event(
        "cpu_op", name, tid, ts, dur, **{"Fwd thread id": forward if tid == 2 else 0, "Sequence number": 3}
    ),
    _THREADS,
    _TIMES,
    _LENGTHS,
    st.sampled_from(["aten::mm", "aten::add"]),
    st.sampled_from([0, 0, 1]),
)
_CALLS = st.builds(
    lambda name, tid, ts, dur, correlation: _event("cuda_runtime", name, tid, ts, dur, correlation=correlation),
    st.sampled_from(["cudaLaunchKernel", "cudaGraphLaunch", _WAIT]),
    _THREADS,
    _TIMES,
    st.integers(0, 6),
    st.integers(1, 5),
)
_KERNELS = st.builds(
    lambda ts, dur, correlation: _event("kernel", "k", 7, ts, dur, correlation=correlation),
    st.integers(0, 90),
    st.integers(0, 20),
    st.integers(1, 6),
)
_FLOWS = st.builds(
    lambda ident, start, end, at: [
        {"ph": "s", "cat": "fwdbwd", "name": "fwdbwd", "id": ident, "pid": 9, "tid": start, "ts": at},
        {"ph": "f", "cat": "fwdbwd", "name": "fwdbwd", "id": ident, "pid": 9, "tid": end, "ts": at + 9},
    ],
    st.integers(),
    _THREADS,
    _THREADS,
    _TIMES,
)


@st.composite
def _events(draw: st.DrawFn) -> list[dict]:
    events = [
        *draw(st.lists(_REGIONS, min_size=2, max_size=9)),
        *draw(st.lists(_OPERATORS, max_size=7)),
        *draw(st.lists(_CALLS, min_size=3, max_size=9)),
        *draw(st.one_of(st.just([]), st.lists(_KERNELS, min_size=4, max_size=12))),
    ]
    flows = draw(st.lists(_FLOWS, max_size=3, unique_by=lambda flow: flow[0]["id"]))
    return draw(st.permutations([*events, *(each for flow in flows for each in flow)]))


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_events())
def test_attribution_equals_the_plain_definitions(events: list[dict]) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        path.write_text(json.dumps({"traceEvents": events}))
        found = attribute(read_trace(path)[0])
    reference = _Reference(events)
    owners = [reference.owner(activity) for activity in reference.activities]
    place_of = {id(region): index for index, region in enumerate(reference.regions)}
    places = {id(None): -1, **place_of}

    assert [each.name for each in found.calls] == [region.name for region in reference.regions]
    assert list(found.activity_owner) == [places[id(owner)] for owner in owners]
    durations = [activity.end - activity.start for activity in reference.activities]
    if events and reference.activities:
        outside = [duration for duration, owner in zip(durations, owners, strict=True) if owner is None]
        before = [a.end - a.start for a in reference.activities if reference.launch(a) is None]
        assert (found.device_total_ns, found.outside_ns, found.no_launch_ns) == (
            sum(durations),
            sum(outside),
            sum(before),
        )
    for region, call in zip(reference.regions, found.calls, strict=True):
        assert call.parent == places[id(reference.parent[id(region)])]
        assert call.thread_parent == places[id(_innermost(reference.regions, region.tid, region))]
        assert call.cpu_total_ns == region.end - region.start
        assert call.cpu_self_ns == reference.cpu_self(region)
        waits = reference.waits(region)
        assert call.sync_ns == _length(waits)
        if not reference.activities:
            assert call.cuda_total_ns is call.launches is call.sync_idle_ns is None
            continue
        own = [a for a, owner in zip(reference.activities, owners, strict=True) if owner is region]
        nested = [
            a
            for a, owner in zip(reference.activities, owners, strict=True)
            if any(each is region for each in reference.chain(owner))
        ]
        assert call.cuda_self_ns == sum(a.end - a.start for a in own)
        assert call.cuda_total_ns == sum(a.end - a.start for a in nested)
        # At 0 for 0 ns is what CUPTI writes where it lost the times (docs/measures.md): when it ran is not known.
        has_lost = any(a.start == a.end == 0 for a in nested)
        assert call.cuda_busy_ns == (None if has_lost else _length([(a.start, a.end) for a in nested]))
        assert call.launches == len(nested)
        working = [(a.start, a.end) for a in reference.activities]
        idle = [
            (unit, unit + 1000)
            for unit in range(0, 200_000, 1000)
            if not any(start <= unit < end for start, end in working)
        ]
        waiting_idle = sum(1000 for unit, _ in idle if any(start <= unit < end for start, end in waits))
        assert call.sync_idle_ns == waiting_idle


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_events(), st.integers(0, 3))
def test_what_a_region_is_made_of_adds_up_to_its_totals(events: list[dict], warmup: int) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        path.write_text(json.dumps({"traceEvents": events}))
        trace, _ = read_trace(path)
    found = attribute(trace)
    keys = [RegionKey(call.name) for call in found.calls]
    recorded = RecordedCalls(found.calls, keys, [index < warmup for index in range(len(keys))])
    calls = Calls(recorded)
    parts = breakdowns([Recording(trace, found, recorded)], calls, has_all=True)
    for region in summarise(calls, parts):
        part = parts[RegionKey(region.name)]
        cpu = (part.cpu_self_ns, part.cpu_api_calls_ns, part.cpu_operators_ns, part.cpu_nested_ns)
        assert min(cpu) >= 0
        assert sum(cpu) == region.cpu_total_ns.sum
        if region.cuda_total_ns is None or region.cuda_self_ns is None or region.launches is None:
            assert part.cuda_self_ns is part.cuda_nested_ns is None
            continue
        assert sum(kernel.total_ns for kernel in part.kernels) == region.cuda_total_ns.sum
        assert sum(kernel.count for kernel in part.kernels) == region.launches.sum
        assert (part.cuda_self_ns, part.cuda_nested_ns) == (
            region.cuda_self_ns.sum,
            region.cuda_total_ns.sum - region.cuda_self_ns.sum,
        )
        assert [link.kind for link in part.chain[-2:]] == (["api_call", "activity"] if part.kernels else [])

"""Ranks of a job that differ: one that the others wait for, and regions that take longer on one."""

from collections.abc import Iterator
from typing import Final

from kinetoscope_core.analysis.findings.rule import Claim, Rule
from kinetoscope_core.analysis.ranks.job import Job
from kinetoscope_core.analysis.ranks.lateness import Reason, late_rank, uneven_regions
from kinetoscope_core.analysis.ranks.steps import OUTSIDE, Steps
from kinetoscope_core.analysis.statistics import RegionKey
from kinetoscope_core.results.measures import Spot
from kinetoscope_core.results.of_torch import is_of_torch
from kinetoscope_core.text import count_text, printable, time_text

_LOADER: Final = "enumerate(DataLoader)#"


def _straggler(job: Job, steps: Steps) -> Iterator[tuple[RegionKey | None, Claim]]:
    late = late_rank(job, steps)
    if late is None:
        return
    others = "the others wait for it and lose" if len(job.facts) > 2 else "the other one waits for it and loses"
    message = (
        f"Rank {late.rank} is late: in {late.collectives_late} of {count_text(late.collectives, 'collective')}"
        f" {others} {time_text(late.lost_ns)} of a step of {time_text(late.step_ns)}. {_why(late.reason)}"
    )
    evidence: dict[str, int | str] = {
        "rank": late.rank,
        "steps": late.steps,
        "steps_late": late.steps_late,
        "collectives": late.collectives,
        "collectives_late": late.collectives_late,
        "lost_per_step_ns": late.lost_ns,
        "step_ns": late.step_ns,
        "region": late.reason.region.name,
        "of": "gpu" if late.reason.of_device else "cpu",
        "longer_per_step_ns": late.reason.longer_ns,
    }
    spot = _spot(job, late.rank, late.reason.region if late.reason.region != OUTSIDE else steps.key)
    yield None, Claim(message, late.lost_ns * late.steps, evidence, spot=spot)


def _why(reason: Reason) -> str:
    """What the late rank does meanwhile."""
    took = f"({time_text(reason.took_ns)} a step, {time_text(reason.others_ns)} elsewhere)"
    longer = time_text(reason.longer_ns)
    if reason.region.name.startswith(_LOADER):
        return f"Its DataLoader takes {longer} longer {took}."
    who = "Its GPU computes" if reason.of_device else "Its CPU is busy"
    if reason.region == OUTSIDE:
        return f"{who} {longer} longer outside any region {took}."
    where = printable(reason.region.name)
    if 2 * reason.longer_ns < reason.all_ns:
        return f"{who} {time_text(reason.all_ns)} longer in all, most of it in {where}: {longer} {took}."
    return f"{who} {longer} longer in {where} {took}."


def _spot(job: Job, rank: int, key: RegionKey) -> Spot | None:
    """The middle call of the region on that rank, in the first of its traces. They stand in the order of `with_job`."""
    place = next(number for number, facts in enumerate(job.facts) if facts.place.rank == rank)
    work = job.facts[place].work.get(key)
    if work is None:
        return None
    calls = sorted(range(len(work.start_ns)), key=lambda call: work.end_ns[call] - work.start_ns[call])
    call = calls[(len(calls) - 1) // 2]
    start_ns = work.start_ns[call]
    of_rank = [number for number, (_, until_ns) in enumerate(job.facts[place].spans) if start_ns <= until_ns]
    return Spot(job.first_trace(place) + min(of_rank, default=0), start_ns, work.end_ns[call] - start_ns)


def _uneven(job: Job, steps: Steps, *, of_device: bool) -> Iterator[tuple[RegionKey | None, Claim]]:
    for rank, each in uneven_regions(steps, of_device=of_device):
        if is_of_torch(each.region.name, each.region.file):
            continue
        who = "the GPU computes" if of_device else "the CPU is busy, not waiting,"
        message = (
            f"{printable(each.region.name)}: on rank {rank} {who} for {time_text(each.took_ns)} a step, on the others"
            f" for {time_text(each.others_ns)} (without nested regions)."
        )
        evidence: dict[str, int | str] = {"rank": rank, "took_ns": each.took_ns, "others_ns": each.others_ns}
        number = len(steps.of_rank[rank])
        yield each.region, Claim(message, each.longer_ns * number, evidence, spot=_spot(job, rank, each.region))


def _uneven_work(job: Job, steps: Steps) -> Iterator[tuple[RegionKey | None, Claim]]:
    return _uneven(job, steps, of_device=True)


def _uneven_host(job: Job, steps: Steps) -> Iterator[tuple[RegionKey | None, Claim]]:
    return _uneven(job, steps, of_device=False)


RULES: Final = (
    Rule("straggler", "warning", of_job=_straggler),
    Rule("uneven-work", "information", of_job=_uneven_work),
    Rule("uneven-host", "information", of_job=_uneven_host),
)

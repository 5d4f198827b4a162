"""What people should know of the ranks of a job: what is missing, and what could not be matched."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from kinetoscope_core.analysis.ranks.job import Job
from kinetoscope_core.errors import Problem
from kinetoscope_core.text import count_text, time_text


def not_one_job() -> Problem:
    """For traces of ranks that are not those of one job at one time."""
    message = (
        "The traces are of ranks, but not of one job at one time: their numbers of ranks, their times, or how many"
        " traces each rank has, differ. So their calls are added up. Give the traces of one job, one of each rank."
    )
    return Problem("not-one-job", message)


def problems_of_job(job: Job) -> Iterator[Problem]:
    """What is to be said of a job, beside the problems of its median rank."""
    yield from _of_other_ranks(job)
    number = sum(len(each) for facts in job.facts for each in facts.communications)
    if not number:
        return
    waiting = job.waiting
    present = [facts.place.rank for facts in job.facts]
    if len(present) == 1:
        message = (
            f"This is rank {present[0]} of {job.facts[0].place.world_size} alone. How much of its communication is"
            " waiting for other ranks is not known: read the traces of all ranks together."
        )
        yield Problem("rank-alone", message, {"rank": present[0]})
        return
    unmatched = sum(
        ns < 0 for recordings in waiting.waiting_ns.values() for recording in recordings for ns in recording
    )
    if unmatched:
        yield _unmatched(job, unmatched, number)
    if waiting.clocks:
        worst = max(each.uncertain_ns for each in waiting.clocks.values())
        most = max(abs(each.ahead_ns) for each in waiting.clocks.values())
        message = (
            f"The clocks of the ranks differ, by up to {time_text(most)}. They were aligned by the ends of the"
            f" collectives, so waiting is known to within {time_text(worst)} per collective."
        )
        yield Problem("clocks-aligned", message, {"ranks": len(waiting.clocks), "uncertain_ns": worst})


def _unmatched(job: Job, unmatched: int, number: int) -> Problem:
    waiting = job.waiting
    why: list[str] = []
    if waiting.missing:
        why.append(f"there is no trace of {ranks_text(sorted(waiting.missing))}")
    if waiting.unnamed:
        why.append(f"{waiting.unnamed} do not name their process group or peer")
    if waiting.unclear:
        why.append(
            f"in {count_text(waiting.unclear, 'process group or pair')} it is not certain which collective of one rank"
            " is which of another"
        )
    reason = "; ".join(why) or "the recordings do not begin and end with the same ones"
    message = (
        f"{unmatched} of {number} collectives were not found on the other ranks: {reason}."
        " How much of their time is waiting is not known."
    )
    evidence = {"unmatched": unmatched, "collectives": number, "missing_ranks": len(waiting.missing)}
    return Problem("collectives-unmatched", message, evidence)


def _of_other_ranks(job: Job) -> Iterator[Problem]:
    """The problems of ranks whose numbers are not shown, once each."""
    found: defaultdict[str, list[tuple[int, Problem]]] = defaultdict(list)
    for facts in job.facts:
        for problem in facts.problems:
            found[problem.code].append((facts.place.rank, problem))
    median = job.facts[job.median].place.rank
    for of_code in found.values():
        ranks = sorted({rank for rank, _ in of_code})
        if median not in ranks:
            rank, problem = of_code[0]
            others = f" (and {count_text(len(ranks) - 1, 'more rank')})" if len(ranks) > 1 else ""
            yield Problem(problem.code, f"Rank {rank}{others}: {problem.message}", problem.evidence)


def ranks_text(ranks: Sequence[int]) -> str:
    """`rank 3`, `ranks 2 to 7`, `ranks 1, 4 and 6 more`."""
    if len(ranks) == 1:
        return f"rank {ranks[0]}"
    if ranks[-1] - ranks[0] == len(ranks) - 1 and len(ranks) > 2:
        return f"ranks {ranks[0]} to {ranks[-1]}"
    named = [str(rank) for rank in ranks[:4]]
    more = len(ranks) - len(named)
    return f"ranks {', '.join(named)} and {more} more" if more else f"ranks {', '.join(named[:-1])} and {named[-1]}"

"""What the rules find in the ranks of a job as a whole."""

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from kinetoscope_core.analysis.findings.finding import Findings
from kinetoscope_core.analysis.findings.registry import RULES
from kinetoscope_core.analysis.findings.rule import WARNING_SHARE, Claim, Rule
from kinetoscope_core.analysis.ranks.job import Job
from kinetoscope_core.analysis.ranks.steps import steps_of
from kinetoscope_core.results.measures import Finding

if TYPE_CHECKING:
    from kinetoscope_core.analysis.statistics import RegionKey

_NOTHING: Final = Findings({}, ())


def job_findings(job: Job) -> Findings:
    """What is found by looking at all ranks, beside what is found in the median rank."""
    steps = steps_of(job)
    if steps is None:
        return _NOTHING
    of_rank = next(iter(steps.of_rank.values()))
    measured_ns = steps.length_ns * len(of_rank)
    of_regions: defaultdict[RegionKey, list[Finding]] = defaultdict(list)
    of_run: list[Finding] = []
    for rule in RULES:
        for key, claim in rule.of_job(job, steps) if rule.of_job is not None else ():
            (of_run if key is None else of_regions[key]).append(_finding(rule, claim, measured_ns))
    return Findings({key: tuple(each) for key, each in of_regions.items()}, tuple(of_run))


def _finding(rule: Rule, claim: Claim, measured_ns: int) -> Finding:
    is_grave = claim.cost_ns >= WARNING_SHARE * measured_ns
    return Finding(
        code=rule.code,
        severity="information" if rule.severity == "warning" and not is_grave else rule.severity,
        message=claim.message,
        evidence=claim.evidence,
        cost_ns=claim.cost_ns,
        spot=claim.spot,
    )

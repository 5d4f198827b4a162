"""What a rule is, and what it claims: values alone."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from kinetoscope_core.analysis.findings.facts import RegionFacts, RunFacts
from kinetoscope_core.analysis.findings.savings import Stretch
from kinetoscope_core.analysis.ranks.job import Job
from kinetoscope_core.analysis.ranks.steps import Steps
from kinetoscope_core.analysis.statistics import RegionKey
from kinetoscope_core.results.measures import Severity, Spot

LEAST_SHARE: Final = 0.01
"""Of the measured time; what costs less is not worth a line. Below it lies what calls vary by anyway."""

WARNING_SHARE: Final = 0.10
"""From here on an action is worth a warning; below it, it is told as information."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a rule found; `message` begins with the region's name. The rest is as in `measures.Finding`.

    `saves` is what can be gained at most, `None` where there is no honest bound. Each stretch of it counts for the
    costliest finding of the region that names it. With `batches` it is told for each of them, not for each call.
    """

    message: str
    cost_ns: int
    evidence: Mapping[str, int | str] = field(default_factory=dict[str, "int | str"])
    saves: Sequence[Stretch] | None = None
    batches: int | None = None
    spot: Spot | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. `severity` is the highest it can have; `share` the least part of the measured time that is worth it.

    A `share` of 0 stands for what is told however short it takes: what a region is, and numbers that are incomplete.
    `says_what` are codes of other rules that a finding of this one at the same region makes needless. `is_inclusive`
    means that the cost holds that of nested regions, so that the innermost region with it is the one to tell.
    `is_once` tells it at the costliest region alone, where one change helps all. `is_bound` marks what limits a region,
    `of_job` looks at the ranks of a job, and names the region that its claim is about, `None` for the job as a whole.
    `is_of_cpu` what can be found where no device work was measured.
    """

    code: str
    severity: Severity
    of_region: Callable[[RegionFacts, RunFacts], Claim | None] | None = None
    of_run: Callable[[RunFacts], Claim | None] | None = None
    of_job: Callable[[Job, Steps], Iterable[tuple[RegionKey | None, Claim]]] | None = None
    share: float = LEAST_SHARE
    says_what: tuple[str, ...] = ()
    is_inclusive: bool = False
    is_once: bool = False
    is_bound: bool = False
    is_of_cpu: bool = False

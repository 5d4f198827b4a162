"""From rules to findings: which claims are worth telling, how gravely, and in which order. Knows no rule by itself."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kinetoscope_core.findings.facts import RunFacts
from kinetoscope_core.findings.gathering import gather
from kinetoscope_core.findings.registry import RULES
from kinetoscope_core.findings.rule import WARNING_SHARE, Claim, Rule
from kinetoscope_core.measures import Finding, RegionMeasures, Severity
from kinetoscope_core.recording import Recording
from kinetoscope_core.summary import RegionKey


@dataclass(frozen=True, slots=True)
class Findings:
    """Those of each region of the user's, the costliest first, and those of the run as a whole."""

    of_regions: Mapping[RegionKey, tuple[Finding, ...]]
    of_run: tuple[Finding, ...]


def findings(recordings: Sequence[Recording], measures: Sequence[RegionMeasures]) -> Findings:
    """What the rules find in the recordings whose regions have these measures."""
    run = gather(recordings, measures)
    claims: dict[RegionKey, dict[str, tuple[Rule, Claim]]] = {key: {} for key in run.regions}
    of_run: list[tuple[Rule, Claim]] = []
    for rule in RULES:
        if rule.of_region is not None:
            found = {key: claim for key, region in run.regions.items() if (claim := rule.of_region(region, run))}
            found = {key: claim for key, claim in found.items() if _is_worth(rule, claim, run)}
            if rule.is_inclusive:
                found = dict(_innermost(found, run))
            if rule.is_once and found:
                costliest = max(found, key=lambda key: found[key].cost_ns)
                found = {costliest: found[costliest]}
            for key, claim in found.items():
                claims[key][rule.code] = rule, claim
        if rule.of_run is not None and (claim := rule.of_run(run)) and _is_worth(rule, claim, run):
            of_run.append((rule, claim))
    return Findings(
        {key: tuple(_ordered(_said_once(each), run)) for key, each in claims.items()}, tuple(_ordered(of_run, run))
    )


def _is_worth(rule: Rule, claim: Claim, run: RunFacts) -> bool:
    return claim.cost_ns >= rule.share * run.measured_ns


def _innermost(found: Mapping[RegionKey, Claim], run: RunFacts) -> Iterator[tuple[RegionKey, Claim]]:
    """Without those of which a region nested in it tells at least half."""
    told: set[RegionKey] = set()
    for key, claim in found.items():
        for outer in _around(key, run):
            if outer in found and 2 * claim.cost_ns >= found[outer].cost_ns:
                told.add(outer)
    return ((key, claim) for key, claim in found.items() if key not in told)


def _around(key: RegionKey, run: RunFacts) -> set[RegionKey]:
    """All regions that it is nested in; not itself."""
    around: set[RegionKey] = set()
    wanted = list(run.regions[key].outer)
    while wanted:
        outer = wanted.pop()
        if outer not in around and outer != key:
            around.add(outer)
            wanted += run.regions[outer].outer
    return around


def _said_once(claims: Mapping[str, tuple[Rule, Claim]]) -> Iterator[tuple[Rule, Claim]]:
    needless = {code for rule, _ in claims.values() for code in rule.says_what}
    return (each for code, each in claims.items() if code not in needless)


def _ordered(claims: Iterable[tuple[Rule, Claim]], run: RunFacts) -> Iterator[Finding]:
    """What a region is comes last: it costs all of its time, and the others say why."""
    for rule, claim in sorted(claims, key=lambda each: (each[0].is_bound, -each[1].cost_ns)):
        yield Finding(
            code=rule.code,
            severity=_severity(rule, claim, run),
            message=claim.message,
            evidence=claim.evidence,
            cost_ns=claim.cost_ns,
            saves_at_most_ns=claim.saves_at_most_ns,
            spot=claim.spot,
        )


def _severity(rule: Rule, claim: Claim, run: RunFacts) -> Severity:
    if claim.is_minor:
        return "hint"
    is_grave = run.measured_ns > 0 and claim.cost_ns >= WARNING_SHARE * run.measured_ns
    return "information" if rule.severity == "warning" and not is_grave else rule.severity

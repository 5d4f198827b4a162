"""From rules to findings: which claims are worth telling, how gravely, and in which order. Knows no rule by itself."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from kinetoscope_core.analysis.bounds import Limit
from kinetoscope_core.analysis.findings.facts import RunFacts
from kinetoscope_core.analysis.findings.gather import gather
from kinetoscope_core.analysis.findings.registry import RULES
from kinetoscope_core.analysis.findings.rule import WARNING_SHARE, Claim, Rule
from kinetoscope_core.analysis.findings.savings import Savings, saves_per_call, savings_text, typical_ns
from kinetoscope_core.analysis.recording import Recording
from kinetoscope_core.analysis.statistics import Calls, RegionKey
from kinetoscope_core.results.measures import Finding, RegionMeasures, Severity
from kinetoscope_core.text import count_text, time_text


@dataclass(frozen=True, slots=True)
class Findings:
    """Those of each region of the user's, the costliest first, and those of the run as a whole."""

    of_regions: Mapping[RegionKey, tuple[Finding, ...]]
    of_run: tuple[Finding, ...]


def findings(
    recordings: Sequence[Recording],
    calls: Calls,
    measures: Sequence[RegionMeasures],
    limits: Mapping[RegionKey, Limit],
    *,
    has_modules: bool = False,
) -> Findings:
    """What the rules find in the recordings whose regions have these measures and limits. `has_modules`: some of these
    are modules.
    """
    run = gather(recordings, calls, measures, limits, has_modules=has_modules)
    claims: dict[RegionKey, dict[str, tuple[Rule, Claim]]] = {key: {} for key in run.regions}
    of_run: list[tuple[Rule, Claim]] = []
    tellable = {key: region for key, region in run.regions.items() if not region.measures_captures(run)}
    for rule in RULES:
        if rule.of_region is not None:
            everywhere = {key: claim for key, region in tellable.items() if (claim := rule.of_region(region, run))}
            found = {key: claim for key, claim in everywhere.items() if _is_worth(rule, claim, run)}
            if rule.is_inclusive:
                found = dict(_innermost(found, run))
            if rule.is_once and found:
                costliest = max(found, key=lambda key: found[key].cost_ns)
                found = {costliest: _with_the_rest(costliest, everywhere)}
            for key, claim in found.items():
                claims[key][rule.code] = rule, claim
        if rule.of_run is not None and (claim := rule.of_run(run)) and _is_worth(rule, claim, run):
            of_run.append((rule, claim))
    return Findings(
        {key: tuple(_ordered(_said_once(each), run, run.regions[key].measures)) for key, each in claims.items()},
        tuple(_ordered(of_run, run)),
    )


def _is_worth(rule: Rule, claim: Claim, run: RunFacts) -> bool:
    return claim.cost_ns >= rule.share * run.measured_ns


def _with_the_rest(key: RegionKey, everywhere: Mapping[RegionKey, Claim]) -> Claim:
    """The claim of one region, which also says how much of the same lies in others."""
    claim = everywhere[key]
    others = [each.cost_ns for other, each in everywhere.items() if other != key]
    if not others:
        return claim
    rest = f" Another {time_text(sum(others))} is in {count_text(len(others), 'other region')}."
    return replace(claim, message=claim.message + rest, evidence={**claim.evidence, "elsewhere_ns": sum(others)})


def _innermost(found: Mapping[RegionKey, Claim], run: RunFacts) -> Iterator[tuple[RegionKey, Claim]]:
    """Without those of which a region nested in it tells at least half."""
    told: set[RegionKey] = set()
    costliest_inside: dict[RegionKey, int] = {}
    # The costliest first: who has been reached before has been by one that costs at least as much.
    for key in sorted(found, key=lambda key: -found[key].cost_ns):
        wanted = list(run.regions[key].outer)
        while wanted:
            outer = wanted.pop()
            if outer not in costliest_inside and outer != key:
                costliest_inside[outer] = found[key].cost_ns
                wanted += run.regions[outer].outer
    for key, inside_ns in costliest_inside.items():
        if key in found and 2 * inside_ns >= found[key].cost_ns:
            told.add(key)
    return ((key, claim) for key, claim in found.items() if key not in told)


def _said_once(claims: Mapping[str, tuple[Rule, Claim]]) -> Iterator[tuple[Rule, Claim]]:
    needless = {code for rule, _ in claims.values() for code in rule.says_what}
    return (each for code, each in claims.items() if code not in needless)


def _ordered(
    claims: Iterable[tuple[Rule, Claim]], run: RunFacts, measures: RegionMeasures | None = None
) -> Iterator[Finding]:
    """What a region is comes last: it costs all of its time, and the others say why."""
    savings = Savings()
    for rule, claim in sorted(claims, key=lambda each: (each[0].is_bound, -each[1].cost_ns)):
        saves_ns = savings.of(claim.saves) if claim.saves else 0
        calls = claim.batches or (measures.measured if measures else 1)
        call_is: Literal["call", "batch"] = "batch" if claim.batches else "call"
        takes_ns = typical_ns(measures) if measures else None
        per_call_ns = saves_per_call(saves_ns // calls, takes_ns)
        yield Finding(
            code=rule.code,
            severity=_severity(rule, claim, run),
            message=claim.message + savings_text(per_call_ns, takes_ns, call_is),
            evidence=claim.evidence,
            cost_ns=claim.cost_ns,
            saves_at_most_ns=saves_ns or None,
            spot=claim.spot,
            saves_per_call_ns=per_call_ns or None,
            call_is=call_is,
        )


def _severity(rule: Rule, claim: Claim, run: RunFacts) -> Severity:
    is_grave = run.measured_ns > 0 and claim.cost_ns >= WARNING_SHARE * run.measured_ns
    return "information" if rule.severity == "warning" and not is_grave else rule.severity

"""From the recordings of one rank, and their calls, to what its job needs of it."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from kinetoscope_core.analysis.analysis import Reading
from kinetoscope_core.analysis.groups import grouping_of, regrouped
from kinetoscope_core.analysis.ranks.facts import RankFacts, RankPlace, facts_of_rank
from kinetoscope_core.analysis.recording import Recording
from kinetoscope_core.analysis.statistics import Calls, RecordedCalls, RegionKey
from kinetoscope_core.results.measures import ModuleFacts


def facts_of_readings(
    place: RankPlace,
    readings: Sequence[Reading],
    recorded: Sequence[RecordedCalls],
    modules: Mapping[RegionKey, ModuleFacts] = MappingProxyType({}),
) -> RankFacts:
    """What a job needs of one rank, whose recordings these are; `recorded` and `modules` are as in `summarised`."""
    grouping = grouping_of(recorded, modules)
    told = [regrouped(recorded, grouping.merged, grouping.layers)]
    recordings = [Recording(each.trace, each.attribution, part) for each, part in zip(readings, told[0], strict=True)]
    if grouping.series:
        told.append(regrouped(told[0], grouping.series, grouping.layers))
    facts = facts_of_rank(place, recordings, *(Calls(*parts) for parts in told))
    facts.problems += [problem for each in readings for problem in each.problems]
    return facts

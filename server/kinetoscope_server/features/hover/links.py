"""Links of a hover that run commands, for clients that follow them: what else can be done with a region."""

import json
from collections.abc import Collection, Sequence
from urllib.parse import quote

from kinetoscope_core.analysis.findings import BOUNDS
from kinetoscope_core.results.measures import Finding
from kinetoscope_core.text import count_text
from kinetoscope_server.protocol import methods
from kinetoscope_server.results.by_file import Placed


class Links:
    """The links of what was measured at one line."""

    def __init__(self, uri: str, here: Sequence[Placed]) -> None:
        region = here[0].region
        self._again = methods.PROFILE_REGION, [uri, region.line - 1, region.name]
        if all(each.measured.is_forward for each in here):
            self._again = methods.PROFILE_MODULES, [uri, None]
        self._place: list[object] = [uri, region.line - 1, region.name]
        self._has_trace = any(each.measured.shown.result.traces for each in here)
        self._findings = [finding for each in here for finding in each.measured.findings]

    def of_the_region(self, beside: Collection[str]) -> str:
        """Those of the region, and of the findings that the client itself shows beside the hover."""
        links = [_link("Profile again", *self._again)]
        if self._has_trace:
            links.append(_link("Trace", methods.OPEN_TRACE, self._place))
        links.append(_link("Details", methods.SHOW_DETAILS, self._place))
        links.append(_link("Clear", methods.CLEAR, self._place))
        spots = {each.code: each for each in self._findings if each.code in beside}
        links += [self._at(each, f"Trace at {each.code}") for each in spots.values() if self._can_show(each)]
        return " · ".join(links)

    def measure_more(self, times: int) -> str:
        """What would give a verdict."""
        title = f"Measure {count_text(times, 'more time')}"
        return _link(title, methods.MEASURE_MORE, [*self._place, times])

    def of_finding(self, finding: Finding) -> str:
        """Behind its message: where it shows."""
        return f" {self._at(finding, 'Show in trace')}" if self._can_show(finding) else ""

    def _can_show(self, finding: Finding) -> bool:
        # A bound shows in the median call, where the region's own link leads.
        return self._has_trace and finding.spot is not None and finding.code not in BOUNDS

    def _at(self, finding: Finding, title: str) -> str:
        return _link(title, methods.OPEN_TRACE_AT, [*self._place, finding.code])


def _link(title: str, command: str, arguments: Sequence[object]) -> str:
    return f"[{title}](command:{command}?{quote(json.dumps(arguments), safe='')})"

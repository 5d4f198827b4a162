"""What gives a command that measured well an exit code other than 0: `--fail-on` and `--check`."""

from collections.abc import Callable, Collection
from typing import Final

from kinetoscope_core.analysis.findings import BY_CODE
from kinetoscope_core.output.measures_text import active
from kinetoscope_core.results.result import Result
from kinetoscope_core.text import printable, short_path, shortlist

FOUND: Final = 4
"""The exit code where `--fail-on` names a finding of the run, or an expectation is broken."""

CANNOT_TELL: Final = 5
"""The exit code where none is known to be broken, and of one it is not known whether it holds."""

_Say = Callable[[str], None]


def gated(result: Result, fail_on: Collection[str], *, is_checked: bool, say: _Say) -> int:
    """The exit code, which `say` explains."""
    codes = {_found(result, fail_on, say), _checked(result, say) if is_checked else 0}
    return FOUND if FOUND in codes else max(codes)


def _found(result: Result, codes: Collection[str], say: _Say) -> int:
    """`FOUND` if a finding of these codes is not suppressed where it stands, else 0."""
    unchecked = [code for code in codes if result.device_total_ns is None and not BY_CODE[code].is_of_cpu]
    if unchecked:
        say(f"note: no GPU work was measured, so --fail-on could not check: {', '.join(unchecked)}.")
    rows = (*result.regions, *result.groups)
    found = [(region.name, each.code) for region in rows for each in active(region.findings)]
    found += [("the run", each.code) for each in active(result.findings)]
    wanted = [f"{code} in {printable(name)}" for name, code in found if code in codes]
    if wanted:
        say(f"Exit code {FOUND}, because --fail-on found: {', '.join(wanted)}.")
    return FOUND if wanted else 0


def _checked(result: Result, say: _Say) -> int:
    broken = [each.title for each in result.expectations if each.holds is False]
    unknown = [each.title for each in result.expectations if each.holds is None]
    changed = [each.file for each in result.problems if each.code == "changed-while-running" and each.file]
    unknown += [f"what {short_path(file)} expects, which was changed while the script ran" for file in changed]
    if not result.expectations and not unknown:
        example = "# kinetoscope: expect cpu < 5ms"
        say(f"Exit code {CANNOT_TELL}, because --check found no expectation at a region, such as `{example}`.")
        return CANNOT_TELL
    if broken:
        say(f"Exit code {FOUND}, because --check found broken: {shortlist(broken)}.")
    elif unknown:
        say(f"Exit code {CANNOT_TELL}, because --check cannot tell: {shortlist(unknown)}.")
    return FOUND if broken else CANNOT_TELL if unknown else 0

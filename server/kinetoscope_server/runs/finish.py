"""How a profile ended, and what is said of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from kinetoscope_core.errors import NO_REGION, Problem
from kinetoscope_core.output.comparison_text import sentence_text
from kinetoscope_core.output.measures_text import contents_text, region_text, unmeasured_text
from kinetoscope_core.results.comparison import own_regions
from kinetoscope_core.results.measures import Unmeasured
from kinetoscope_core.results.result import Result
from kinetoscope_core.text import count_text, printable, shortlist
from kinetoscope_server.results.comparisons import Baseline, largest_change, size_of_change
from kinetoscope_server.results.shown import rows_to_show
from kinetoscope_server.runs.targets import Choose, Target

How = Literal["measured", "failed", "cancelled", "nothing", "refused", "none"]


@dataclass(frozen=True, slots=True)
class Offer:
    """What can be done at once about how a profile ended: it again with this command, with one to be chosen, or, where
    it began in a prepared interpreter, `plain`, in a new one.
    """

    title: str
    command: Mapping[str, Any] | None = None
    choose: Choose | None = None
    plain: bool = False


@dataclass(frozen=True, slots=True)
class Finish:
    """How a profile ended. `message` is for people, `run` names the result in the store. With "none" nothing was done,
    and nothing is said: it was a double click, or a question was put aside.
    """

    how: How
    message: str
    run: str | None = None
    offers: tuple[Offer, ...] = ()


NONE: Final = Finish("none", "")
KEPT: Final = Finish("refused", "The run goes on.")
"""A run went on, and the person did not want it ended."""


def message_of(result: Result, target: Target, changed: Sequence[str]) -> str:
    """What was measured, for people. `changed` are the files that ran otherwise than they are shown."""
    placed = [region for region in rows_to_show(result) if region.file is not None]
    shown = placed
    if target.region is not None:
        shown = [region for region in placed if target.region.matches(region.name)] or placed
    if len(shown) == 1:
        only = shown[0]
        times = unmeasured_text(only) if isinstance(only, Unmeasured) else region_text(only)
        text = f"{printable(only.name)}: {times}."
    elif result.contents is not None:
        text = f"No record_function region ran. {contents_text(result.contents)}"
        text += " To measure a part of it, select its statements and choose Measure this block."
    else:
        measured = [region for region in shown if not isinstance(region, Unmeasured)]
        files = {region.file for region in measured}
        where = f" in {count_text(len(files), 'file')}" if len(files) > 1 else ""
        text = f"Measured {count_text(len(measured), 'region')}{where}."
    text += _broken_text(result) + no_cuda_text(result)
    notes = [problem for problem in result.problems if problem.code not in ("region-not-reached", NO_REGION)]
    failure = next((problem for problem in notes if problem.code == "run-failed"), None)
    if failure is not None:
        text = f"{failure.message} {text}"
    else:
        text += "".join(f" {problem.message}" for problem in notes[:1])
    text += more_notes_text(notes)
    if changed:
        names = ", ".join(Path(path).name for path in changed)
        text += f" Not saved: {names}. The version on disk ran."
    return text


def change_text(baseline: Baseline | None, target: Target) -> str:
    """What changed most since the baseline; empty where nothing did beyond noise."""
    regions = () if baseline is None or baseline.comparison is None else own_regions(baseline.comparison)
    asked = [each for each in regions if target.region is not None and target.region.matches(each.name)] or regions
    changed = [(region.name, *found) for region in asked if (found := largest_change(region)) is not None]
    if not changed:
        return ""
    name, kind, change = max(changed, key=lambda each: size_of_change(each[2]))
    return f"{printable(name)}: {kind} {sentence_text(change)}. "


def _broken_text(result: Result) -> str:
    broken = [each.title for each in result.expectations if each.holds is False]
    if not broken:
        return ""
    are = "expectation is" if len(broken) == 1 else "expectations are"
    return f" {len(broken)} {are} broken: {shortlist(broken, 2)}."


def no_cuda_text(result: Result) -> str:
    """Why there are no CUDA times; empty where there are some."""
    return "" if result.no_cuda_because is None else f" No CUDA times: {result.no_cuda_because}."


def more_notes_text(notes: Sequence[Problem]) -> str:
    """That there are more notes than the first."""
    return f" {count_text(len(notes) - 1, 'more note')} in the log." if len(notes) > 1 else ""

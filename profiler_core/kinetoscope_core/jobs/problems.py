"""What a run's end, its log and Kineto's own messages mean for the reader: problems and errors with the way out."""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from kinetoscope_core.analysis.region_log import LoggedRegion, RegionLog
from kinetoscope_core.errors import (
    NEVER_ENTERED,
    NO_REGION,
    WRONG_ARGUMENTS,
    KinetoscopeError,
    NothingMeasured,
    Problem,
    ProfilerBusy,
    RunCancelled,
    RunError,
    UsageError,
)
from kinetoscope_core.results.measures import Unmeasured
from kinetoscope_core.run.outcome import Ending, Outcome
from kinetoscope_core.runner.request import ModuleChoice, RunRequest, Span
from kinetoscope_core.text import count_text, printable, short_path, shortlist, time_text
from kinetoscope_core.wording import WHAT_TO_ADD, setting

_EXITED = "script-exited"
_EXIT_OF_ARGPARSE = 2
_OF_ARGPARSE = re.compile(r"(?P<who>\S.*?): error: (?P<what>.+)")
_LOST = {
    "recording": " while it was measured. What was recorded by then is lost with the process",
    "saving": " while its trace was being saved, so what was measured is lost",
}
_IN_CHILDREN = (
    "No region ran in the script itself, and the processes that it started were not measured. In a terminal,"
    " kinetoscope profile --children measures those of a script, and kinetoscope profile -- COMMAND those of any"
    " command, as in kinetoscope profile -- torchrun --nproc-per-node 2 train.py."
)
_WINDOWS_CRASHES = {
    0xC0000005: "access violation, 0xC0000005",
    0xC00000FD: "stack overflow, 0xC00000FD",
    0xC0000374: "damaged heap, 0xC0000374",
    0xC0000409: "aborted, 0xC0000409",
}


def cupti_problems(failures: Sequence[str]) -> list[Problem]:
    """What Kineto wrote about CUPTI when the profiler started, and what can be done about it."""
    text = "\n".join(failures)
    if "MULTIPLE_SUBSCRIBERS" in text:
        message = (
            "No GPU times: another tool uses CUPTI, which allows only one (nsys, ncu, Proton, DCGM profiling or a"
            " second profiler in this process). Stop it and run again."
        )
        return [Problem("cupti-busy", message, {"kineto": text})]
    if "INSUFFICIENT_PRIVILEGES" in text or "insufficient privileges" in text:
        message = (
            "No GPU times: the driver lets only administrators profile. Load the nvidia module with"
            " NVreg_RestrictProfilingToAdminUsers=0, or give a container --cap-add SYS_ADMIN."
        )
        return [Problem("cupti-permission", message, {"kineto": text})]
    if text:
        message = f"CUPTI reported an error, so GPU times may be missing: {failures[0]}"
        return [Problem("cupti-failed", message, {"kineto": text})]
    return []


def ending_problem(outcome: Outcome) -> Problem | None:
    """Why a run whose numbers are shown did not end as a script does by itself."""
    error = ending_error(outcome)
    if error is None:
        return None
    return replace(error.problem, code="run-" + outcome.ending, message=f"{error} What was measured before is kept.")


def ending_error(outcome: Outcome) -> KinetoscopeError | None:
    """The error that a run's ending amounts to; None when the script ended as it should."""
    if outcome.ending == "not-found":
        return UsageError(f"{outcome.message}.")
    if outcome.ending == "failed":
        return RunError(outcome.failure or f"The {outcome.what} failed.")
    if outcome.ending == "exited" and outcome.exit_code in _WINDOWS_CRASHES and outcome.script_code is None:
        return RunError(f"The script crashed ({_WINDOWS_CRASHES[outcome.exit_code]}).")
    if outcome.ending == "exited":
        how = " by os._exit" if outcome.left_by else ""
        code = outcome.exit_code if outcome.script_code is None else outcome.script_code
        return RunError(Problem(_EXITED, f"The {outcome.what} ended with exit code {code}{how}.", {"exit_code": code}))
    if outcome.ending == "killed":
        return RunError(
            f"The {outcome.what} was killed by signal {-outcome.exit_code}{_signal_hint(-outcome.exit_code)}."
        )
    if outcome.ending == "cancelled":
        return RunCancelled("The run was cancelled.")
    if outcome.ending == "time-limit":
        return NothingMeasured("The time limit ended the run.")
    return None


def with_last_words(problem: Problem, stderr: str) -> Problem:
    """What argparse said of the script's arguments, in place of the exit code 2 that it ends a script with."""
    lines = stderr.strip().splitlines()
    said = _OF_ARGPARSE.match(lines[-1]) if lines and problem.evidence.get("exit_code") == _EXIT_OF_ARGPARSE else None
    if problem.code != _EXITED or said is None:
        return problem
    what = said["what"].replace("the following arguments are required: ", "arguments required: ").rstrip(".")
    return replace(problem, code=WRONG_ARGUMENTS, message=printable(f"{said['who']}: {what}."))


def _signal_hint(number: int) -> str:
    hints = {
        9: " (SIGKILL; often the system ran out of memory)",
        11: " (SIGSEGV, a crash in native code)",
        6: " (SIGABRT)",
    }
    return hints.get(number, "")


def nothing_measured(
    request: RunRequest,
    outcome: Outcome,
    known: Sequence[str],
    log: RegionLog | None,
    script: Path | None = None,
) -> KinetoscopeError:
    """Why a run gave nothing to show: its failure, else what it did not do. `known` names the regions of `script`."""
    lost = _LOST.get(outcome.lost_while or "", "")
    if outcome.ending == "time-limit" and not outcome.problems:
        return NothingMeasured(f"The time limit ended the run{lost or ' before any region was measured'}.")
    error = ending_error(outcome)
    if error is not None:
        if outcome.problems:
            lost += f"; {'; '.join(dict.fromkeys(each.message.rstrip('.') for each in outcome.problems))}"
        return type(error)(replace(error.problem, message=f"{str(error).removesuffix('.')}{lost}."))
    if outcome.problems:
        return _problems_error(outcome.problems)
    if not outcome.torch_was_imported:
        return NothingMeasured("The script did not import torch, so no region was reached.")
    if log is not None and log.was_aside:
        if not log.script_recordings:
            return NothingMeasured(
                "The script's own profiler recorded nothing, because its schedule never became active."
                " Call its step() in each iteration, or let it wait for fewer steps."
            )
        return NothingMeasured(
            "The script's own profiler ran outside every region. Start it around one, or remove it: without it,"
            " Kinetoscope starts its own."
        )
    if log is not None and log.regions and request.has_focus:
        return _focus_not_measured(request, log)
    if log is not None and log.regions:
        return NothingMeasured(
            "All regions ran on other threads, which torch records from 2.7 on. Update torch, or enter a region on the"
            " main thread."
        )
    if log is not None and log.has_children:
        return NothingMeasured(_IN_CHILDREN)
    if request.has_focus and request.focus_places:
        return _never_entered(request, script, f"the region at {_short_place(request.focus_places[0])}")
    if request.modules is not None and log is not None and log.modules is not None:
        return no_module_called(request.modules, log.modules.classes)
    if known:
        return _never_entered(request, script, shortlist(known))
    message = (
        "No record_function region ran, and no optimizer step or DataLoader by which steps would be known."
        f" {WHAT_TO_ADD}"
    )
    at_top = (None, None) if script is None else (str(script), 1)
    return NothingMeasured(Problem(NO_REGION, message, {}, *at_top))


def _never_entered(request: RunRequest, script: Path | None, what: str) -> NothingMeasured:
    ran = f"-m {request.script}" if request.is_module else Path(request.script).name
    message = f"{printable(ran)} never entered {what}."
    if script is not None and _is_of_pytest(script) and not request.is_module:
        message += f" Run its tests with pytest: kinetoscope profile -m pytest -- {short_path(str(script))}."
    else:
        message += " Regions in compiled code and in subprocesses are not recorded."
    return NothingMeasured(Problem(NEVER_ENTERED, message))


def _short_place(place: Span) -> str:
    return printable(f"{Path(place.file).name}:{place.first}")


def _is_of_pytest(script: Path) -> bool:
    """By the names that pytest collects unless it is told otherwise."""
    return script.name.startswith("test_") or script.name.endswith("_test.py")


def _problems_error(problems: Sequence[Problem]) -> RunError:
    """What kept the runner from measuring, or from keeping what it measured."""
    messages = ". ".join(dict.fromkeys(each.message.rstrip(".") for each in problems))
    if any(each.code in ("line-cut", "script-ended") for each in problems):
        return RunError(f"{messages}.")
    if any(each.code == "profiler-not-started" for each in problems):
        return ProfilerBusy(f"{messages}. If another profiler is on in this process, end it, then run again.")
    return RunError(f"{messages}. If the disk is full, free some space or set XDG_CACHE_HOME to another folder.")


def _focus_not_measured(request: RunRequest, log: RegionLog) -> NothingMeasured:
    name, places = request.focus_name, request.focus_places
    names = list(dict.fromkeys(region.name for region in log.regions))
    wanted = [region.name for region in log.regions if region.name == name or _is_at(region, places)]
    if wanted:
        return NothingMeasured(
            f"{printable(wanted[0])} had too few calls for {setting('warmup')}, or ran on other threads, which"
            " torch before 2.7 does not record. Use fewer warm-up calls, or let the script run for longer."
        )
    which = f"named {printable(name)}" if name else f"at {printable(_place_text(places[0]))}"
    return NothingMeasured(
        Problem(NEVER_ENTERED, f"No region {which} was entered. These were entered: {shortlist(names)}.")
    )


def _is_at(region: LoggedRegion, places: Sequence[Span]) -> bool:
    return any(
        file == each.file and each.first <= line <= each.last for file, line in region.stands() for each in places
    )


def _place_text(place: Span) -> str:
    return f"{place.file}:{place.first}"


def no_region_entered() -> Problem:
    """A script without a region of the user's, of which there is more to show than that."""
    return Problem(
        NO_REGION, "No record_function region of yours ran. What torch itself marks and runs is shown instead."
    )


def own_profiler_without_cuda() -> Problem:
    """The script's own profiler recorded, but only the CPU."""
    return Problem(
        "own-profiler-without-cuda",
        "No GPU times: the script's own profiler records only the CPU. Add ProfilerActivity.CUDA to its activities.",
    )


def own_profiler_was_silent() -> Problem:
    """The script's own profiler kept ours away and recorded nothing."""
    return Problem(
        "own-profiler-silent",
        "The script's own profiler recorded nothing: its schedule never became active, or it was emit_nvtx or _itt."
        " Kinetoscope starts no second one beside it, so only what ran before is measured.",
    )


def not_ended(region: Unmeasured) -> Problem:
    """A region of which no call ended while it was recorded, so that it has no time."""
    took = time_text(region.at_least_ns or 0)
    text = f"{printable(region.name)} had not ended when the recording stopped (it took at least {took})"
    evidence = {"at_least_ns": region.at_least_ns or 0}
    return Problem("not-ended", f"{text}, so it has no time.", evidence, region.file, region.line)


def recorded_by_us(file: str | None, line: int | None, names: Sequence[str]) -> Problem:
    """Regions that ended before a profiler of the script's own began."""
    were = "was" if len(names) == 1 else "were"
    message = (
        f"{shortlist(names)} {were} recorded by Kinetoscope before the script's own profiler started. All other"
        " regions were recorded by that one."
    )
    return Problem("recorded-before-own-profiler", message, {}, file, line)


def outside_while_stopping(outside_ns: int) -> Problem:
    """Device work that has no region because the profiler was being stopped; pytorch #187483 makes that needless."""
    message = (
        f"{time_text(outside_ns)} of GPU work is outside any region. Part of it is work that other threads launched in"
        " the last 20 ms, while the profiler was being stopped."
    )
    return Problem("outside-while-stopping", message, {"outside_ns": outside_ns})


def modules_left_out(left_out: int, depth: int) -> Problem:
    """That modules further in than `depth` are in no region of their own, as there are too many to be read."""
    message = (
        f"{count_text(left_out, 'module')} more than {count_text(depth, 'level')} below the outermost one"
        f" {'is' if left_out == 1 else 'are'} measured as part of the modules around. --modules depth={depth + 1}, or"
        " names of classes, as in --modules Block,MLP, measure others."
    )
    return Problem("modules-left-out", message, {"modules": left_out, "depth": depth})


def modules_lost_sight() -> Problem:
    """That this torch does not say when compiled code runs, which our hooks would change."""
    message = (
        "Modules were measured until torch.compile was first used: this version of torch does not tell when compiled"
        " code runs, and regions of modules would change it."
    )
    return Problem("modules-lost-sight", message)


def no_module_called(choice: ModuleChoice, classes: Sequence[str]) -> NothingMeasured:
    """Why a run for regions of modules has none; `classes` are those of the modules that it saw."""
    if not classes:
        return NothingMeasured("The script called no module (torch.nn.Module), so there is nothing to measure.")
    return NothingMeasured(
        f"No module of class {shortlist(choice.classes)} was called. These were, or stand in one that was:"
        f" {shortlist(classes, most=12)}."
    )


def changed_while_running(file: str) -> Problem:
    """A source that was written while the script ran: what ran is not what stands there now."""
    message = f"{file} changed while the script ran, so its times are those of the old code. Profile again."
    return Problem("changed-while-running", message, {}, file)


def not_kept(error: UsageError) -> Problem:
    """A result that could not be stored, and is shown all the same."""
    return Problem("result-not-kept", f"{error} It is shown now, but not stored.")


def saved_when_ended(file: str, line: int, call: str) -> Problem:
    """A checkpoint, say, that the early end may have had written."""
    message = (
        f"The script was ended early, as by Ctrl-C. If it was inside this `try`, {printable(call)} (line {line}) has"
        f" saved an unfinished state. {setting('to_the_end')} lets the script run to its own end."
    )
    return Problem("saved-when-ended", message, {}, file, line)


def not_reached(file: str, line: int, name: str, outcome: Outcome, budget_s: float) -> Problem:
    """A region of the script that no call was seen of, with the cause as far as it is known."""
    ended: dict[Ending, str] = {
        "failed": "before the script failed",
        "exited": "before the script exited",
        "cancelled": "before the run was cancelled",
        "time-limit": "before the time limit ended the run",
    }
    why = ". Regions in compiled code and in subprocesses are not recorded"
    if outcome.ending in ended:
        why = f" {ended[outcome.ending]}"
    elif outcome.ended_for == "budget":
        why = f" within {budget_s:g} s of recording, after which the script was ended. {setting('budget')} allows more"
    elif outcome.ended_for == "enough":
        why = (
            ": the script was ended when the other regions had enough calls."
            f" {setting('to_the_end')} lets it run to its own end"
        )
    return Problem("region-not-reached", f"{printable(name)} (line {line}) was not reached{why}.", {}, file, line)

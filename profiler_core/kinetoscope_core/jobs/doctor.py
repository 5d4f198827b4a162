"""What there is to measure with, what is wrong with it, and what to do: for people, and for a bug report."""

import platform
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from kinetoscope_core import __version__
from kinetoscope_core.errors import InterpreterError, Problem
from kinetoscope_core.jobs.problems import cupti_problems
from kinetoscope_core.results.store import Store
from kinetoscope_core.run.driver import Driver, driver_here
from kinetoscope_core.run.env_file import variables_of
from kinetoscope_core.run.examine import Examined, examine, why_not_prepared
from kinetoscope_core.run.interpreter import Interpreter, find_interpreter
from kinetoscope_core.run.pythons import pythons
from kinetoscope_core.runner.request import RunRequest
from kinetoscope_core.text import count_text, printable, size_text
from kinetoscope_core.wording import setting

OLDEST_TORCH = (2, 1)
FEW_BYTES = 1_000_000_000
"""Of free disk: a run's traces take up to some hundreds of megabytes."""
_MOST_OTHERS = 3
"""Pythons with torch that are named where the chosen one has none."""


@dataclass(frozen=True, slots=True)
class Cache:
    """Where results are kept. `why_not_written` is None where they can be; sizes are in bytes."""

    folder: str
    runs: int
    size_bytes: int
    free_bytes: int | None
    why_not_written: str | None


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What was found. `interpreter` is None where there is none, `examined` where it did not start; `why_not_prepared`
    is None where an interpreter can be prepared, and `is_preparable` says whether that was tried and went well.
    """

    packages: Mapping[str, str]
    interpreter: Interpreter | None
    examined: Examined | None
    driver: Driver
    is_preparable: bool
    why_not_prepared: str | None
    cache: Cache
    problems: tuple[Problem, ...]

    @property
    def measures(self) -> Literal["cpu", "gpu"] | None:
        """What regions can be measured on; the CPU is, wherever the GPU is."""
        recorded = self.examined and self.examined.recorded
        if self.cache.why_not_written or not recorded or not recorded.get("cpu"):
            return None
        return "gpu" if recorded["gpu"] else "cpu"

    def as_dict(self) -> dict[str, Any]:
        """For `--json`; docs/cli.md says what is in it."""
        values = asdict(self)
        return {
            "kinetoscope": __version__,
            "python": {"version": platform.python_version(), "path": sys.executable},
            "system": platform.platform(),
            **values,
            "measures": self.measures,
        }


def diagnosis(request: RunRequest, say: Callable[[str], None]) -> Diagnosis:
    """Looks at everything that a run of this request would measure with. `say` gets what takes time."""
    problems: list[Problem] = []
    chosen, examined = None, None
    why_not: str | None = "no Python was found that can measure"
    try:
        chosen = find_interpreter(request)
        say(f"checking {chosen.path}: it imports torch and starts the profiler once, which takes seconds on a GPU")
        variables = variables_of(request)
        examined = examine(chosen.path, request.folder, variables)
        if examined.recorded is not None and not examined.recorded["error"]:
            say("checking whether an interpreter can be prepared, which imports torch again")
            has_gpu = bool(examined.recorded["gpu"])
            why_not = why_not_prepared(chosen.path, request.folder, variables, cuda=has_gpu)
    except InterpreterError as error:
        problems.append(Problem("no-interpreter", str(error)))
    driver = driver_here()
    cache = _cache()
    if chosen is not None and examined is not None:
        problems += _problems_of(chosen, examined, driver)
    if any(each.code in ("no-interpreter", "no-torch") for each in problems):
        problems += _others_with_torch(request, chosen)
    problems += _problems_of_cache(cache)
    return Diagnosis(_packages(), chosen, examined, driver, why_not is None, why_not, cache, tuple(problems))


def _packages() -> dict[str, str]:
    """The versions of what we depend on; empty where we were not installed as a package (in the VSIX)."""
    try:
        required = metadata.requires("kinetoscope") or []
    except metadata.PackageNotFoundError:
        return {}
    names = [each for each in required if "extra ==" not in each]
    names = ["".join(c if c.isalnum() or c in "-_." else " " for c in each).split()[0] for each in names]
    return {name: metadata.version(name) for name in sorted(names)}


def _cache() -> Cache:
    store = Store()
    runs = store.runs()
    why_not = store.why_not_written()
    there = next((folder for folder in (store.root, *store.root.parents) if folder.is_dir()), None)
    free = None if there is None else shutil.disk_usage(there).free
    return Cache(str(store.root), len(runs), sum(run.size_bytes for run in runs), free, why_not)


# --- what is wrong, and what to do


def _problems_of(chosen: Interpreter, examined: Examined, driver: Driver) -> Iterator[Problem]:
    for each in chosen.passed_over:
        yield Problem("passed-over", f"{each}, so scripts run with {chosen.path} ({chosen.why}).")
    torch, devices, recorded = examined.torch, examined.devices, examined.recorded
    another = f"or name another Python with {setting('interpreter')}"
    if examined.why_ended is not None and examined.python is None:
        yield Problem("no-interpreter", examined.why_ended)
    elif examined.why_ended is not None:
        text = f"{chosen.path} could not be checked: {examined.why_ended}. Try by hand what failed, {another}."
        yield Problem("not-examined", text)
    elif torch is not None and torch["error"]:
        is_missing = torch["missing"] == "torch"
        text = (
            "has no torch: install it there" if is_missing else f"cannot import torch ({torch['error']}): repair this"
        )
        yield Problem("no-torch", f"{chosen.path} {text}, {another}.")
    if torch is None or torch["error"]:
        return
    if _version(torch["version"]) < OLDEST_TORCH:
        yield Problem("torch-too-old", f"torch {torch['version']} is older than 2.1: install a newer one, {another}.")
    if devices is not None:
        yield from _problems_of_gpu(devices, driver)
    if recorded is not None:
        yield from _problems_of_recording(recorded, driver)


def _others_with_torch(request: RunRequest, chosen: Interpreter | None) -> list[Problem]:
    """Those that files tell of: none is started for it."""
    found = [each for each in pythons(Path(request.folder or ".").absolute()) if each.torch is not None]
    others = [each for each in found if chosen is None or each.path != chosen.path]
    return [
        Problem(
            "another-has-torch",
            f"To use {each.where} ({each.text}): kinetoscope profile --python {shlex.quote(each.path)} SCRIPT (in an"
            " editor: the setting kinetoscope.interpreter).",
            {"path": each.path},
        )
        for each in others[:_MOST_OTHERS]
    ]


def _problems_of_gpu(devices: Mapping[str, Any], driver: Driver) -> Iterator[Problem]:
    if devices["error"]:
        yield Problem("gpu-not-asked", f"torch failed to look for GPUs: {devices['error']}.")
    elif devices["no_cuda_because"] and driver.gpus:
        what = f"The driver has {count_text(len(driver.gpus), 'GPU')}, torch none: {devices['no_cuda_because']}."
        todo = "See what `nvidia-smi` says."
        if devices["cuda"] is None:
            todo = "Install a torch with CUDA there."
        elif devices["visible_devices"] is not None:
            todo = "The variable hides the GPUs."
        yield Problem("gpu-not-used", f"{what} {todo}")


def _problems_of_recording(recorded: Mapping[str, Any], driver: Driver) -> Iterator[Problem]:
    if recorded["error"]:
        text = (
            f"torch.profiler does not work there: {recorded['error']}. Another profiler may be running, or the disk may"
            " be full."
        )
        yield Problem("profiler-failed", text)
        return
    if not recorded["cpu"]:
        yield Problem("nothing-recorded", "torch.profiler ran and recorded no operator: this torch has no Kineto.")
    found = cupti_problems(recorded["failures"])
    yield from found
    if recorded["gpu"] is False and not found:
        text = (
            "No GPU times: the profiler recorded no kernel, and Kineto did not say why. This happens under WSL 2 with"
            " a driver without CUPTI, and beside another CUPTI client (nsys, DCGM): end that one, then try again."
        )
        yield Problem("no-kernel", text)
    if recorded["gpu"] is False and driver.counters_restricted and not driver.is_administrator:
        where = "Give the container --cap-add SYS_ADMIN, or on" if driver.is_container else "On"
        text = f"The driver lets only administrators profile here. {where} the host, load the nvidia module with"
        yield Problem("restricted", f"{text} NVreg_RestrictProfilingToAdminUsers=0.")


def _problems_of_cache(cache: Cache) -> Iterator[Problem]:
    if cache.why_not_written is not None:
        yield Problem("cache-not-written", cache.why_not_written)
    elif cache.free_bytes is not None and cache.free_bytes < FEW_BYTES:
        free = size_text(cache.free_bytes)
        text = f"The disk of {cache.folder} has only {free} left; the trace of a run can be larger. Free some space."
        yield Problem("disk-full", text)


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:2] if part.isdigit())


# --- as text


def text_of(found: Diagnosis) -> str:
    """The same for people, a matter a line, and last what is wrong."""
    here = f"Python {platform.python_version()} ({sys.executable}), {platform.platform()}"
    lines = [("Kinetoscope", f"{__version__}, {here}")]
    if found.packages:
        lines.append(("with", ", ".join(f"{name} {version}" for name, version in found.packages.items())))
    lines += _lines_of_interpreter(found)
    lines.append(("driver", _driver_text(found.driver)))
    cache = found.cache
    size = f"{count_text(cache.runs, 'run')}, {size_text(cache.size_bytes)}"
    free = "" if cache.free_bytes is None else f"; {size_text(cache.free_bytes)} are free on the disk"
    lines.append(("cache", f"{cache.folder}: {size}, {'cannot' if cache.why_not_written else 'can'} be written{free}"))
    verdict = {
        "gpu": "Regions can be measured on the GPU and the CPU.",
        "cpu": "Regions can be measured on the CPU alone.",
        None: "Regions cannot be measured.",
    }[found.measures]
    said = [f"{name + ':':12} {printable(text)}" for name, text in lines]
    return "\n".join([*said, "", verdict, *(f"- {printable(each.message)}" for each in found.problems)]) + "\n"


def _lines_of_interpreter(found: Diagnosis) -> Iterator[tuple[str, str]]:
    chosen, examined = found.interpreter, found.examined
    if chosen is None:
        yield "scripts", "no interpreter"
        return
    python = f"Python {examined.python}" if examined and examined.python else "did not start"
    yield "scripts", f"{python}, {chosen.path} ({chosen.why})"
    if examined is None:
        return
    torch, devices, recorded = examined.torch, examined.devices, examined.recorded
    if torch is not None:
        took = f"imported in {torch['seconds']:.1f} s"
        yield "torch", f"not imported: {torch['error']}" if torch["error"] else f"{torch['version']}, {took}"
    if devices is not None:
        of_torch = f"torch has CUDA {devices['cuda']}, " if devices.get("cuda") else ""
        none = f"{of_torch}no GPU: {devices.get('no_cuda_because') or devices['error']}"
        yield "GPU", f"{of_torch}{', '.join(devices['devices'])}" if devices.get("devices") else none
    if recorded is not None:
        yield "profiler", _recorded_text(recorded)
        can = "possible for the next run" if found.is_preparable else f"not possible: {found.why_not_prepared}"
        yield "prepared", can


def _recorded_text(recorded: Mapping[str, Any]) -> str:
    if recorded["error"]:
        return f"failed: {recorded['error']}"
    cpu = "operators" if recorded["cpu"] else "no operators"
    gpu = {True: ", and GPU kernels through CUPTI", False: ", but no GPU kernel", None: "; there is no GPU to record"}
    kineto = "".join(f"; Kineto said: {each}" for each in recorded["failures"])
    return f"records {cpu}{gpu[recorded['gpu']]}; start, stop and export took {recorded['seconds']:.1f} s{kineto}"


def _driver_text(driver: Driver) -> str:
    text = f"{driver.version}, {', '.join(driver.gpus)}" if driver.version else f"none: {driver.why_none}"
    restricted = {
        True: "only administrators may read performance counters",
        False: "all users may read performance counters",
        None: "",
    }[driver.counters_restricted]
    rights = {True: "CAP_SYS_ADMIN is given", False: "CAP_SYS_ADMIN is not given", None: ""}[driver.is_administrator]
    container = "in a container" if driver.is_container else ""
    return "; ".join(filter(None, [text, restricted, rights if restricted else "", container]))

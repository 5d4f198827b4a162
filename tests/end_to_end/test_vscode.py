"""The extension in a real VS Code, code-server 4.100.3, used by keys and mouse in a real browser.

Each scenario is a module in vscode/; those of a test are played in one VS Code, with the built VSIX. What fails is told
with its step and a screenshot; PICTURES=1 asks for one of each step. They stay in build/screenshots, in a folder for
each scenario.
"""

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest

from kinetoscope_core.jobs.measure import measure_run
from kinetoscope_core.results.result import to_json
from kinetoscope_core.results.store import Store
from kinetoscope_core.run.outcome import DeviceFacts, Outcome
from kinetoscope_core.runner.request import RunRequest
from kinetoscope_core.source.snapshot import Sources

ROOT = Path(__file__).parents[2]
RUNS = ROOT / "tests" / "traces" / "runs"

pytestmark = pytest.mark.timeout(2100)  # scenarios end themselves before


def keep_recorded(name: str, example: Path, cache: Path) -> None:
    """Puts a run that an H200 recorded into the store, as one of the example at its place."""
    store = Store(cache / "kinetoscope")
    folder = store.new_folder()
    log = (RUNS / name / "regionlog.json").read_text(encoding="utf-8")
    log = log.replace(f"/recorded/examples/{example.name}", str(example))
    (folder / "regionlog.json").write_text(log, encoding="utf-8")
    for trace in (RUNS / name).glob("*.gz"):
        (folder / trace.stem).write_bytes(gzip.decompress(trace.read_bytes()))
    recorded = json.loads((RUNS / name / "result.json").read_text(encoding="utf-8"))
    run = recorded["run"]
    request = RunRequest(str(example), arguments=tuple(run["arguments"]), focus_name="backward")
    device = DeviceFacts(torch=recorded["torch"], cuda="13.0", devices=("NVIDIA H200",))
    outcome = Outcome(run["ending"], 0, 0.0, run["interpreter"], device=device, torch_was_imported=True)
    result = measure_run(request, outcome, folder, run["started"], example, Sources())
    traces = tuple(store.final_folder(folder) / trace.name for trace in result.traces)
    store.keep(folder, to_json(replace(result, traces=traces)))


def test_a_scenario_that_cannot_be_played_is_a_failure(play):
    with pytest.raises(AssertionError, match="failed in no_scenario at: the start"):
        play("no_scenario")


def test_a_newcomer_profiles_the_example_edits_repeats_and_cancels_runs_and_chooses_an_interpreter(play):
    old = sorted(Path.home().glob(".pyenv/versions/3.[6-9].*/bin/python"))
    # A newcomer has measured nothing yet.
    play("welcome", "profiling", "second_run", "runs", "interpreters", old=str(old[-1]) if old else None)


@pytest.fixture
def trained(tmp_path):
    """The workspace has examples/train_mlp.py, and the store a run of it that an H200 recorded."""
    example = tmp_path / "workspace" / "train_mlp.py"
    example.parent.mkdir()
    example.write_bytes((ROOT / "examples" / "train_mlp.py").read_bytes())
    keep_recorded("train_mlp_focus", example, tmp_path / "cache")


@pytest.mark.beside
@pytest.mark.usefixtures("trained")
def test_traces_and_runs_of_an_h200_are_loaded_listed_and_shown_with_findings_details_and_perfetto_in_each_theme(play):
    # The list has nothing but the run of another day at first.
    play("run_list", "loading", "traces", "findings", "themes")


def test_a_workspace_is_trusted_then_a_change_compared_a_baseline_pinned_settings_swept_and_modules_measured(play):
    # A workspace stays trusted.
    play("trust", "compare", "sweeping", "modules")

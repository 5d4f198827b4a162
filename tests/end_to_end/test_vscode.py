"""The extension in a real VS Code, code-server 4.100.3, used by keys and mouse in a real browser.

Each scenario is a module in vscode/; those of a test are played in one VS Code, with the built VSIX. What fails is told
with its step. Screenshots of the steps stay in build/screenshots, in a folder for each scenario.
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

pytestmark = pytest.mark.timeout(1500)  # scenarios end themselves before


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


def test_a_newcomer_is_led_to_the_example(play):
    play("welcome")


def test_the_example_is_profiled_and_edited_and_runs_are_repeated_ask_fail_and_are_cancelled(play):
    play("profiling", "second_run", "runs")


@pytest.fixture
def trained(tmp_path):
    """The workspace has examples/train_mlp.py, and the store a run of it that an H200 recorded."""
    example = tmp_path / "workspace" / "train_mlp.py"
    example.parent.mkdir()
    example.write_bytes((ROOT / "examples" / "train_mlp.py").read_bytes())
    keep_recorded("train_mlp_focus", example, tmp_path / "cache")


@pytest.mark.usefixtures("trained")
def test_a_trace_of_an_h200_is_shown_at_the_line_in_details_and_in_perfetto(play):
    play("traces")


def test_a_workspace_is_trusted_then_a_change_compared_a_baseline_pinned_and_settings_swept(play):
    play("trust", "compare", "sweeping")


@pytest.mark.usefixtures("trained")
def test_a_trace_is_shown_where_its_regions_are_findings_lead_to_all_about_them_and_all_follows_the_theme(play):
    play("loading", "findings", "themes", scale=1.4)


@pytest.mark.usefixtures("trained")
def test_what_was_measured_is_listed_and_can_be_opened_pinned_and_deleted(play):
    play("run_list")


def test_an_interpreter_that_will_not_do_is_told_and_another_one_taken_without_a_reload(play):
    old = sorted(Path.home().glob(".pyenv/versions/3.[6-9].*/bin/python"))
    play("interpreters", old=str(old[-1]) if old else None)

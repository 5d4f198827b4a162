"""Settings are read as clients send them, and what is wrong is named."""

from pathlib import Path

import pytest

from kinetoscope_core.errors import UsageError
from kinetoscope_core.source.regions import find_regions
from kinetoscope_server.runs.targets import Target, request_of
from kinetoscope_server.settings.settings import RunSettings, Settings, read_settings


def settings(**values):
    found, wrong = read_settings(values)
    assert not wrong
    return found


def test_nothing_and_null_are_the_defaults():
    assert read_settings(None) == (Settings(), [])
    assert read_settings({"interpreter": None, "warmupCalls": None, "howFilesAreRun": None}) == (Settings(), [])
    assert read_settings({"interpreter": ""}) == (Settings(), [])


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"warmupCalls": -1}, "kinetoscope.warmupCalls: its value is not a whole number from 0 to 1,000,000"),
        ({"warmupCalls": 10**30}, "kinetoscope.warmupCalls: its value is not a whole number"),
        ({"budgetSeconds": float("nan")}, "kinetoscope.budgetSeconds: its value is not a number"),
        ({"timeLimitSeconds": 1e300}, "kinetoscope.timeLimitSeconds: its value is not a number"),
        ({"hints": ["total"]}, "kinetoscope.hints: its value is not one of"),
        ({"hints": "[Click](command:x)"}, "kinetoscope.hints: its value is not one of"),
        ({"warmupCalls": True}, "kinetoscope.warmupCalls: its value is not"),
        ({"measuredCalls": 0}, "kinetoscope.measuredCalls: its value is not a whole number from 1 to 1,000,000"),
        ({"budgetSeconds": "20"}, "kinetoscope.budgetSeconds: its value is not a number of seconds above 0"),
        ({"arguments": "--size 4"}, "kinetoscope.arguments: its value is not a list of strings"),
        ({"environment": {"A": 1}}, "kinetoscope.environment: its value is not an object of names and strings"),
        ({"severities": {"mixed": "loud"}}, "kinetoscope.severities.mixed: its value is not one of error, warning"),
        ({"severities": {"odd": "off"}}, "kinetoscope.severities.odd: there is no such setting"),
        ({"perfetto": "ui.perfetto.dev"}, "kinetoscope.perfetto: its value is not an address"),
        (
            {"howFilesAreRun": [{"files": "a", "warmupCalls": 1}]},
            "kinetoscope.howFilesAreRun[0].warmupCalls: there is no such setting",
        ),
        (
            {"howFilesAreRun": [{"script": "a", "module": "b"}]},
            "kinetoscope.howFilesAreRun[0]: script and module cannot both be set",
        ),
        ({"warm": "gpu"}, 'kinetoscope.warm is now kinetoscope.prepare, with "afterRun", "onOpen" or "off"'),
        ({"prepare": "always"}, "kinetoscope.prepare: its value is not one of afterRun, onOpen, off"),
        (
            {"prepared": {"packages": ["a b"]}},
            "kinetoscope.prepared.packages: its value is not a list of module names",
        ),
        ([], "kinetoscope: its value is not an object"),
    ],
)
def test_what_is_wrong_is_named_and_the_default_taken(values, named):
    found, wrong = read_settings(values)
    assert len(wrong) == 1
    assert wrong[0].startswith(named)
    assert found.warmup == 3


def test_run_settings_that_fit_a_file_go_over_one_another():
    found = settings(
        arguments=["--general"],
        environment={"A": "1", "B": "1"},
        howFilesAreRun=[
            {"files": "examples/*.py", "environment": {"B": "2"}},
            {"files": ["train.py", "/elsewhere/*"], "arguments": ["--train"]},
            {"files": "*/model/*.py", "module": "main"},
        ],
    )
    root = Path("/work")
    general = RunSettings((), None, None, None, ("--general",), {"A": "1", "B": "1"}, None)
    assert found.run_settings("/work/other.py", root) == general
    assert found.run_settings("/work/examples/a.py", root).environment == {"A": "1", "B": "2"}
    assert found.run_settings("/work/examples/train.py", root).arguments == ("--train",)
    assert found.run_settings("/elsewhere/x.py", root).arguments == ("--train",)
    assert found.run_settings("/work/src/model/deep/net.py", root).module == "main"


def test_a_request_has_absolute_paths_and_the_line_on_disk(tmp_path):
    script = tmp_path / "train.py"
    script.write_text('from torch.profiler import record_function\n\nwith record_function("a"): pass\n')
    edited = '# more\n\nfrom torch.profiler import record_function\nwith record_function("a"): pass\n'
    (region,) = find_regions(edited)
    found = settings(interpreter="env/bin/python", arguments=["${workspaceFolder}/data"], workingDirectory="data")
    request = request_of(Target("", str(script), region), found, tmp_path)
    assert request.region == f"{script}:3"
    assert request.interpreter == str(tmp_path / "env/bin/python")
    assert request.folder == str(tmp_path / "data")
    assert request.arguments == (f"{tmp_path}/data",)
    tests = settings(
        howFilesAreRun=[{"module": "pytest", "arguments": ["-q", "${file}"], "environment": {"IT": "${file}"}}]
    )
    request = request_of(Target("", str(script)), tests, tmp_path)
    assert (request.arguments, request.environment) == (("-q", str(script)), {"IT": str(script)})
    other = settings(howFilesAreRun=[{"module": "package.main"}])
    assert request_of(Target("", str(script)), other, tmp_path).script == "package.main"
    script.unlink()
    with pytest.raises(UsageError, match="not on disk"):
        request_of(Target("", str(script)), found, tmp_path)


def test_the_worker_chooses_an_interpreter_up_to_the_workspace_s_folder_where_none_is_set(tmp_path):
    script = tmp_path / "src" / "train.py"
    script.parent.mkdir()
    script.write_text("")
    request = request_of(Target("", str(script)), settings(workingDirectory="src"), tmp_path)
    assert (request.interpreter, request.top, request.folder) == (None, str(tmp_path), str(tmp_path / "src"))
    named = request_of(Target("", str(script)), settings(interpreter="python3.12"), tmp_path)
    assert named.interpreter == "python3.12"

"""The server as the extension carries it: with its own libraries in any CPython, and none of them for the script."""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from lsprotocol import types as lsp

ROOT = Path(__file__).parents[2]
TRACE = ROOT / "tests" / "traces" / "h200" / "matmul_add_64.json.gz"
MINORS = ["3.10", "3.11", "3.12", "3.13", "3.14"]
ONE_REGION = """from torch.profiler import record_function

def one_pass(run):
    with record_function("matmul_add"):
        run()
"""
LOOKS_AROUND = """import json, os, sys
import orjson
import torch
from torch.profiler import record_function

seen = {
    "path": sys.path,
    "environment": {**os.environ},
    "orjson": orjson.__file__,
    "files": sorted(module.__file__ for module in sys.modules.values() if getattr(module, "__file__", None)),
}
with open(sys.argv[1], "w") as file:
    json.dump(seen, file)

for _ in range(10):
    with record_function("work"):
        torch.ones(8).sum()
"""


def interpreter(minor):
    """A CPython of that version that runs. A name on the path may be pyenv's, which stands for none."""
    kept_by_pyenv = sorted(Path.home().glob(f".pyenv/versions/{minor}.*/bin/python"))
    for candidate in [*map(str, kept_by_pyenv), shutil.which(f"python{minor}")]:
        if candidate and subprocess.run([candidate, "-c", ""], capture_output=True).returncode == 0:
            return candidate
    return None


def open_file(client, path, text):
    path.write_text(text, encoding="utf-8")
    item = lsp.TextDocumentItem(path.as_uri(), "python", 1, text)
    client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
    return lsp.TextDocumentIdentifier(path.as_uri())


@pytest.mark.parametrize("minor", MINORS)
async def test_the_server_runs_in_each_cpython_with_the_libraries_in_the_bundle_alone(start, tmp_path, minor):
    python = interpreter(minor)
    if python is None:
        pytest.skip(f"no CPython {minor} here")
    client = await start(python, "-S")  # without site-packages: there is nothing but the standard library and ours
    document = open_file(client, tmp_path / "region.py", ONE_REGION)
    lenses = await client.text_document_code_lens_async(lsp.CodeLensParams(document))
    assert (lenses[0].range.start.line, lenses[0].command.title) == (3, "▷ Profile")

    load = lsp.ExecuteCommandParams("kinetoscope.loadTrace", [[str(TRACE)], [document.uri]])
    await client.workspace_execute_command_async(load)
    whole = lsp.InlayHintParams(document, lsp.Range(lsp.Position(0, 0), lsp.Position(9, 0)))
    while not (hints := await client.text_document_inlay_hint_async(whole)):  # noqa: ASYNC110 - only the server knows
        await asyncio.sleep(0.05)
    assert "".join(part.value for part in hints[0].label).startswith("CUDA ")


async def test_a_run_sees_nothing_of_the_bundle(start, bundled, tmp_path):
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    for name in ("orjson", "cattrs", "kinetoscope_core"):
        (theirs / f"{name}.py").write_text("of = 'the user'\n", encoding="utf-8")
    # As in a terminal whose Python finds their modules first, and none of the working directory.
    environment = {"PYTHONPATH": str(theirs), "PYTHONSAFEPATH": "1", "XDG_CACHE_HOME": str(tmp_path / "cache")}
    script, plain, profiled = tmp_path / "script.py", tmp_path / "plain.json", tmp_path / "profiled.json"
    script.write_text(LOOKS_AROUND, encoding="utf-8")
    env = {**os.environ, **environment}
    env.pop("VIRTUAL_ENV", None)
    by_hand = await asyncio.create_subprocess_exec(sys.executable, script, plain, cwd=tmp_path, env=env)
    assert await by_hand.wait() == 0

    client = await start(sys.executable, **environment)
    document = open_file(client, script, LOOKS_AROUND)
    asked = {"uri": document.uri, "arguments": [str(profiled)]}
    answer = await client.protocol.send_request_async("kinetoscope/profile", asked)
    assert answer.how == "measured", answer

    expected, seen = (json.loads(path.read_text(encoding="utf-8")) for path in (plain, profiled))
    assert seen["environment"].pop("KINETOSCOPE_RUN")
    assert seen["environment"] == expected["environment"]
    assert seen["path"] == expected["path"]
    assert seen["orjson"] == expected["orjson"] == str(theirs / "orjson.py")
    runner = str(bundled / "kinetoscope_core" / "runner")
    ours = [file for file in seen["files"] if file.startswith(str(bundled)) and not file.startswith(runner)]
    assert not ours


@pytest.mark.parametrize("version", ["3.6", "3.9"])
def test_an_old_python_is_told_in_one_line(bundled, version):
    python = interpreter(version)
    if python is None:
        pytest.skip(f"no CPython {version} here")
    done = subprocess.run([python, "-I", bundled / "serve.py"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert re.fullmatch(r"kinetoscope: \S+ is Python 3\.\d+\.\d+, and Kinetoscope carries libraries for .*", line)
    assert line.endswith("CPython 3.10, 3.11, 3.12, 3.13, 3.14. Choose another interpreter.")


def test_a_python_that_cannot_load_the_libraries_is_told_in_one_line(bundled, tmp_path):
    broken = tmp_path / "bundled"
    shutil.copytree(bundled, broken)
    for library in (broken / "orjson").glob("orjson.*"):
        library.unlink()
    done = subprocess.run([sys.executable, "-I", "-S", broken / "serve.py"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert "No module named 'orjson.orjson'" in line
    assert line.endswith("Choose another interpreter.")


def test_the_bundle_has_the_versions_that_the_tests_run_with():
    pins = (ROOT / "extension" / "bundled-requirements.txt").read_text(encoding="utf-8")
    tested = (ROOT / "constraints-dev.txt").read_text(encoding="utf-8")
    bundled = set(re.findall(r"^(\S+==\S+)", pins, flags=re.MULTILINE))
    assert "pygls==2.1.1" in bundled
    assert bundled <= set(re.findall(r"^([^\s;]+==[^\s;]+)", tested, flags=re.MULTILINE))

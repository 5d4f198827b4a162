"""The language server over stdio, as an editor drives it, on a real GPU."""

import json
import os
import re
from pathlib import Path

import pytest

from .conftest import ROOT
from .editor import Editor, profile

SCRIPT = ROOT / "examples" / "matmul_add.py"
NAME = "matmul_add"
ROW = next(row for row, line in enumerate(SCRIPT.read_text().splitlines()) if f'record_function("{NAME}")' in line)

TIME = r"[\d.]+ (ns|µs|ms|s)"
HINT = re.compile(rf"CUDA {TIME}( \({TIME}\))? · CPU {TIME}( \({TIME}\))?")


def keep(name, text):
    """What was seen, for $OUT."""
    if "OUT" in os.environ:
        kept = Path(os.environ["OUT"]) / "results"
        kept.mkdir(exist_ok=True, parents=True)
        (kept / name).write_text(text, encoding="utf-8")


@pytest.fixture
def editor(tmp_path):
    editor = Editor(ROOT, SCRIPT, tmp_path / "cache")
    yield editor
    editor.kill()


@pytest.mark.gpu
def test_both_sizes_of_the_guide_from_the_click_to_the_bound(editor):
    assert editor.hints() == {}
    seen = {}
    for size, bound in [(64, "overhead-bound"), (4096, "compute-bound")]:
        hint, seconds = profile(editor, ROW, NAME, ["--size", str(size)])
        assert HINT.fullmatch(hint), hint
        assert len(hint) <= 43
        editor.until(lambda: editor.codes(ROW) == [bound], f"diagnostic {bound}", 10)  # noqa: B023 - called at once
        (diagnostic,) = (each for each in editor.diagnostics[editor.uri] if each["code"] == bound)
        hover = editor.hover(ROW)
        assert "| CUDA total" in hover  # one row where total, self and busy are equal
        assert "| CUDA busy |" in hover
        assert f"--size {size}" in hover
        assert {(ROW, "▷ Profile"), (ROW, "Trace"), (ROW, "Details")} <= set(editor.lenses())
        seen[size] = {"hint": hint, "click_to_hint_s": round(seconds, 2), "diagnostic": diagnostic["message"]}
        keep(f"server_matmul_add_{size}.md", hover)
        print(diagnostic["message"])
    assert seen[64]["hint"] != seen[4096]["hint"]
    assert len(editor.shown) == 2, editor.shown  # one message a run, at its end
    keep("server.json", json.dumps(seen, indent=1, ensure_ascii=False))

    link = editor.command("openTrace", editor.uri, ROW, NAME)
    assert link.startswith("http://127.0.0.1:")
    assert editor.close() == 0


@pytest.mark.gpu
def test_a_request_to_profile_answers_when_it_is_measured(editor):
    answer = editor.request("kinetoscope/profile", within_s=120, uri=editor.uri, line=ROW, name=NAME)
    assert answer["how"] == "measured", answer
    assert HINT.fullmatch(editor.hints()[ROW])
    assert editor.shown == []  # the client says how it went
    assert editor.close() == 0

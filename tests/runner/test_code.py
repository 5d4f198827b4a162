"""Which code ran: the digests that tell whether two runs are of the same code."""

HELPER = "SIZE = 8\n"
SCRIPT = """import json
import torch
from helper import SIZE
from torch.profiler import record_function

for step in range(99):
    with record_function("step"):
        torch.ones(SIZE) + 1
"""


def test_a_run_knows_the_user_s_files_that_it_loaded(kinetoscope, tmp_path):
    (tmp_path / "helper.py").write_text(HELPER)
    (tmp_path / "unused.py").write_text(HELPER)
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    first = kinetoscope(script).result["run"]["code"]
    assert set(first) == {str(script), str(tmp_path / "helper.py")}
    assert all(first.values())
    assert kinetoscope(script).result["run"]["code"] == first
    (tmp_path / "helper.py").write_text(HELPER.replace("8", "16"))
    changed = kinetoscope(script).result["run"]["code"]
    assert {file for file in first if changed[file] != first[file]} == {str(tmp_path / "helper.py")}


def test_what_was_written_while_it_ran_is_not_known(kinetoscope, tmp_path):
    helper = tmp_path / "helper.py"
    helper.write_text(HELPER)
    script = tmp_path / "script.py"
    script.write_text(SCRIPT + f"open({str(helper)!r}, 'a').write('# more')\n")
    code = kinetoscope(script, options=("--to-the-end",)).result["run"]["code"]
    assert code[str(helper)] == ""
    assert code[str(script)]

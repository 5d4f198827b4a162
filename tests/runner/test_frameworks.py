"""Scripts as users of frameworks write them (../shared/cases/scripts, s10 to s14), each with its framework.

CI installs none of them; what each does is tried with torch alone, too: Hydra's change of folder in test_as_python.py,
typer's exit in test_endings.py, the profiles of Accelerate, Lightning and the Trainer, which step, export and are left
to their framework, in test_profilers.py.
"""

import shutil
from importlib.util import find_spec

import pytest
from made_traces import SHARED

CASES = SHARED / "cases" / "scripts"
STEPS = {"forward": (8, 5), "backward": (8, 5), "optimizer": (8, 5)}

# Script, framework, arguments: calls that were recorded and that count, exit code, a line of the script's own.
RUNS = [
    ("s10_lightning.py", "lightning", [], {"forward": (8, 5), "loss": (8, 5)}, 0, b""),
    ("s10_lightning.py", "lightning", ["pytorch"], {"forward": (3, 3), "loss": (3, 3)}, 0, b"fit done"),
    ("s10b_lightning_nested.py", "lightning", [], {"forward": (3, 3), "loss": (3, 3)}, 0, b"Self CPU time total"),
    ("s11_accelerate.py", "accelerate", [], STEPS, 0, b""),
    ("s11_accelerate.py", "accelerate", ["own"], dict.fromkeys(STEPS, (6, 6)), 0, b"ready at step 12\ndone"),
    ("s12_hf_trainer.py", "transformers", [], {"compute_loss": (8, 5), "training_step": (8, 5)}, 0, b""),
    ("s12_hf_trainer.py", "transformers", ["own"], {"compute_loss": (4, 4), "training_step": (4, 4)}, 0, b"trained"),
    ("s13_hydra/app.py", "hydra", ["width=32"], {"matmul": (8, 5), "act_32": (8, 5)}, 0, b"in outputs"),
    ("s14_typer_app.py", "typer", ["train", "--steps", "9"], {"step": (9, 6)}, 0, b"trained 9"),
    ("s14_typer_app.py", "typer", ["evaluate"], {"evaluate": (1, 1)}, 1, b""),
]


@pytest.mark.parametrize(("script", "framework", "arguments", "counts", "code", "line"), RUNS)
def test_regions_of_a_framework_s_script(kinetoscope, tmp_path, script, framework, arguments, counts, code, line):
    if find_spec(framework) is None or not CASES.is_dir():
        pytest.skip(f"needs {framework} and ../shared/cases")
    shutil.copytree(CASES, tmp_path / "scripts")
    ran = kinetoscope(script, *arguments, cwd=tmp_path / "scripts")
    assert ran.code == code, ran
    found = ran.counts()
    assert {name: found.get(name) for name in counts} == counts
    assert line in ran.script_output
    assert b"Traceback" not in ran.script_output
    files = {region["file"] for region in ran.result["regions"] if region["name"] in counts}
    assert all(file.startswith(str(tmp_path)) for file in files)

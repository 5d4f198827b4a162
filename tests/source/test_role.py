"""What a file is for, by its text."""

import pytest

from kinetoscope_core.source.regions import SourceRegions
from kinetoscope_core.source.role import importers, pytest_id, role_of

MODULE = '''"""A module."""
from __future__ import annotations
import logging
import torch
from torch.profiler import record_function

try:
    import triton
except ImportError:
    triton = None

__all__ = ["Model"]
logger = logging.getLogger(__name__)
SIZE: int = 4
DEFAULT = Options()

if torch.cuda.is_available():
    DEVICE = "cuda"
else:
    DEVICE = "cpu"

class Options: ...

@torch.no_grad()
def forward(x):
    with record_function("forward"):
        return x
'''


@pytest.mark.parametrize(
    ("more", "role"),
    [
        ("", "module"),
        ("if __name__ == '__main__':\n    forward(1)\n", "script"),
        ("if '__main__' == __name__: forward(1)\n", "script"),
        ("forward(1)\n", "script"),
        ("y = forward(1)\n", "script"),
        ("later = lambda: forward(1)\n", "module"),
        ("model = torch.nn.Linear(2, 2)\nloss = model(1).sum()\n", "script"),
        ("for _ in range(3):\n    pass\n", "script"),
        ("with record_function('all'):\n    pass\n", "script"),
        ("if SIZE:\n    forward(2)\n", "script"),
        ("def broken(:\n", "module"),
    ],
)
def test_a_module_only_defines(more, role):
    assert role_of(SourceRegions(MODULE + more), "/work/model.py") == role


@pytest.mark.parametrize(
    ("name", "text", "role"),
    [
        ("test_model.py", "def test_forward():\n    pass\n", "tests"),
        ("model_test.py", "torch.manual_seed(0)\nclass TestModel:\n    pass\n", "tests"),
        ("test_model.py", "for _ in range(3):\n    step()\n", "script"),
        ("test_model.py", "def test_forward():\n    pass\nif __name__ == '__main__':\n    test_forward()\n", "script"),
        ("speed.py", "import pytest\n\n@pytest.mark.slow\ndef test_speed():\n    pass\n", "tests"),
        ("speed.py", "def test_speed():\n    pass\n", "module"),
    ],
)
def test_tests_are_what_pytest_collects(name, text, role):
    assert role_of(SourceRegions(text), f"/work/{name}") == role


@pytest.mark.parametrize(
    ("path", "test"),
    [
        ("test_forward", "test_forward"),
        ("test_forward.<lambda>", "test_forward"),
        ("ModelTests.test_forward", "ModelTests::test_forward"),
        ("Model.forward", None),
        ("", None),
    ],
)
def test_a_region_lies_in_a_test(path, test):
    assert pytest_id(path) == test


def test_who_imports_a_module_is_found_by_its_text_the_nearest_first(tmp_path):
    texts = {
        "model.py": "import torch\n",
        "trainer.py": "from package.model import Model\n",
        "train.py": "import trainer  # not model\n",
        "test_model.py": "    from .model import (Model)\n",
        "other.py": "import modelling\n# import model\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    files = [str(tmp_path / name) for name in texts]
    found = importers(files[0], [*files, str(tmp_path / "gone.py")])
    assert [each.rpartition("/")[2] for each in found] == ["trainer.py", "test_model.py", "train.py"]

"""`record_function` is called as the file already does, and else imported where isort and ruff would leave it."""
# ruff: noqa: E501 - tables of texts

import pytest

from kinetoscope_core.source.regions import SourceRegions
from kinetoscope_core.source.wrapping import Refusal, measure_block, remove_region

IMPORT = "from torch.profiler import record_function\n"
FUNCTION = "\n\ndef f():\n    "
CODE = FUNCTION + "a()\n"


def with_region(text: str) -> tuple[str, str]:
    """The text above the line with the last `a()`, and what its `with` calls, after a check that it goes again."""
    source = SourceRegions(text)
    row = text[: text.rindex("a()")].count("\n")
    found = measure_block(source, row, row)
    assert not isinstance(found, Refusal), found
    source.apply(found.edits())
    head, _, callee = source.data.decode().rpartition('("a"):')[0].rpartition("with ")
    removed = remove_region(source, next(region for region in source.regions if region.name == "a"))
    assert removed is not None
    assert not isinstance(removed, Refusal), removed
    source.apply(removed.edits())
    assert source.data.decode() == text
    return head, callee


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ('"""Doc."""\n', f'"""Doc."""\n\n{IMPORT}'),
        ("import os\n", f"import os\n\n{IMPORT}"),
        ("import torch\n", f"import torch\n{IMPORT}"),
        ("import os\n\nimport torch\n\nfrom . import x\n", f"import os\n\nimport torch\n{IMPORT}\nfrom . import x\n"),
        ("import torch\nfrom tqdm import tqdm\n", f"import torch\n{IMPORT}from tqdm import tqdm\n"),
        ("import torch\nimport tqdm\n", f"import torch\nimport tqdm\n{IMPORT}"),
        ("import numpy\nfrom a import b\n", f"import numpy\nfrom a import b\n{IMPORT}"),
        (
            "from torch import nn\nfrom torch.utils.data import DataLoader\n",
            f"from torch import nn\n{IMPORT}from torch.utils.data import DataLoader\n",
        ),
        (
            "import torch\n\n# why\nfrom torch.onnx import x\n\n# and\nfrom torch.utils import y\n",
            f"import torch\n\n# why\nfrom torch.onnx import x\n\n{IMPORT}# and\nfrom torch.utils import y\n",
        ),
        ("from . import x\n", f"{IMPORT}\nfrom . import x\n"),
        ('"""Doc.\n\nMore.\n"""\nfrom yaml import x\n', f'"""Doc.\n\nMore.\n"""\n{IMPORT}from yaml import x\n'),
        ("from __future__ import annotations\n", f"from __future__ import annotations\n\n{IMPORT}"),
        (
            "from torch.profiler import ProfilerActivity, profile\n",
            "from torch.profiler import ProfilerActivity, profile, record_function\n",
        ),
        (
            "from torch.profiler import profile, schedule\n",
            "from torch.profiler import profile, record_function, schedule\n",
        ),
        (
            "from torch.profiler import (\n    profile,\n    schedule,\n)\n",
            "from torch.profiler import (\n    profile,\n    record_function,\n    schedule,\n)\n",
        ),
        (
            "from torch.profiler import ProfilerActivity, profile, schedule, tensorboard_trace\n",
            (
                "from torch.profiler import (\n    ProfilerActivity,\n    profile,\n    record_function,\n    schedule,\n"
                "    tensorboard_trace,\n)\n"
            ),
        ),
        ("from torch.profiler import profile as p\n", f"from torch.profiler import profile as p\n{IMPORT}"),
        ("from torch.profiler import profile  # why\n", "from torch.profiler import profile, record_function  # why\n"),
        (
            "from typing import TYPE_CHECKING\n\nimport torch\n\nif TYPE_CHECKING:\n    from torch.profiler import record_function\n",
            (
                f"from typing import TYPE_CHECKING\n\nimport torch\n{IMPORT}\nif TYPE_CHECKING:\n    "
                "from torch.profiler import record_function\n"
            ),
        ),
    ],
)
def test_the_import_goes_where_isort_would_leave_it_and_goes_again(head, expected):
    for end in ("\n", "\r\n"):
        found, callee = with_region((head + CODE).replace("\n", end))
        assert (found.replace("\r\n", "\n"), callee) == (expected + FUNCTION, "record_function")


def test_without_other_imports_it_goes_to_the_top():
    assert with_region("def f():\n    a()\n")[0] == IMPORT + FUNCTION + ""
    assert (
        with_region("# About f.\n\n\n# f\ndef f():\n    a()\n")[0] == f"# About f.\n\n\n{IMPORT}\n\n# f\ndef f():\n    "
    )


@pytest.mark.parametrize(
    ("head", "callee"),
    [
        (IMPORT, "record_function"),
        ("from torch.autograd.profiler import record_function\n", "record_function"),
        ("from torch.profiler import record_function as rf\n", "rf"),
        ("from .profiling import record_function\n", "record_function"),
        ("try:\n    from torch.profiler import record_function\nexcept ImportError:\n    record_function = None\n", "record_function"),
        ("import torch.profiler\n", "torch.profiler.record_function"),
        ("from torch import profiler\n", "profiler.record_function"),
        ("from torch.profiler import *\n", "record_function"),
    ],
)  # fmt: skip
def test_what_is_imported_is_used(head, callee):
    head += "keep = record_function, rf, torch, profiler\n"
    assert with_region(head + CODE) == (head + FUNCTION, callee)


def test_torch_that_a_function_imports_when_it_runs_is_used_there():
    text = "import os\n\n\ndef f():\n    import torch\n\n    a()\n"
    assert with_region(text) == (text.removesuffix("a()\n"), "torch.profiler.record_function")


@pytest.mark.parametrize("head", ["def record_function():\n    pass\n", "import torch\n\nrecord_function = 3\n"])
def test_where_the_name_is_something_else_it_is_imported_under_another_one(head):
    found, callee = with_region(head + CODE)
    assert callee == "torch_record_function"
    assert "from torch.profiler import record_function as torch_record_function\n" in found


def test_code_that_runs_at_once_gets_its_import_above_it():
    found, _ = with_region(
        "import os\n\nos.environ['X'] = '1'\na()\n\nimport torch\n".replace("a()\n\nimport", "a()\n\nimport")
    )
    assert found.startswith(f"import os\n\n{IMPORT}\nos.environ")


def test_an_import_that_is_exported_or_used_elsewhere_stays():
    for more in ('__all__ = ["record_function"]\n', "keep = record_function\n"):
        source = SourceRegions(f'{IMPORT}{more}with record_function("a"):\n    a()\n')
        removed = remove_region(source, source.regions[0])
        assert removed is not None
        assert not isinstance(removed, Refusal)
        source.apply(removed.edits())
        assert source.data.decode() == f"{IMPORT}{more}a()\n"

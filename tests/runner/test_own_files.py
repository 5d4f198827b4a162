"""Which loaded files are the user's."""

import sys
from types import ModuleType

from kinetoscope_core.runner.own_files import loaded_files


def test_what_torch_compile_writes_is_not_the_user_s(monkeypatch, tmp_path):
    names = ("torch._inductor.runtime.compile_tasks.cny", "models")
    for name in names:
        module = ModuleType(name)
        module.__file__ = str(tmp_path / f"{name}.py")
        monkeypatch.setitem(sys.modules, name, module)
    assert [file for file in loaded_files() if file.startswith(str(tmp_path))] == [str(tmp_path / "models.py")]

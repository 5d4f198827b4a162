# ruff: noqa: INP001
# pyright: reportMissingParameterType=false, reportUnknownParameterType=false, reportUnknownArgumentType=false
"""Imported by every Python that a command starts, since this folder is first in PYTHONPATH: waits there for torch.

It takes itself off `sys.path`, and gives way to the `sitecustomize` that would have been found without it. Readable to
any Python; what it brings needs 3.9.
"""

import os
import sys

PACKAGE = "_kinetoscope_runner"
_HERE = os.path.dirname(os.path.abspath(__file__))
_RUNNER = os.path.dirname(_HERE)
_WAITED_FOR = "torch.autograd.profiler"


class _Finder(object):
    """Finds nothing itself. When the profiler's module is about to be imported, it brings the runner and is gone."""

    def __init__(self, path):  # noqa: ANN001, ANN204
        self._path = path

    def find_spec(self, name, path=None, target=None):  # noqa: ANN001, ANN202
        if name != _WAITED_FOR or self not in sys.meta_path:
            return None
        sys.meta_path.remove(self)
        self._bring()
        for finder in list(sys.meta_path):
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                return spec
        return None

    def _bring(self):  # noqa: ANN202
        """What the runner imports is from the standard library, whatever else is on the path by now."""
        import importlib.util

        loaded = frozenset(sys.modules)
        whole_path = sys.path[:]
        sys.path[:] = self._path
        try:
            spec = importlib.util.spec_from_file_location(
                PACKAGE, os.path.join(_RUNNER, "__init__.py"), submodule_search_locations=[_RUNNER]
            )
            if spec is None or spec.loader is None:
                return
            package = importlib.util.module_from_spec(spec)
            sys.modules[PACKAGE] = package
            spec.loader.exec_module(package)
            guest = importlib.import_module(PACKAGE + ".guest")
        finally:
            sys.path[:] = whole_path
        guest.attend(loaded)


def _give_way():  # noqa: ANN202
    """Executes the `sitecustomize` behind this one. Without one there is no such module, as Python is used to.

    By what is there already: `importlib.util` would bring twenty modules, and takes 5 ms.
    """
    from _frozen_importlib import module_from_spec
    from _frozen_importlib_external import PathFinder

    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        raise ImportError("No module named 'sitecustomize'", name="sitecustomize")
    module = sys.modules["sitecustomize"] = module_from_spec(spec)
    spec.loader.exec_module(module)


sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != _HERE]
# The runner is there already in what `kinetoscope profile SCRIPT` starts within a command.
if sys.version_info >= (3, 9) and "KINETOSCOPE_JOIN" in os.environ and "KINETOSCOPE_CHANNEL" not in os.environ:
    users = {os.path.abspath(entry) for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep)}
    sys.meta_path.insert(0, _Finder([entry for entry in sys.path if os.path.abspath(entry) not in users]))
    del users
_give_way()

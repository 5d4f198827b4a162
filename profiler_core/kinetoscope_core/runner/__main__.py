"""Entry point of `python .../runner/__main__.py`: makes this folder a package without leaving a trace on `sys.path`.

No import of the package's own modules may stand at module level here: they would be looked up on the user's path.
It is readable to any Python, so that an old one gets to the version check.
"""

import os
import sys

LOADED_BY_PYTHON = frozenset(sys.modules)
PACKAGE = "_kinetoscope_runner"
FOLDER = os.path.dirname(os.path.abspath(__file__))


def _import_runner():  # noqa: ANN202 - Python 2 reads this file, too
    """Imports all that the runner needs, from the standard library alone.

    PYTHONPATH may hold a module with a name of the library; that is for the script
    (`script.forget_what_the_script_would_not_find`).
    """
    if sys.path and os.path.abspath(sys.path[0]) == FOLDER:
        del sys.path[0]
    whole_path = sys.path[:]
    users = {os.path.abspath(entry) for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep)}
    sys.path[:] = [entry for entry in whole_path if os.path.abspath(entry) not in users]
    import importlib.util

    spec = importlib.util.spec_from_file_location(
        PACKAGE, os.path.join(FOLDER, "__init__.py"), submodule_search_locations=[FOLDER]
    )
    if spec is None or spec.loader is None:
        raise ImportError("cannot load the runner from " + FOLDER)
    package = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = package
    spec.loader.exec_module(package)
    start = importlib.import_module(PACKAGE + ".start")
    sys.path[:] = whole_path
    return start


if __name__ == "__main__":
    if sys.version_info < (3, 9):
        sys.exit(2)  # the starting program says why
    sys.exit(_import_runner().main(LOADED_BY_PYTHON))

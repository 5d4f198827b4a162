"""Entry point of `python .../runner`: makes this folder a package without leaving a trace on `sys.path`.

No import of the package's own modules may stand at module level here: they would be looked up on the user's path.
"""

import importlib.util
import os
import sys

PACKAGE = "_kinetoscope_runner"


def _register_package() -> None:
    folder = os.path.dirname(os.path.abspath(__file__))
    if sys.path and os.path.abspath(sys.path[0]) == folder:
        del sys.path[0]
    spec = importlib.util.spec_from_file_location(
        PACKAGE, os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    if spec is None or spec.loader is None:
        raise ImportError("cannot load the runner from " + folder)
    package = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = package
    spec.loader.exec_module(package)


if __name__ == "__main__":
    _register_package()
    session = importlib.import_module(PACKAGE + ".session")
    sys.exit(session.main())

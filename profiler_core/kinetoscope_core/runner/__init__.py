"""Runs a script under torch.profiler, inside the user's interpreter.

Standard library and the user's torch only, Python 3.9 and newer. The folder itself is executed
(`python .../runner`); `__main__.py` registers it as a package so that `sys.path` holds no entry of ours.
"""

import os

FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep
"""Where all code of ours lies in the script's process."""

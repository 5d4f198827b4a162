"""Modules beside the script that are named like some of the standard library's."""

import sys

for name in ("hmac", "selectors", "queue", "tempfile", "signal"):
    try:
        module = __import__(name)
        print(name, getattr(module, "MINE", "not mine"))
    except Exception as error:
        print(name, type(error).__name__, error)
try:
    import random

    print(random.random() < 1)
except Exception as error:
    print(type(error).__name__, error)

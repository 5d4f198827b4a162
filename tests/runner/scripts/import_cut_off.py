"""Waits in the import of numpy that torch's own begins with, so that it can be interrupted there: torch goes on without."""

import sys
import time


class Waits:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            sys.meta_path.remove(self)
            print("now: importing", name, file=sys.stderr, flush=True)
            time.sleep(1000)


sys.meta_path.insert(0, Waits())
try:
    import torch  # noqa: F401

    print("went on", file=sys.stderr)
    time.sleep(1000)
finally:
    print("finally ran", file=sys.stderr)

"""The server with faults: hovering prints to stdout in every way and then raises, lenses speak and take 0.5 s."""

import os
import subprocess
import time
from typing import Any

from kinetoscope_server import __main__
from kinetoscope_server.features import code_lenses
from kinetoscope_server.features.hover import hovers


def hover(*_: Any, **__: Any) -> None:
    print("printed")
    os.write(1, b"written\n")
    os.system("echo from a shell")  # noqa: S605, S607
    subprocess.run(["echo", "from a child"], check=False)  # noqa: S607
    raise ZeroDivisionError("a fault in a handler")


def slow_lenses(*_: Any) -> list[Any]:
    print("lenses were asked for", flush=True)
    time.sleep(0.5)
    return []


hovers.hover = hover
code_lenses.code_lenses = slow_lenses
__main__.main(["--stderr", "INFO"])

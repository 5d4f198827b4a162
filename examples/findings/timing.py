"""How long a step takes: printed by each of these scripts, for a comparison without a profiler."""

import argparse
import time
from collections.abc import Callable

import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def asked_to_change(what: str) -> bool:
    """Whether `--changed` was given: then the script does what the finding's page suggests."""
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--changed", action="store_true", help="with the change that the page suggests")
    return parser.parse_args().changed


def run(step: Callable[[], object], steps: int = 200) -> None:
    """Runs the step and prints the mean time of one, after ten to warm up. A CPU takes as long for a few."""
    steps = steps if DEVICE == "cuda" else 5
    for _ in range(10 if DEVICE == "cuda" else 1):
        step()
    _wait()
    began = time.perf_counter()
    for _ in range(steps):
        step()
    _wait()
    print(f"{1e3 * (time.perf_counter() - began) / steps:.3f} ms a step")


def _wait() -> None:
    if DEVICE == "cuda":
        torch.cuda.synchronize()

"""Work of which a part can be added: what a comparison has to find, and what it must not.

    python benchmarks/scripts/injected.py [--gpu 1.05] [--cpu 1.05] [--launches 1.05]

Each factor multiplies what one region does: matrix products of a GPU-bound region, iterations of a loop in Python, and
small operators of an overhead-bound region.
"""

import argparse

import torch
from torch.profiler import record_function

PRODUCTS, ITERATIONS, OPERATORS = 100, 40_000, 100


def main() -> None:
    parser = argparse.ArgumentParser()
    for part in ("gpu", "cpu", "launches"):
        parser.add_argument(f"--{part}", type=float, default=1.0, metavar="FACTOR")
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    side = 1024 if device == "cuda" else 128
    a = torch.randn(side, side, device=device)
    small = torch.randn(64, device=device)
    for _ in range(12):
        with record_function("products"):
            for _ in range(round(PRODUCTS * args.gpu)):
                torch.mm(a, a)
        if device == "cuda":
            torch.cuda.synchronize()
        with record_function("python_loop"):
            total = 0
            for number in range(round(ITERATIONS * args.cpu)):
                total += number
        with record_function("small_operators"):
            for _ in range(round(OPERATORS * args.launches)):
                torch.add(small, small)
        if device == "cuda":
            torch.cuda.synchronize()


if __name__ == "__main__":
    main()

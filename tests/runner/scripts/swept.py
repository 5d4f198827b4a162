"""Writes down how it was called; its size says what it does: below 0 it fails, above 9000 it waits in its region."""

import argparse
import os
import sys
import time

import torch
from torch.profiler import record_function

parser = argparse.ArgumentParser()
parser.add_argument("--log", required=True)
parser.add_argument("--size", type=int, default=8)
parser.add_argument("--fast", action="store_true")
options = parser.parse_args()
with open(options.log, "a", encoding="utf-8") as log:
    log.write(" ".join([*sys.argv[3:], os.environ.get("LEVEL", "unset")]) + "\n")
if options.size < 0:
    raise ValueError("no such size")
for _ in range(10):
    with record_function(f"add {options.size}"):
        torch.ones(options.size) + 1
        if options.size > 9000:
            print("waiting", file=sys.stderr, flush=True)
            time.sleep(1000)

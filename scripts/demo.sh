#!/usr/bin/env bash
# Profiles examples/matmul_add.py. Without a CUDA GPU it measures the CPU, then reads what an H200 recorded of the same region.
set -euo pipefail
cd "$(dirname "$0")/.."
kinetoscope=.venv/bin/kinetoscope
example=examples/matmul_add.py
recorded=tests/traces/h200

say() { printf '\n== %s\n\n' "$1"; }

if .venv/bin/python -c 'import sys, torch; sys.exit(not torch.cuda.is_available())'; then
    for size in 64 4096; do
        say "Measured now, on this machine's GPU: matrices of $size x $size"
        "$kinetoscope" profile --python .venv/bin/python "$example" -- --size "$size"
    done
else
    say "Measured now, on this machine's CPU (no CUDA GPU here): matrices of 64 x 64"
    # Products this small are slower on many threads than on one.
    OMP_NUM_THREADS=1 "$kinetoscope" profile --python .venv/bin/python "$example" -- --size 64
    for size in 64 4096; do
        say "Recorded earlier, on an NVIDIA H200: matrices of $size x $size, after 3 warm-up calls"
        "$kinetoscope" read "$recorded/matmul_add_${size}_warm.json.gz" --source "$example"
    done
fi

#!/usr/bin/env bash
# The prepared interpreter on a CUDA GPU, in one call of less than nine minutes: from click to hints beside `python` by
# hand, and region times of prepared and plain runs by turns. prepared.json and prepared.txt go to $OUT.
#
#   bash tests/gpu/run_prepared.sh                            all parts, as many rounds as the time allows; n is said
#   bash tests/gpu/run_prepared.sh --part clicks --within 500 [--case matmul_add]...
#   bash tests/gpu/run_prepared.sh --part regions --within 500 [--case matmul_add]...
source "$(dirname "$0")/set_up.sh"
"$PYTHON" benchmarks/prepared.py --out "$OUT" "$@" 2>&1 | tee "$OUT/prepared.log"

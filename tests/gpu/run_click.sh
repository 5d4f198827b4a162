#!/usr/bin/env bash
# The warm interpreter on a CUDA GPU, in one call: its tests, and from click to hints by hand, cold and warm.
# Results go to $OUT.
#
#   bash tests/gpu/run_click.sh [ROUNDS] [ROUNDS OF REGION TIMES]
source "$(dirname "$0")/set_up.sh"
status=0
"$PYTHON" -m pytest -c tests/gpu/pytest.ini --rootdir . tests/gpu/test_warm.py -q -p no:cacheprovider 2>&1 |
  tee "$OUT/warm_tests.log" || status=1
"$PYTHON" benchmarks/click_to_hints.py "${1:-3}" 2>&1 | tee "$OUT/click_to_hints.txt" || status=1
"$PYTHON" benchmarks/click_to_hints.py "${2:-20}" --times --case "matmul_add --size 64" 2>&1 |
  tee "$OUT/region_times.txt" || status=1
exit $status

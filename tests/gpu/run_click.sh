#!/usr/bin/env bash
# The warm interpreter on a CUDA GPU, in one call: its tests, and from click to hints by hand, cold and warm.
# Results go to $OUT. As for run_all.sh, .wheels/*.whl are unpacked for the run where they are.
#
#   bash tests/gpu/run_click.sh [ROUNDS] [ROUNDS OF REGION TIMES]
set -euo pipefail
cd "$(dirname "$0")/../.."
PYTHON=${PYTHON:-python3}
export OUT=${OUT:-$PWD/gpu-results}
mkdir -p "$OUT"
if compgen -G '.wheels/*.whl' >/dev/null; then
  folder=$(mktemp -d)
  site=$folder/site-packages  # by this name it is known to hold packages
  trap 'rm -rf "$folder"' EXIT
  "$PYTHON" -m pip install -q --no-index --no-deps --no-compile --target "$site" .wheels/*.whl
  export PYTHONPATH=$site
fi
export PYTHONPATH=$PWD/profiler_core:$PWD/server${PYTHONPATH:+:$PYTHONPATH} XDG_CACHE_HOME=$OUT/../kinetoscope-cache
export KINETOSCOPE_GPU_TESTS=1
status=0
"$PYTHON" -m pytest -c tests/gpu/pytest.ini --rootdir . tests/gpu/test_warm.py -q -p no:cacheprovider 2>&1 |
  tee "$OUT/warm_tests.log" || status=1
"$PYTHON" benchmarks/click_to_hints.py "${1:-3}" 2>&1 | tee "$OUT/click_to_hints.txt" || status=1
"$PYTHON" benchmarks/click_to_hints.py "${2:-20}" --times --case "matmul_add --size 64" 2>&1 |
  tee "$OUT/region_times.txt" || status=1
exit $status

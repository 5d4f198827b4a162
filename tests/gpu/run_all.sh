#!/usr/bin/env bash
# Everything that needs a CUDA GPU, in one call: tests, then what measuring costs. Results and traces go to $OUT.
#
#   bash tests/gpu/run_all.sh              with the python3 that holds torch; pytest and our dependencies must be there
#   .wheels/*.whl, if present, are unpacked for the run only (a GPU machine without a package registry)
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
"$PYTHON" -c 'import torch; print("torch", torch.__version__, torch.cuda.get_device_name())'
status=0
"$PYTHON" -m pytest -c tests/gpu/pytest.ini --rootdir . tests/gpu -q -p no:cacheprovider "$@" 2>&1 | tee "$OUT/tests.log" || status=1
"$PYTHON" benchmarks/measuring_cost.py 2>&1 | tee "$OUT/measuring_cost.txt" || status=1
"$PYTHON" benchmarks/region_log.py 2>&1 | tee "$OUT/region_log.txt" || status=1
tar -C "$OUT" -czf "$OUT/results.tgz" results
rm -rf "$OUT/results"
exit $status

#!/usr/bin/env bash
# Everything that needs a CUDA GPU, in one call: tests, then what measuring costs. Results and traces go to $OUT.
# By the sum of its parts some 15 minutes on an H200; `-k warm`, `-k findings` and so on choose among the tests.
#
#   bash tests/gpu/run_all.sh              with the python3 that holds torch; pytest and our dependencies must be there
source "$(dirname "$0")/set_up.sh"
"$PYTHON" -c 'import torch; print("torch", torch.__version__, torch.cuda.get_device_name())'
status=0
"$PYTHON" -m pytest -c tests/gpu/pytest.ini --rootdir . tests/gpu -q -p no:cacheprovider "$@" 2>&1 | tee "$OUT/tests.log" || status=1
"$PYTHON" benchmarks/measuring_cost.py 2>&1 | tee "$OUT/measuring_cost.txt" || status=1
"$PYTHON" benchmarks/region_log.py 2>&1 | tee "$OUT/region_log.txt" || status=1
tar -C "$OUT" -czf "$OUT/results.tgz" results
rm -rf "$OUT/results"
exit $status

# Sourced by run_all.sh and run_click.sh: finds Python, the packages and a place for results ($OUT).
# .wheels/*.whl, if present, are unpacked for the run only (a GPU machine without a package registry).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
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

#!/usr/bin/env bash
# The tests of QUICK on the oldest and on the newest Python that we say we support, each in an environment of its own
# below .pythons, without torch. Called by `make test-pythons`. A Python that is not here is said and passed over.
set -euo pipefail
cd "$(dirname "$0")/.."

interpreter() {
    local found
    for found in "$HOME/.pyenv/versions/$1".*/bin/python "$(command -v "python$1" || true)"; do
        if [ -n "$found" ] && "$found" -c "import sys; sys.exit('%d.%d' % sys.version_info[:2] != '$1')" 2>/dev/null; then
            echo "$found"
            return
        fi
    done
}

for version in 3.10 3.13; do
    python=$(interpreter "$version")
    if [ -z "$python" ]; then
        echo "No Python $version here: its tests are passed over."
        continue
    fi
    environment=.pythons/$version
    if [ ! -e "$environment/.ready" ] || [ constraints-dev.txt -nt "$environment/.ready" ]; then
        "$python" -m venv --clear "$environment"
        "$environment/bin/python" -m pip install --quiet --disable-pip-version-check -c constraints-dev.txt -e . \
            hypothesis numpy pytest pytest-asyncio pytest-lsp pytest-timeout pytest-xdist
        touch "$environment/.ready"
    fi
    echo "== $("$environment/bin/python" --version)"
    # shellcheck disable=SC2086 # a list of paths
    "$environment/bin/python" -m pytest -q -n 2 --dist loadfile -p no:cacheprovider $QUICK "$@"
done

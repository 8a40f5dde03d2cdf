#!/usr/bin/env bash
# Prints the folder of a Node >= 20: the machine's own, or one installed from npm's package `node`
# into build/tools/node. Installs npm where there is none. Use:  PATH="$(tools/ensure_node.sh):$PATH"
set -euo pipefail

root="$(cd "$(dirname "$0")/.." && pwd)"
own="$root/build/tools/node"

is_current() {
  local version
  version="$("$1" --version 2>/dev/null)" || return 1
  version="${version#v}"
  [[ "${version%%.*}" -ge 20 ]]
}

# Not in tools/packages.txt: a Node from elsewhere brings its own npm, and Debian's would not go with it.
ensure_npm() {
  if command -v npm >/dev/null; then return; fi
  local as_root=()
  if [[ $EUID -ne 0 ]]; then as_root=(sudo); fi
  echo "node: installing npm" >&2
  "${as_root[@]}" apt-get update -qq >&2
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends npm >&2
}

print_folder_of() { dirname "$(readlink -f "$1")"; }

ensure_npm
if found="$(command -v node)" && is_current "$found"; then
  dirname "$found"
  exit 0
fi
if ! is_current "$own/node_modules/node/bin/node"; then
  echo "node: none of version 20 or later here; installing node@22 into build/tools/node" >&2
  mkdir -p "$own"
  npm install --prefix "$own" --no-audit --no-fund --no-save node@22 >&2
fi
print_folder_of "$own/node_modules/node/bin/node"

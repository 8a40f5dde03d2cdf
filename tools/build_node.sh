#!/usr/bin/env bash
# Builds package ebb-tfjs in hosts/tfjs: its dependencies when the lock file changed, dist/ when a source is
# newer, the addon as CMake sees fit. With arguments only these parts: tools/build_node.sh [install|compile|addon]...
set -euo pipefail

cd "$(dirname "$0")/../hosts/tfjs"
PATH="$(../../tools/ensure_node.sh):$PATH"

install() {
  local installed=node_modules/.ebb-installed.json # the lock file they were installed from
  if cmp -s package-lock.json "$installed"; then return; fi
  echo "node: installing what package-lock.json lists"
  npm ci --loglevel=error --no-audit --no-fund
  cp package-lock.json "$installed"
}

compile() {
  local compiled=dist/.compiled
  if [[ -e $compiled && -z "$(find src scripts tsconfig.json package-lock.json -newer "$compiled")" ]]; then return; fi
  echo "node: compiling src into dist"
  rm -rf dist # what a deleted source left behind
  npm run --silent build:js
  touch "$compiled"
}

addon() { npm run --silent build:addon; }

for part in "${@:-install}"; do
  case $part in install | compile | addon) ;; *) echo "node: no part is called $part" >&2 && exit 1 ;; esac
done
if [[ $# -eq 0 ]]; then set -- install compile addon; fi
for part in "$@"; do "$part"; done

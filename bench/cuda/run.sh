#!/bin/bash
# The figures on a GPU: Ebb and PyTorch in turns, then the table. Everything is kept in OUT.
#
#   bench/cuda/run.sh CUDA_BENCH [OUT]      CUDA_BENCH: the binary (beside this file where it is packed); ROUNDS (3): of each; PYTHON (python3)
#   bench/cuda/run.sh CUDA_BENCH OUT small  tiny sizes on the CPU, to see that it runs; goals do not count
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
bench=$1
out=${2:-cuda-figures}
small=${3:-}
device=cuda:0
[[ -z $small ]] || device=cpu
python=${PYTHON:-python3}
mkdir -p "$out"

# In the folder of tools/pack_cuda_test.sh libraries and Node lie beside this one.
root=$(dirname "$here")
node=$root/node
if [[ -d $root/lib ]]; then
  export LD_LIBRARY_PATH=$here/lib:$root/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  export EBB_CUDA_PLUGIN=${EBB_CUDA_PLUGIN:-$root/lib/libebb_cuda.so}
fi

# PyTorch brings cuBLASLt and cuDNN along; both sides then use the same libraries.
folders=$("$python" - <<'PY' 2>/dev/null || true
import glob, os, torch
base = os.path.dirname(os.path.dirname(torch.__file__))
print(":".join(sorted(set(map(os.path.dirname, glob.glob(base + "/nvidia/**/lib*.so.*", recursive=True))))))
PY
)
[[ -z $folders ]] || export EBB_CUDA_LIBRARIES=${EBB_CUDA_LIBRARIES:+$EBB_CUDA_LIBRARIES:}$folders

for ((i = 1; i <= ${ROUNDS:-3}; i++)); do
  "$bench" "$device" ${small:+"$small"} | tee "$out/ebb-$i.json"
  if [[ -x $node/node ]]; then
    EBB_NODE_ROOT=$node "$node/node" --expose-gc "$here/node_bench.cjs" ${small:+"$small"} | tee "$out/ebb-node-$i.json"
  fi
  if "$python" -c 'import torch' 2>/dev/null; then
    "$python" "$here/peer.py" ${small:+"$small"} | tee "$out/torch-$i.json"
  else
    echo '{}' >"$out/torch-$i.json"
  fi
done
"$python" "$here/table.py" "$out"/ebb-*.json -- "$out"/torch-*.json | tee "$out/table.md" || [[ -n $small ]]

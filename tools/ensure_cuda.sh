#!/usr/bin/env bash
# Prints the folder of CUDA 13: nvcc and what it needs from PyPI, installed into build/tools/cuda if it is not there.
# No GPU and no driver is needed to compile. include/ also has the headers of cuBLAS and cuDNN; the libraries are
# opened at run time, so only the headers of their wheels are kept.
set -euo pipefail

toolkit=(nvidia-cuda-nvcc==13.0.88 nvidia-cuda-crt==13.0.88 nvidia-nvvm==13.0.88 nvidia-cuda-runtime==13.0.96
  nvidia-cuda-cccl==13.0.85)
headers=(nvidia-cublas==13.0.2.14 nvidia-cudnn-cu13==9.13.0.50)
prefix="$(cd "$(dirname "$0")/.." && pwd)/build/tools/cuda"
stamp="$prefix/.version"
version="${toolkit[*]} ${headers[*]}"

pip() { python3 -m pip "$@" --quiet --disable-pip-version-check --no-deps >&2; }

install_wheels() {
  local folder wheel
  folder="$(mktemp -d)"
  trap 'rm -rf "$folder"' RETURN
  echo "cuda: installing nvcc 13.0 into build/tools/cuda" >&2
  pip install --target "$folder/toolkit" "${toolkit[@]}"
  rm -rf "$prefix"
  mkdir -p "$(dirname "$prefix")"
  mv "$folder/toolkit/nvidia/cu13" "$prefix"
  echo "cuda: fetching the headers of cuBLAS and cuDNN" >&2
  for wheel in "${headers[@]}"; do
    pip download --dest "$folder/wheels" "$wheel"
    python3 - "$folder/wheels" "$prefix/include" <<'PY'
import pathlib, sys, zipfile
for wheel in pathlib.Path(sys.argv[1]).glob("*.whl"):
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if "/include/" in name and name.endswith((".h", ".hpp")):
                (pathlib.Path(sys.argv[2]) / pathlib.Path(name).name).write_bytes(archive.read(name))
    wheel.unlink()
PY
  done
}

if [[ "$(cat "$stamp" 2>/dev/null)" != "$version" ]]; then
  install_wheels
  echo "$version" >"$stamp"
fi
# What links the runtime in and is shipped carries its terms.
if [[ ! -e $prefix/License.txt ]]; then
  wheels="$(mktemp -d)"
  pip download --dest "$wheels" "${toolkit[3]}"
  python3 -c '
import pathlib, sys, zipfile
wheel = zipfile.ZipFile(next(pathlib.Path(sys.argv[1]).glob("*.whl")))
name = next(name for name in wheel.namelist() if name.endswith("License.txt"))
pathlib.Path(sys.argv[2]).write_bytes(wheel.read(name))' "$wheels" "$prefix/License.txt"
  rm -r "$wheels"
fi
echo "$prefix"

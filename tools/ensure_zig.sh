#!/usr/bin/env bash
# Prints the path of zig 0.15, a C and C++ compiler with the musl of both processors: PyPI's `ziglang`, unpacked into
# build/tools/zig if it is not there.
set -euo pipefail

version=0.15.2
prefix="$(cd "$(dirname "$0")/.." && pwd)/build/tools/zig"

if [[ "$(cat "$prefix/.version" 2>/dev/null)" != "$version" ]]; then
  wheels="$(mktemp -d)"
  trap 'rm -rf "$wheels"' EXIT
  echo "zig: installing ziglang $version into build/tools/zig" >&2
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest "$wheels" "ziglang==$version" >&2
  rm -rf "$prefix"
  mkdir -p "$prefix"
  python3 -m zipfile -e "$wheels"/ziglang-*.whl "$wheels/all"
  mv "$wheels"/all/ziglang/* "$prefix/"
  chmod +x "$prefix/zig"
  echo "$version" >"$prefix/.version"
fi
echo "$prefix/zig"

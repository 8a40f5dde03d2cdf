#!/usr/bin/env bash
# Prints the folder of oneDNN 3.2: PyPI's `onednn-devel-cpu-gomp`, installed into build/tools/onednn if it is not
# there. include/ has the headers; lib/ has libdnnl.so.3 without its symbol table, and the libgomp.so.1 that it needs:
# what travels beside Ebb's library.
set -euo pipefail

version=2023.2.0
stamped="$version, libgomp of Debian 11"
prefix="$(cd "$(dirname "$0")/.." && pwd)/build/tools/onednn"
stamp="$prefix/.version"

install_wheels() {
  local wheels
  wheels="$(mktemp -d)"
  trap 'rm -rf "$wheels"' RETURN
  echo "onednn: installing onednn-devel-cpu-gomp $version into build/tools/onednn" >&2
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest "$wheels" \
    "onednn-cpu-gomp==$version" "onednn-devel-cpu-gomp==$version" >&2
  mkdir -p "$prefix/lib" "$prefix/share"
  python3 - "$wheels" <<'PY'
import pathlib, sys, zipfile
wheels = pathlib.Path(sys.argv[1])
for wheel in wheels.glob("*.whl"):
    zipfile.ZipFile(wheel).extractall(wheels / "all")
PY
  local data
  for data in "$wheels"/all/*.data/data; do
    [[ -d $data/include ]] && cp -r "$data/include" "$prefix/"
    [[ -d $data/share/doc/onednn ]] && cp -r "$data/share/doc/onednn/." "$prefix/share/"
    [[ -e $data/lib/libdnnl.so.3 ]] && strip --strip-unneeded -o "$prefix/lib/libdnnl.so.3" "$data/lib/libdnnl.so.3"
  done
  # The machine's own libgomp may need a newer C library than what it travels with.
  local runtime
  runtime="$("$(dirname "$0")/ensure_runtime.sh" x86_64)"
  local gomp="$runtime/usr/lib/x86_64-linux-gnu/libgomp.so.1"
  if [[ -z $runtime ]]; then gomp="$(gcc -print-file-name=libgomp.so.1)"; fi
  cp -L "$gomp" "$prefix/lib/libgomp.so.1"
}

if [[ "$(cat "$stamp" 2>/dev/null)" != "$stamped" ]]; then
  install_wheels
  echo "$stamped" >"$stamp"
fi
echo "$prefix"

#!/usr/bin/env bash
# Prints the folder of the libraries that Ebb is built with, for another processor: those of Debian 12 for arm64,
# unpacked into build/tools/sysroot-aarch64 if they are not there. The C and C++ libraries are the cross compiler's.
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/debian_packages.sh

packages=(libfmt-dev libfmt9 nlohmann-json3-dev libhwy-dev libhwy1 libkissfft-dev libjpeg62-turbo-dev libpng-dev
  zlib1g-dev libcli11-dev libprotozero-dev libgtest-dev libgmock-dev)
version="Debian 12, ${packages[*]}"
prefix="$PWD/build/tools/sysroot-aarch64"

if [[ "$(cat "$prefix/.version" 2>/dev/null)" != "$version" ]]; then
  can_unpack_debian || { echo "sysroot: apt-get and Debian's keys are needed" >&2 && exit 1; }
  echo "sysroot: fetching libraries of Debian 12 (arm64) into build/tools/sysroot-aarch64" >&2
  unpack_debian bookworm arm64 "$prefix" "${packages[@]}"
  echo "$version" >"$prefix/.version"
fi
echo "$prefix"

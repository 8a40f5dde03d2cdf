#!/usr/bin/env bash
# Prints the folder of the runtime libraries that what is shipped is linked against: glibc 2.31, libstdc++ and libgomp of
# Debian 11, unpacked into build/tools/runtime-ARCH if they are not there (ARCH: x86_64 or aarch64, else this machine's).
# A file that was linked against these runs on every distribution since 2020, whatever the machine that built it has.
# Prints nothing where there is no apt-get to fetch them with: what is built there runs there.
set -euo pipefail
source "$(dirname "$0")/debian_packages.sh"

arch="${1:-$(uname -m)}"
case $arch in
  x86_64) debian=amd64 ;;
  aarch64) debian=arm64 ;;
  *) exit 0 ;;
esac
can_unpack_debian || exit 0

packages=(libc6 libc6-dev libstdc++6 libgcc-s1 libgomp1)
version="Debian 11, ${packages[*]}, relative links, libgcc_s as a script"
prefix="$(cd "$(dirname "$0")/.." && pwd)/build/tools/runtime-$arch"
stamp="$prefix/.version"

if [[ "$(cat "$stamp" 2>/dev/null)" != "$version" ]]; then
  echo "runtime: fetching ${packages[*]} of Debian 11 ($debian) into build/tools/runtime-$arch" >&2
  unpack_debian bullseye "$debian" "$prefix" "${packages[@]}"
  # The linker looks for these names.
  libraries="usr/lib/$arch-linux-gnu"
  ln -s libstdc++.so.6 "$prefix/$libraries/libstdc++.so"
  # As GCC installs it: what is not in the shared library (arm64's atomics) is in the compiler's own libgcc.a.
  echo "GROUP ( /lib/$arch-linux-gnu/libgcc_s.so.1 -lgcc )" >"$prefix/$libraries/libgcc_s.so"
  echo "$version" >"$stamp"
fi
echo "$prefix"

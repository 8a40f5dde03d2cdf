#!/usr/bin/env bash
# Prints the folder of what Ebb is built with for musl (Alpine), made in build/tools/musl-ARCH if it is not there:
# bin/ has zig as a compiler for that target, include/ and lib/ the libraries that are linked in, built by it from Debian
# 12's sources. ARCH: x86_64 or aarch64.
set -euo pipefail
cd "$(dirname "$0")/.."
source tools/debian_packages.sh

arch="${1:?which processor: x86_64 or aarch64}"
sources=(highway zlib libpng1.6 libjpeg-turbo)
headers=(libfmt-dev nlohmann-json3-dev libkissfft-dev libcli11-dev libprotozero-dev)
prefix="$PWD/build/tools/musl-$arch"
zig="$(tools/ensure_zig.sh)"
version="$(cat build/tools/zig/.version), Debian 12: ${sources[*]} ${headers[*]}, $(cksum <"$0")"

# A compiler as CMake knows them: `clang` and `ar` rather than `zig cc`, and options for the linker in the one form that zig
# takes apart.
write_tools() {
  local name
  mkdir -p "$prefix/bin"
  for name in clang:cc clang++:c++; do
    cat >"$prefix/bin/${name%:*}" <<SH
#!/bin/sh
for word; do
  shift
  if [ -n "\$for_linker" ]; then set -- "\$@" "-Wl,\$word" && for_linker=
  elif [ "\$word" = -Xlinker ]; then for_linker=yes
  else set -- "\$@" "\$word"; fi
done
exec "$zig" ${name#*:} -target $arch-linux-musl -fno-sanitize=undefined "\$@"
SH
  done
  for name in ar ranlib; do printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$zig" "$name" >"$prefix/bin/$name"; done
  chmod +x "$prefix"/bin/*
}

# What comes without a build of its own that could be asked for less: archive NAME of sources FILES.
archive() {
  local name="$1" compiler="$2" objects
  shift 2
  objects="$(mktemp -d)"
  (cd "$objects" && "$prefix/bin/$compiler" -O2 -fPIC -DNDEBUG -DHAVE_UNISTD_H -DPNG_ARM_NEON_OPT=0 -I"$prefix/include" -c "$@")
  "$prefix/bin/ar" rcs "$prefix/lib/lib$name.a" "$objects"/*.o
  rm -rf "$objects"
}

build_libraries() {
  local from="$1"
  mkdir -p "$prefix/lib/pkgconfig" "$prefix/lib/cmake/fmt" "$prefix/include"

  cp -r "$from"/highway-*/hwy "$prefix/include/"
  archive hwy clang++ -std=c++17 "$from"/highway-*/hwy/{targets,aligned_allocator}.cc
  printf 'Name: libhwy\nDescription: Highway\nVersion: 1.0.3\nLibs: -L%s -lhwy\nCflags: -I%s\n' \
    "$prefix/lib" "$prefix/include" >"$prefix/lib/pkgconfig/libhwy.pc"

  cp "$from"/zlib-*/{zlib,zconf}.h "$prefix/include/"
  archive z clang "$from"/zlib-*/*.c

  cp "$from"/libpng*/{png,pngconf}.h "$prefix/include/"
  cp "$from"/libpng*/scripts/pnglibconf.h.prebuilt "$prefix/include/pnglibconf.h"
  archive png16 clang "$from"/libpng*/png{,error,get,mem,pread,read,rio,rtran,rutil,set,trans,wio,write,wtran,wutil}.c

  cmake -S "$from"/libjpeg-turbo-* -B "$from/jpeg" -G Ninja -DCMAKE_BUILD_TYPE=Release -DENABLE_SHARED=OFF \
    -DWITH_SIMD=OFF -DWITH_TURBOJPEG=OFF -DCMAKE_C_COMPILER="$prefix/bin/clang" -DCMAKE_AR="$prefix/bin/ar" \
    -DCMAKE_RANLIB="$prefix/bin/ranlib" -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_SYSTEM_NAME=Linux \
    -DCMAKE_SYSTEM_PROCESSOR="$arch" >&2
  cmake --build "$from/jpeg" --target jpeg-static >&2
  cp "$from"/jpeg/libjpeg.a "$prefix/lib/"
  cp "$from"/jpeg/jconfig.h "$from"/libjpeg-turbo-*/{jpeglib,jmorecfg,jerror}.h "$prefix/include/"

  # fmt: compiled into Ebb's own library (cmake/embedded_fmt.cpp).
  cat >"$prefix/lib/cmake/fmt/fmtConfig.cmake" <<'CMAKE'
add_library(fmt::fmt INTERFACE IMPORTED)
get_filename_component(_fmt "${CMAKE_CURRENT_LIST_DIR}/../../../include" ABSOLUTE)
set_target_properties(fmt::fmt PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${_fmt}")
CMAKE
}

if [[ "$(cat "$prefix/.version" 2>/dev/null)" != "$version" ]]; then
  can_unpack_debian || { echo "musl: apt-get and Debian's keys are needed" >&2 && exit 1; }
  echo "musl: building ${sources[*]} with zig into build/tools/musl-$arch" >&2
  work="$(mktemp -d)"
  trap 'rm -rf "$work"' EXIT
  rm -rf "$prefix"
  unpack_debian bookworm amd64 "$work/headers" "${headers[@]}"
  unpack_debian_sources bookworm "$work/sources" "${sources[@]}"
  write_tools
  build_libraries "$work/sources"
  cp -r "$work"/headers/usr/include/{fmt,nlohmann,kissfft,CLI,protozero} "$prefix/include/"
  mkdir "$prefix/share"
  cp -r "$work"/headers/usr/share/cmake "$prefix/share/"
  echo "$version" >"$prefix/.version"
fi
echo "$prefix"

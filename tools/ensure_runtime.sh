#!/usr/bin/env bash
# Prints the folder of the runtime libraries that what is shipped is linked against: glibc 2.31, libstdc++ and libgomp of
# Debian 11, unpacked into build/tools/runtime-ARCH if they are not there (ARCH: x86_64 or aarch64, else this machine's).
# A file that was linked against these runs on every distribution since 2020, whatever the machine that built it has.
# Prints nothing where there is no apt-get to fetch them with: what is built there runs there.
set -euo pipefail

arch="${1:-$(uname -m)}"
case $arch in
  x86_64) debian=amd64 ;;
  aarch64) debian=arm64 ;;
  *) exit 0 ;;
esac
if ! command -v apt-get >/dev/null || [[ ! -e /usr/share/keyrings/debian-archive-keyring.gpg ]]; then exit 0; fi

packages=(libc6 libc6-dev libstdc++6 libgcc-s1 libgomp1)
version="Debian 11, ${packages[*]}, relative links"
prefix="$(cd "$(dirname "$0")/.." && pwd)/build/tools/runtime-$arch"
stamp="$prefix/.version"

# apt with lists of its own: neither the machine's sources nor what it has installed matter. (APT::Architecture is not
# the machine's for aarch64, so dpkg is not asked.)
unpack_packages() {
  local work
  work="$(mktemp -d)"
  trap 'rm -rf "$work"' RETURN
  mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/debs" "$work/root"
  : >"$work/status"
  local mirror # the one that this machine is set up with
  mirror="$(apt-get indextargets --format '$(SITE)' | grep -m1 '/debian$')"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror bullseye main" >"$work/sources.list"
  local options=(-qq -o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o "Dir::State::Lists=$work/lists" -o "Dir::State::Status=$work/status" -o "Dir::Cache=$work/cache"
    -o Acquire::Languages=none -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false
    -o "APT::Architecture=$debian" -o "APT::Architectures=$debian" -o APT::Sandbox::User=root)
  echo "runtime: fetching ${packages[*]} of Debian 11 ($debian) into build/tools/runtime-$arch" >&2
  apt-get "${options[@]}" update >&2
  (cd "$work/debs" && apt-get "${options[@]}" download "${packages[@]}" >&2)
  for deb in "$work"/debs/*.deb; do dpkg-deb --extract "$deb" "$work/root"; done
  # The linker looks for these names.
  local libraries="usr/lib/$arch-linux-gnu"
  ln -s libstdc++.so.6 "$work/root/$libraries/libstdc++.so"
  ln -s "../../../lib/$arch-linux-gnu/libgcc_s.so.1" "$work/root/$libraries/libgcc_s.so"
  # Links into the root of a system lead out of this folder.
  find "$work/root" -type l -lname '/*' | while read -r link; do
    ln -sfnr "$work/root$(readlink "$link")" "$link"
  done
  rm -rf "$prefix"
  mkdir -p "$(dirname "$prefix")"
  mv "$work/root" "$prefix"
}

if [[ "$(cat "$stamp" 2>/dev/null)" != "$version" ]]; then
  unpack_packages
  echo "$version" >"$stamp"
fi
echo "$prefix"

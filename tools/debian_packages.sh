# Sourced. Both put what Debian has into FOLDER, emptied first, with nothing installed; they need apt-get and Debian's keys.
#   unpack_debian SUITE ARCHITECTURE FOLDER PACKAGE...   what packages contain, for any architecture
#   unpack_debian_sources SUITE FOLDER PACKAGE...        sources, as Debian patches them, a folder each

# Whether this machine can.
can_unpack_debian() {
  command -v apt-get >/dev/null && [[ -e /usr/share/keyrings/debian-archive-keyring.gpg ]]
}

# apt with lists of its own in folder $1, for a kind of package (deb, deb-src), a suite and an architecture: neither the
# machine's sources nor what it has installed matter. (APT::Architecture may not be the machine's, so dpkg is not asked.)
# Sets apt_options.
prepare_apt() {
  local work="$1" kind="$2" suite="$3" architecture="$4"
  mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/got"
  : >"$work/status"
  local mirror # the one that this machine is set up with
  mirror="$(apt-get indextargets --format '$(SITE)' | grep -m1 '/debian$')"
  echo "$kind [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main" >"$work/sources.list"
  apt_options=(-qq -o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=/dev/null
    -o "Dir::State::Lists=$work/lists" -o "Dir::State::Status=$work/status" -o "Dir::Cache=$work/cache"
    -o Acquire::Languages=none -o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false
    -o "APT::Architecture=$architecture" -o "APT::Architectures=$architecture" -o APT::Sandbox::User=root)
  apt-get "${apt_options[@]}" update >&2
}

replace_folder() {
  rm -rf "$2"
  mkdir -p "$(dirname "$2")"
  mv "$1" "$2"
}

unpack_debian() {
  local suite="$1" architecture="$2" folder="$3" work deb link
  shift 3
  work="$(mktemp -d)"
  prepare_apt "$work" deb "$suite" "$architecture"
  (cd "$work/got" && apt-get "${apt_options[@]}" download "$@" >&2)
  mkdir "$work/root"
  for deb in "$work"/got/*.deb; do dpkg-deb --extract "$deb" "$work/root"; done
  # Links into the root of a system lead out of this folder.
  find "$work/root" -type l -lname '/*' | while read -r link; do
    ln -sfnr "$work/root$(readlink "$link")" "$link"
  done
  replace_folder "$work/root" "$folder"
  rm -rf "$work"
}

unpack_debian_sources() {
  local suite="$1" folder="$2" work description
  shift 2
  work="$(mktemp -d)"
  prepare_apt "$work" deb-src "$suite" amd64
  (cd "$work/got" && apt-get "${apt_options[@]}" source --download-only "$@" >&2)
  mkdir "$work/root"
  for description in "$work"/got/*.dsc; do
    # FOLDER/NAME-VERSION. The files' sums were apt's to check, against the signed list.
    (cd "$work/root" && dpkg-source --no-check --extract "$description" >&2)
  done
  replace_folder "$work/root" "$folder"
  rm -rf "$work"
}

#!/usr/bin/env bash
# Installs the packages of tools/packages.txt that this machine lacks, of all groups or of those named. Does nothing,
# fast, when it lacks none.
set -euo pipefail

list="$(dirname "$0")/packages.txt"
mapfile -t wanted < <(awk -v groups="$*" '
  { sub(/#.*/, "") }
  /^\[/ { group = $1; gsub(/[][]/, "", group); next }
  NF && (groups == "" || index(" " groups " ", " " group " ")) { print $1 }' "$list")
if [[ ${#wanted[@]} -eq 0 ]]; then
  echo "deps: no group of tools/packages.txt is called $*" >&2
  exit 1
fi

if ! command -v dpkg-query >/dev/null; then
  echo "deps: not a Debian system; install the equivalents of: ${wanted[*]}" >&2
  exit 0
fi

installed="$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null || true)"
missing=()
for package in "${wanted[@]}"; do
  grep -qxF "$package installed" <<<"$installed" || missing+=("$package")
done
if [[ ${#missing[@]} -eq 0 ]]; then exit 0; fi

as_root=()
if [[ $EUID -ne 0 ]]; then as_root=(sudo); fi
if [[ $EUID -ne 0 ]] && ! command -v sudo >/dev/null; then
  echo "deps: missing ${missing[*]}; neither root nor sudo to install them" >&2
  exit 1
fi
echo "deps: installing ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends "${missing[@]}"

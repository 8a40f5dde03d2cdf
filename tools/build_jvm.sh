#!/usr/bin/env bash
# Builds artifact ebb-djl in hosts/djl: the JNI library with CMake into build/release, then the jar with Maven. The argument
# is what Maven makes of it: package (the usual), or install, into the local repository. tools/jvm.py tests it.
set -euo pipefail

cd "$(dirname "$0")/.."
version=$(sed -n 's/^  VERSION \([0-9.]*\)$/\1/p' CMakeLists.txt)
if ! grep -q "<artifactId>ebb-djl</artifactId>" hosts/djl/pom.xml ||
  ! grep -A1 "<artifactId>ebb-djl</artifactId>" hosts/djl/pom.xml | grep -q "<version>$version</version>"; then
  echo "jvm: hosts/djl/pom.xml has another version than CMakeLists.txt ($version)" >&2
  exit 1
fi

cmake --preset release --log-level=WARNING -DEBB_BUILD_JVM=ON >/dev/null
cmake --build --preset release --target ebb_jni -j "${JOBS:-$(nproc)}"

mvn -B -q -Dstyle.color=never -f hosts/djl/pom.xml -Dmaven.test.skip=true "${1:-package}"

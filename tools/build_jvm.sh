#!/usr/bin/env bash
# Builds artifact ebb-djl in hosts/jvm: the JNI library with CMake into build/jvm, then the jar with Maven. Arguments
# go to Maven in place of `package -DskipTests`: tools/build_jvm.sh install, tools/build_jvm.sh verify -Pdjl-0.20.
set -euo pipefail

cd "$(dirname "$0")/.."
version=$(sed -n 's/^  VERSION \([0-9.]*\)$/\1/p' CMakeLists.txt)
if ! grep -q "<artifactId>ebb-djl</artifactId>" hosts/jvm/pom.xml ||
  ! grep -A1 "<artifactId>ebb-djl</artifactId>" hosts/jvm/pom.xml | grep -q "<version>$version</version>"; then
  echo "jvm: hosts/jvm/pom.xml has another version than CMakeLists.txt ($version)" >&2
  exit 1
fi

cmake -S . -B build/jvm -G Ninja --log-level=WARNING -DCMAKE_BUILD_TYPE=Release -DEBB_BUILD_JVM=ON \
  -DEBB_SHARED=OFF -DEBB_FMT_HEADER_ONLY=ON -DEBB_LTO=OFF -DEBB_BUILD_TESTS=OFF -DEBB_BUILD_BENCH=OFF \
  -DEBB_BUILD_EXAMPLES=OFF >/dev/null
cmake --build build/jvm --target ebb_jni -j "${JOBS:-$(nproc)}"

if [[ $# -eq 0 ]]; then set -- package -DskipTests; fi
mvn -B -q -Dstyle.color=never -f hosts/jvm/pom.xml "$@"

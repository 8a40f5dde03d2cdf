#!/usr/bin/env bash
# Prints a SPARK_HOME of the version that is given, e.g. tools/ensure_spark.sh 3.5.7: what PyPI's `pyspark` carries of Spark
# (bin/, jars/), unpacked into build/tools/spark-<version> if it is not there.
set -euo pipefail

version="${1:?which version of Spark?}"
home="$(cd "$(dirname "$0")/.." && pwd)/build/tools/spark-$version"

unpack() {
  local archive
  archive="$(mktemp -d)"
  trap 'rm -rf "$archive"' RETURN
  echo "spark: unpacking pyspark $version into build/tools/spark-$version" >&2
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: --dest "$archive" \
    "pyspark==$version" >&2
  rm -rf "$home"
  mkdir -p "$home"
  tar -xzf "$archive"/pyspark-*.tar.gz -C "$home" --strip-components=2 --wildcards \
    "pyspark-$version/deps/bin/*" "pyspark-$version/deps/jars/*"
}

if [[ ! -e "$home/.complete" ]]; then
  unpack
  touch "$home/.complete"
fi
echo "$home"

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Puts the binary of a release into $RUNNER_TEMP/dmo-trace, or has it built: writes build=true and a key of the sources
# to $GITHUB_OUTPUT. Reads DMO_TRACE_VERSION, DMO_TRACE_SOURCES, and for tests DMO_TRACE_RELEASES.
set -euo pipefail

releases=${DMO_TRACE_RELEASES:-https://github.com/dmo-trace/dmo-trace/releases/download}
version=${DMO_TRACE_VERSION#v}
folder=$RUNNER_TEMP/dmo-trace

case "$RUNNER_OS $RUNNER_ARCH" in
  "Linux X64") target=x86_64-unknown-linux-musl ;;
  *) target= ;;
esac

build() { # WHY
  echo "$1: dmo-trace is built from its sources"
  # One key for each state of the sources, whether or not they are a clone.
  local sources
  sources=$(cd "$DMO_TRACE_SOURCES" &&
    find Cargo.toml Cargo.lock analysis engine kernels-c tracer -type f -not -path '*/target/*' -print0 |
    LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -c 1-16)
  {
    echo "build=true"
    echo "sources=$sources"
  } >>"$GITHUB_OUTPUT"
  echo "$folder/bin" >>"$GITHUB_PATH"
  exit 0
}

[ -n "$version" ] || build "No version is named"
[[ $version =~ ^[0-9A-Za-z.+-]+$ ]] || {
  echo "version '$version': not a version, such as 0.1.0" >&2
  exit 2
}
[ -n "$target" ] || build "No release has a binary for $RUNNER_OS on $RUNNER_ARCH"

name=dmo-trace-$version-$target
mkdir -p "$folder/bin"
cd "$folder"
for file in "$name.tar.gz" "$name.tar.gz.sha256"; do
  curl --fail --silent --show-error --location --retry 3 --remote-name "$releases/v$version/$file" ||
    build "Release $version has no $file"
done
sha256sum --check --strict "$name.tar.gz.sha256"
tar --extract --gzip --file="$name.tar.gz"
mv "$name/dmo-trace" bin/
"$folder/bin/dmo-trace" --version
echo "build=false" >>"$GITHUB_OUTPUT"
echo "$folder/bin" >>"$GITHUB_PATH"

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Type-checks the program, without Unicorn, for operating systems that no test runs on. Nothing is linked, so the C
# libraries in it are compiled for this machine: no toolchain of those systems is needed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/packages.sh

readonly targets=(x86_64-pc-windows-gnu aarch64-apple-darwin)

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/cc" <<'END'
#!/usr/bin/env bash
arguments=()
while [ $# -gt 0 ]; do
  case $1 in
    -arch | -isysroot) shift ;;
    --target=* | -mmacosx-version-min=* | -m64 | -march=* | -mcpu=*) ;;
    *) arguments+=("$1") ;;
  esac
  shift
done
exec gcc "${arguments[@]}"
END
chmod +x "$folder/cc"
# Else the compiler's wrapper asks Xcode for the system's headers.
export SDKROOT=/
for target in "${targets[@]}"; do
  rustup target list --installed 2>/dev/null | grep -qx "$target" || rustup target add "$target"
  underscored=${target//-/_}
  env "CC_$underscored=$folder/cc" "AR_$underscored=ar" \
    cargo check --locked --package dmo-trace --no-default-features --target "$target"
done

# shellcheck shell=bash
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Sourced by dist.sh, in the repository's folder and after packages.sh: builds the program as it is handed
# out, the same bytes in whatever folder.

# Leaves the program's path in `binary`, and the environment as another build needs it to find all compiled.
build_reproducibly() { # TARGET
  local target=$1 folder
  rustup target list --installed 2>/dev/null | grep -qx "$target" || rustup target add "$target"
  case $target in
    x86_64-*-musl)
      missing=()
      need musl-tools musl-gcc --version
      [ ${#missing[@]} -eq 0 ] || install_packages "${missing[@]}"
      export CC_x86_64_unknown_linux_musl=musl-gcc
      # Loaded at a fixed address, the program needs no relocations, which take a megabyte.
      RUSTFLAGS="${RUSTFLAGS:-} -C relocation-model=static"
      ;;
  esac
  # The time of what is packed.
  SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
  # Panics and assertions name their source: not the folders of this machine.
  for folder in "$PWD=/dmo-trace" "${CARGO_HOME:-$HOME/.cargo}=/cargo"; do
    RUSTFLAGS="${RUSTFLAGS:-} --remap-path-prefix=$folder"
    CFLAGS="${CFLAGS:-} -ffile-prefix-map=$folder"
  done
  export SOURCE_DATE_EPOCH RUSTFLAGS CFLAGS
  cargo build --profile dist --locked --package dmo-trace --bin dmo-trace --no-default-features --target "$target"
  # shellcheck disable=SC2034  # for the caller
  binary=${CARGO_TARGET_DIR:-target}/$target/dist/dmo-trace
}

# shellcheck shell=bash
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Sourced by demo.sh, test.sh and .ci/run: finds what the machine lacks, by trying it, and installs it through apt-get
# where that is possible. Packages have their Debian names.

# With rustup's own folder, for shells that do not read its profile.
if ! command -v cargo >/dev/null && [ -x "$HOME/.cargo/bin/cargo" ]; then
  PATH="$HOME/.cargo/bin:$PATH"
fi

missing=()

need() { # PACKAGE COMMAND...: the command succeeds where the package is not needed
  local package=$1
  shift
  "$@" >/dev/null 2>&1 </dev/null || missing+=("$package")
}

has_compiler() {
  local folder status=0
  folder=$(mktemp -d)
  echo 'int main(void) { return 0; }' >"$folder/program.c"
  { cc "$folder/program.c" -o "$folder/program" && gcc --version && make --version; } || status=1
  rm -rf "$folder"
  return $status
}

# The library and the compiler's own headers: bindgen reads with both.
has_libclang() {
  [ -n "${LIBCLANG_PATH:-}" ] && return
  local -a found
  shopt -s nullglob
  found=(/usr/{,local/}lib*/{,*/,*/*/}libclang{,-[0-9]*}.so*)
  shopt -u nullglob
  [ ${#found[@]} -gt 0 ] || return
  shopt -s nullglob
  found=(/usr/{,local/}lib*/{,llvm*/lib*/}clang/*/include/stddef.h)
  shopt -u nullglob
  [ ${#found[@]} -gt 0 ]
}

has_newlib() {
  echo '#include <math.h>' | arm-none-eabi-gcc -E -
}

# gcc-arm-none-eabi only recommends it.
has_cxx_library() {
  echo '#include <cstddef>' | arm-none-eabi-g++ -x c++ -E -
}

missing_for_build() {
  missing=()
  need build-essential has_compiler
  need cmake cmake --version
  need libclang-dev has_libclang
  need pkg-config pkg-config --version
}

missing_for_tests() {
  missing=()
  need gcc-arm-none-eabi arm-none-eabi-g++ --version
  need libnewlib-arm-none-eabi has_newlib
  need libstdc++-arm-none-eabi-newlib has_cxx_library
  need qemu-system-arm qemu-system-arm --version
  need libxml2-utils xmllint --version
  need arduino-builder arduino-builder -version
  need ccache ccache --version
  need clang clang --version
  need valgrind valgrind --version
  need curl curl --version
  need chromium chromium --version
  need chromium-driver chromedriver --version
}

install_packages() { # PACKAGE...
  command -v apt-get >/dev/null || return
  local -a apt=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120)
  if [ "$(id -u)" -ne 0 ]; then
    sudo -n true >/dev/null 2>&1 || return
    apt=(sudo -n "${apt[@]}")
  fi
  echo "Installing $*"
  local log status=0
  log=$(mktemp)
  # Without the update an install may still succeed, and it says best why not.
  "${apt[@]}" update >"$log" 2>&1 </dev/null || true
  "${apt[@]}" install --yes --no-install-recommends "$@" >>"$log" 2>&1 </dev/null || status=1
  [ $status -eq 0 ] || tail -n 20 "$log" >&2
  rm -f "$log"
  return $status
}

# Leaves in `missing` what could not be installed, and says how to install it.
provide() { # missing_for_build or missing_for_tests
  "$1"
  [ ${#missing[@]} -gt 0 ] || return 0
  if install_packages "${missing[@]}"; then
    "$1"
    [ ${#missing[@]} -gt 0 ] || return 0
  fi
  {
    echo "Missing, and not installable from here: ${missing[*]}. On Debian, run as root:"
    echo "  apt-get update && apt-get install --yes --no-install-recommends ${missing[*]}"
  } >&2
}

python_packages=scripts/requirements.txt

has_python_packages() {
  python3 -c 'import ai_edge_litert.interpreter, flatbuffers, numpy, tflite_micro'
}

# The runtimes that tests run models in, where python3 lacks them: in a folder of their own, which comes first in PATH.
# Adds to `missing` where that fails.
provide_python_packages() {
  has_python_packages >/dev/null 2>&1 </dev/null && return
  local folder=${CARGO_TARGET_DIR:-target}/python
  [ -x "$folder/bin/pip" ] || python3 -m venv "$folder" >/dev/null 2>&1 || {
    install_packages python3-venv && python3 -m venv --clear "$folder"
  } || true
  echo "Installing the packages of $python_packages in $folder"
  if "$folder/bin/pip" install --quiet --disable-pip-version-check --requirement "$python_packages" </dev/null; then
    PATH=$(cd "$folder/bin" && pwd):$PATH
    export PATH
  fi
  need "$python_packages" has_python_packages
}

# Everything to build dmo-trace, or exit code 2.
require_build_packages() {
  if ! command -v cargo >/dev/null; then
    echo "Rust is missing. Install it: https://www.rust-lang.org/tools/install" >&2
    exit 2
  fi
  provide missing_for_build
  [ ${#missing[@]} -eq 0 ] || exit 2
}

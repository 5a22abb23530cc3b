#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Runs all tests: of the Rust code, and of the C kernels natively, cross-compiled and in QEMU. What this machine lacks
# is installed where possible, Python packages too, else the tests that need it are skipped; with
# DMO_TRACE_REQUIRE_ALL=1 they fail.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source scripts/packages.sh

failed=0
summary=()

run() { # NAME COMMAND...
  local name=$1 start=$SECONDS verdict=passed
  shift
  echo
  echo "== $name"
  "$@" </dev/null || {
    verdict=FAILED
    failed=1
  }
  summary+=("$(printf '%-7s %4d s  %s' "$verdict" $((SECONDS - start)) "$name")")
}

skip() { # NAME PACKAGES
  local verdict=skipped
  if [ "${DMO_TRACE_REQUIRE_ALL:-0}" != 0 ]; then
    verdict=FAILED
    failed=1
  fi
  summary+=("$(printf '%-7s         %s: needs %s' "$verdict" "$1" "$2")")
}

lacks() { # PACKAGE...: gives in `lacking` which of them are missing
  local package
  lacking=
  for package in "$@"; do
    case " ${missing[*]} " in *" $package "*) lacking+="${lacking:+, }$package" ;; esac
  done
  [ -n "$lacking" ]
}

kernels() { # MAKE-TARGET WHAT PACKAGE...
  local target=$1 name="C kernels: $2"
  shift 2
  if lacks "$@"; then
    skip "$name" "$lacking"
  else
    run "$name" make --no-print-directory --silent --jobs="$(nproc)" --directory=kernels-c "$target"
  fi
}

require_build_packages
provide missing_for_tests
provide_python_packages

# Tests compile the same C kernels for hundreds of models. Where ccache is at hand each is compiled once.
target=$(mkdir -p "${CARGO_TARGET_DIR:-target}" && cd "${CARGO_TARGET_DIR:-target}" && pwd)
cached=(env "PATH=/usr/lib/ccache:$PATH" "CCACHE_DIR=$target/ccache" CCACHE_NOHASHDIR=1 CCACHE_MAXSIZE=500M)

run "Rust: all tests" "${cached[@]}" scripts/rust_tests.sh --locked --workspace
run "Rust: examples of the documentation" cargo test --locked --workspace --doc
# Nothing but which engines there are depends on the feature. These tests run each command (readme, and the console
# sessions with it) and each core, and have the self-check led by the interpreter. All others would only repeat what the
# run above has found. Of the whole workspace, for then the dependencies have the features with which the run above has
# built them; the program itself takes longer to optimise than these tests gain.
run "Rust: without Unicorn" "${cached[@]}" scripts/rust_tests.sh --locked --workspace --no-default-features \
  --config profile.dev.package.dmo-trace.opt-level=0 --test readme --test cores --test self_check
cross=(gcc-arm-none-eabi libnewlib-arm-none-eabi)
kernels host-test "against their direct evaluation, natively, with sanitizers"
kernels dsp-host-test "DSP kernels, natively, with sanitizers"
kernels warnings "no compiler warns" "${cross[@]}"
kernels marks "the layer marks survive every optimisation" "${cross[@]}"
kernels instructions "it_block.elf has the instructions it is there for" "${cross[@]}"
kernels reproducible "the same bytes from any folder" "${cross[@]}"
kernels qemu-test "every program on every CPU, in QEMU" "${cross[@]}" qemu-system-arm
kernels dsp-qemu-test "DSP kernels on every CPU, in QEMU" "${cross[@]}" qemu-system-arm
if lacks "$python_packages"; then
  skip "golden outputs, by the runtimes" "$lacking"
else
  run "golden outputs, by the runtimes" python3 scripts/golden.py --check
fi
run "Python package" scripts/wheel.sh --profile dev
if lacks chromium chromium-driver; then
  skip "report pages, in Chromium" "$lacking"
else
  run "report pages, in Chromium" python3 tracer/tests/page/browser.py "$target/debug/dmo-trace"
fi
for package in "${missing[@]}"; do
  case "$package" in ccache | chromium*) continue ;; esac
  skip "Rust: tests and benches with $package" "$package"
done

echo
echo "== Summary"
printf '%s\n' "${summary[@]}"
exit $failed

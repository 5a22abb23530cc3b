#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Builds the library of `dmo-trace kernels` in Zephyr itself, as a module next to others, runs a kernel on an emulated
# board, and looks at which functions were linked. For Zephyr without west: name the modules that the board needs, and
# that of CMSIS-NN if it is to be replaced.
#
#   scripts/zephyr.sh ZEPHYR MODULE...
#
#   scripts/zephyr.sh ../zephyr ../modules/hal/cmsis
#   CONF='CONFIG_CMSIS_NN=y' scripts/zephyr.sh ../zephyr ../modules/hal/cmsis ../modules/lib/cmsis-nn
#
# BOARD, CPU and MACHINE say for which board of Zephyr, which kernels and which machine of QEMU, CONF what is added to
# prj.conf, DMO_TRACE a program that is built already. Needs arm-none-eabi-gcc, cmake, ninja, dtc, qemu-system-arm, and Zephyr's packages of Python.
set -euo pipefail

if [ $# -lt 2 ]; then
  sed -n '4,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" >&2
  exit 2
fi
board=${BOARD:-mps2_an385} cpu=${CPU:-cortex-m3} machine=${MACHINE:-mps2-an385}
ZEPHYR_BASE=$(cd "$1" && pwd)
shift
modules=
for module in "$@"; do
  modules+="$(cd "$module" && pwd);"
done
export ZEPHYR_BASE ZEPHYR_TOOLCHAIN_VARIANT=cross-compile CROSS_COMPILE=${CROSS_COMPILE:-/usr/bin/arm-none-eabi-}
cd "$(dirname "$0")/.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
program=("${DMO_TRACE:-}")
[ -n "${program[0]}" ] || program=(cargo run --quiet --package dmo-trace --)
"${program[@]}" kernels --cpu "$cpu" --out "$folder/dmo-nn"
mkdir "$folder/app"
printf '%s\n' "${CONF:-}" >"$folder/app/prj.conf"
cat >"$folder/app/CMakeLists.txt" <<'APP'
cmake_minimum_required(VERSION 3.20)
find_package(Zephyr REQUIRED HINTS $ENV{ZEPHYR_BASE})
project(dmo_nn_in_zephyr)
target_sources(app PRIVATE main.c)
APP
cat >"$folder/app/main.c" <<'APP'
#include <stdio.h>
#ifdef CONFIG_CMSIS_NN
#include <arm_nnfunctions.h>
#else
#include <dmo_nn.h>
#endif

int main(void) {
  const int8_t input[8] = {-128, -3, 5, 7, 90, 127, 0, 1};
  int8_t output[2];
  const cmsis_nn_context context = {0};
  const cmsis_nn_pool_params params = {.stride = {1, 1}, .activation = {-128, 127}};
  const cmsis_nn_dims four = {1, 2, 2, 2};
  const cmsis_nn_dims one = {1, 1, 1, 2};
  const int status = arm_max_pool_s8(&context, &params, &four, input, &four, &one, output);
  printf("arm_max_pool_s8: %d, %d %d\n", status, output[0], output[1]);
  return 0;
}
APP

cmake -Wno-dev -S "$folder/app" -B "$folder/build" -G Ninja -DBOARD="$board" -DZEPHYR_MODULES="$modules$folder/dmo-nn" \
  >"$folder/log" 2>&1 || { tail -n 30 "$folder/log" >&2 && exit 1; }
grep -- '-- dmo-nn:' "$folder/log" || echo "-- dmo-nn: without CMSIS-NN"
cmake --build "$folder/build" >"$folder/log" 2>&1 || { grep -v 'orphan section' "$folder/log" | tail -n 30 >&2 && exit 1; }
defined=$(arm-none-eabi-nm "$(find "$folder/build" -name libdmo_nn.a)" 2>/dev/null | grep -c ' T arm_')
echo "libdmo_nn.a defines $defined functions"
# The board does not stop by itself.
timeout 10 qemu-system-arm -M "$machine" -cpu "$cpu" -nographic -kernel "$folder/build/zephyr/zephyr.elf" \
  >"$folder/said" 2>/dev/null </dev/null || true
grep 'arm_max_pool_s8: 0, 90 127' "$folder/said" || { cat "$folder/said" >&2 && exit 1; }

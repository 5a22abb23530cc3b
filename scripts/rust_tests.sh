#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Builds the test programs, then runs as many at a time as there are processors: `cargo test` runs one after the other,
# and many of them end with one long test. What a program prints is shown when it ends.
#
# Usage: scripts/rust_tests.sh [OPTION...]; options are those of `cargo test --no-run`
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# They begin first, so that none of them runs alone at the end.
readonly longest='/(build|hooks|built_hooks|real_firmware|engine_reports|sweep|engines|compiler_flags|adversary|vendor|verify)-[0-9a-f]*$'

# A line for each program: its package's folder, a tab, its path.
list_programs() { # FILE with cargo's messages
  sed -n '/"profile":{[^}]*"test":true}/ s/.*"manifest_path":"\(.*\)\/Cargo.toml",.*"executable":"\([^"]*\)".*/\1\t\2/p' "$1"
}

longest_first() { # FILE
  grep -E "$longest" "$1" || true
  grep -vE "$longest" "$1" || true
}

# In its package's folder, as cargo runs it.
run_program() { # FOLDER PROGRAM
  local start=$SECONDS verdict=passed name log
  name="$(basename "${2%-*}") of ${1#"$PWD/"}"
  log=$(mktemp "$logs/XXXXXX")
  (cd "$1" && CARGO_MANIFEST_DIR=$1 "$2") >"$log" 2>&1 </dev/null || verdict=FAILED
  {
    flock 9
    printf '\n== %s\n' "$name"
    cat "$log"
    printf '%-7s %4d s  %s\n' $verdict $((SECONDS - start)) "$name" >>"$logs/verdicts"
  } 9>"$logs/lock"
  rm "$log"
}

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
export logs
export -f run_program

cargo test --no-run --message-format=json-render-diagnostics "$@" >"$logs/messages"
list_programs "$logs/messages" >"$logs/programs"
touch "$logs/verdicts"
longest_first "$logs/programs" | tr '\t\n' '\0\0' |
  xargs --null --max-args=2 --max-procs="$(nproc)" bash -c 'run_program "$@"' bash

echo
sort --reverse "$logs/verdicts"
passed=$(grep -c '^passed' "$logs/verdicts" || true)
programs=$(wc -l <"$logs/programs")
echo "$passed of $programs test programs passed"
[ "$programs" -gt 0 ] && [ "$passed" -eq "$programs" ]

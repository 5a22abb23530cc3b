#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Runs `dmo-trace check` with the inputs of the action.
set -euo pipefail
arguments=(--baseline "$DMO_TRACE_BASELINE")
[ -z "$DMO_TRACE_JUNIT" ] || arguments+=(--junit "$DMO_TRACE_JUNIT")
read -r -a further <<<"$DMO_TRACE_ARGUMENTS"
exec dmo-trace check "${arguments[@]}" "${further[@]}"

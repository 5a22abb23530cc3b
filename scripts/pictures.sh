#!/usr/bin/env bash
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# pictures.sh [--check]: draws the pictures of docs/images anew. With --check it leaves them as they are, and ends with 1
# where one is not what is drawn today. Pictures of real models need these, in $DMO_TRACE_MODELS or beside the
# repository; those that are missing are named. $DMO_TRACE is the program, by default as cargo builds it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

models=${DMO_TRACE_MODELS:-../shared/models}
drawn=$(mktemp -d)
trap 'rm -rf "$drawn"' EXIT
stale=()

trace() {
  if [ -n "${DMO_TRACE:-}" ]; then
    "$DMO_TRACE" "$@"
  else
    cargo run --quiet --locked -p dmo-trace -- "$@"
  fi >/dev/null 2>"$drawn/messages" || {
    cat "$drawn/messages" >&2
    exit 1
  }
}

picture() { # NAME FILE
  local kept=docs/images/$1.png
  if cmp -s "$drawn/$2" "$kept"; then
    echo "$kept: as drawn"
  elif [ "$mode" = --check ]; then
    echo "$kept: STALE"
    stale+=("$kept")
  else
    cp "$drawn/$2" "$kept"
    echo "$kept: drawn anew"
  fi
}

lacks() { # MODEL PICTURE...
  [ -f "$models/$1.tflite" ] && return 1
  echo "${*:2}: $1 is missing"
}

mode=${1:-}
case "$mode" in
  "" | --check) ;;
  *)
    echo "usage: scripts/pictures.sh [--check]" >&2
    exit 2
    ;;
esac

trace run traces/elf/cortex-m4/conv2d.elf --plot "$drawn/conv2d"
picture conv2d-overlap conv2d/00-conv2d_s8-overlap-input-output.png

trace run traces/elf/cortex-m4/depthwise_in_place.elf --plot "$drawn/depthwise"
picture depthwise-by-pixel depthwise/00-by_pixel-overlap-input-output.png
picture depthwise-by-channel depthwise/01-by_channel.png

trace plan zoo:mobilenet_v1_0.25_128:int8 --plot "$drawn/mobilenet"
picture mobilenet-plans mobilenet/plans-zoo_mobilenet_v1_0_25_128_int8.png

inference() { # PICTURE MODEL
  lacks "$2" "$1" && return
  trace plan "$models/$2.tflite" --align 1 --out "$drawn/$1.json"
  trace verify "$models/$2.tflite" --plan "$drawn/$1.json" --inputs 1 --plot "$drawn/$1"
  picture "$1" "$1/inference.png"
}
inference mobilenet-inference coral/mobilenet_v1_0.25_128_quant
inference person_detect-inference tflite_micro/person_detect

tiles() { # MODEL
  lacks "$1" tiles front && return
  trace plan "$models/$1.tflite" --align 1 --allow inplace,remove,split,patch --out "$drawn/tiles.json" \
    --plot "$drawn/front"
  picture front front/front-person_detect_tflite.png
  trace verify "$models/$1.tflite" --plan "$drawn/tiles.json" --inputs 1 --plot "$drawn/tiles"
  picture tiles tiles/inference.png
}
tiles tflite_micro/person_detect

if [ ${#stale[@]} -gt 0 ]; then
  echo "Stale: ${stale[*]}. Draw them anew: scripts/pictures.sh" >&2
  exit 1
fi

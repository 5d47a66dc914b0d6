#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# All benchmarks, one after another, with what they print.
set -eu
build=${1:-build}
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
FARTHING_DATA=${FARTHING_DATA:-$root/../shared/data}
export FARTHING_DATA
meson test -C "$build" --benchmark --verbose --num-processes 1

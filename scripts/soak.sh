#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# farthingd under faults (tests/live/soak.py): soak.sh BUILD KILLS SEED
set -eu
build=$(cd "$1" && pwd)
BUILD=$build FARTHING=$build/farthing FARTHINGD=$build/farthingd DRIVERS=$build/src/drivers exec python3 "$(dirname "$0")/../tests/live/soak.py" "$2" "$3"

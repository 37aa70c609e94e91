#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds matrix_compare.c into the folder given (default: build/matrix_compare). Run the program where a GPU is.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=${1:-build/matrix_compare}
mkdir -p "$out"
gcc -std=gnu17 -D_GNU_SOURCE -Isrc -Iinclude -w -O2 tests/exec/matrix_compare.c src/ptx/tables.c -ldl -o "$out/matrix_compare"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds gpu_compare.c against the v3 functions into the folder given (default: build/gpu_compare). Run the program where a GPU is.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=${1:-build/gpu_compare}
mkdir -p "$out"
flags=(-std=gnu17 -D_GNU_SOURCE -Isrc -Iinclude -DSIM_HAS_V3=1 -ffp-contract=off -w)
objects=()
# Only the functions of values: those that touch memory are not called, and their symbols stay unresolved.
for file in alu_add alu_mul logic bits compare float_add float_pair float_div float_misc half half_compare convert convert_int convert_packed fp8 approx \
            warp_ops matrix matrix_sum matrix_fragment video table; do
    gcc "${flags[@]}" -O3 -DSIM_ISA=v3 -march=x86-64-v3 -c "src/sim/exec/$file.c" -o "$out/$file.o"
    objects+=("$out/$file.o")
done
gcc "${flags[@]}" -O2 -c src/ptx/tables.c -o "$out/tables.o"
gcc "${flags[@]}" -O2 tests/exec/gpu_compare.c "${objects[@]}" "$out/tables.o" -ldl -lm -no-pie \
    -Wl,--unresolved-symbols=ignore-all -o "$out/gpu_compare"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every key of a GPU model changes something: code outside src/gpu reads its field. Names those that nothing reads.
cd "$(dirname "$0")/.." || exit 1
for_people=' dram_kind ' # shown, not used
status=0
read_somewhere=$(grep -rhoE '(->|\.|\bG\()[a-z_0-9]+' src --include='*.c' --include='*.h' --include='*.def' --exclude-dir=gpu \
    --exclude='*_test.c' --exclude='*_testing.h' | sed -E 's/^(->|\.|G\()//' | sort -u)
while IFS='(,' read -r macro field _; do
    case $macro in GPU_KEY | GPU_WORD | GPU_TEXT) ;; *) continue ;; esac
    [[ $for_people == *" $field "* ]] && continue
    grep -qx -- "$field" <<<"$read_somewhere" && continue
    grep -qE "(->|\.)$field\b" src/gpu/occupancy.c src/gpu/address_map.c && continue
    echo "src/gpu: nothing reads the key of GpuModel.$field" >&2
    status=1
done < <(cat src/gpu/gpu_keys.def src/gpu/timing_keys.def)
exit $status

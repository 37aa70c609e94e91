#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every choice that a GPU model has (a key whose value is a word) makes a difference: on a small GPU, whose caches are
# soon full, the same kernel takes as many cycles with no two words of a key.
. tests/e2e/lib.sh
cp tests/gpu_choices/choices.gpu "$T/small.gpu"

# cycles NAME LINE... -> cycles of the kernel on the small GPU with these lines
cycles() {
    local file=$T/$1.gpu
    shift
    printf '%s\n' 'inherit = small' "$@" >"$file"
    "$W" sim --timing --gpu "$file" tests/gpu_choices/choices.ptx --launch tests/gpu_choices/choices.launch 2>"$T/err" |
        sed -nE 's/.*: ([0-9]+) cycles, simulated.*/\1/p'
}

# different WHAT LINES LINES...: no two of these (separated by |) give the same
different() {
    local what=$1 count=$#
    shift
    for lines; do
        mapfile -t rows < <(tr '|' '\n' <<<"$lines")
        cycles one "${rows[@]}"
    done >"$T/counts"
    checks=$((checks + 1))
    [ "$(sort -u "$T/counts" | wc -l)" = $((count - 1)) ] || fail "$what" "cycles: $(paste -sd ' ' "$T/counts")" "$(cat "$T/err")"
}

keys=0
while IFS='"' read -r _ key _ words _; do
    lines=()
    for word in $words; do lines+=("$key = $word"); done
    different "$key: $words" "${lines[@]}"
    keys=$((keys + 1))
done < <(grep '^GPU_WORD' src/gpu/gpu_keys.def src/gpu/timing_keys.def)
[ $keys -ge 9 ] || fail "keys with words" "found $keys"

different "hold-grant's time-out" 'noc_arbitration = hold-grant|noc_hold_timeout = 0' 'noc_arbitration = hold-grant|noc_hold_timeout = 8'
different "iterations of PIM" 'noc_arbitration = pim|noc_iterations = 1' 'noc_arbitration = pim|noc_iterations = 4'
different "iterations of iSLIP" 'noc_arbitration = islip|noc_iterations = 1' 'noc_arbitration = islip|noc_iterations = 4'
different "warps of the active set" 'scheduler = two-level|two_level_active_warps = 2' 'scheduler = two-level|two_level_active_warps = 4'
different "banks of shared memory" 'shared_banks = 32' 'shared_banks = 16' 'shared_bank_bytes = 8'
different "lanes that shared memory serves at a time" 'shared_lanes = 32' 'shared_lanes = 16'
different "the L1's split" 'l1_size = 8 KiB' 'l1_size = 128 KiB|l1_unified = 1'
finish

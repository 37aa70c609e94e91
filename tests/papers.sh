#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What papers saw on simulated GPUs comes out here too (docs/validation-papers.md): AerialVision's address maps and its
# starvation on a ring, GRAB's table 5.
. tests/e2e/lib.sh
folder=examples/papers

# cycles PROGRAM GPU KERNEL -> cycles of all its launches whose kernel's name begins so
cycles() {
    local output=$T/$1-${2##*/}
    [ -e "$output" ] || "$W" sim --timing --gpu "$2" "$folder/$1.ptx" --launch "$folder/$1.launch" >"$output" 2>"$T/err"
    grep -q '^RESULT PASS' "$output" || fail "$1 on $2" "$(tail -2 "$output" "$T/err")"
    awk -v kernel="$3" 'index($0, kernel) == 1 && /cycles, simulated/ { sub(/.*>>>: /, ""); sum += $1 } END { print sum + 0 }' "$output"
}

# faster WHAT CYCLES CYCLES [PERCENT]: the first are fewer, by so many percent of the second at least
faster() {
    checks=$((checks + 1))
    [ "$2" -gt 0 ] && [ $(($2 * (100 + ${4:-0}))) -lt $(($3 * 100)) ] || fail "$1" "got $2 and $3 cycles, expected the first to be fewer"
}

low=./$folder/channel-6-8.gpu middle=quadro-fx5800 high=./$folder/channel-11-13.gpu
faster "transposition: channel bits 6-8 against 8-10" "$(cycles transpose $low transpose_tiled)" "$(cycles transpose $middle transpose_tiled)" 15
faster "transposition: diagonal against rows, bits 8-10" "$(cycles transpose $middle transpose_diagonal)" "$(cycles transpose $middle transpose_tiled)" 5
faster "BFS: channel bits 11-13 against 8-10" "$(cycles bfs $high bfs)" "$(cycles bfs $middle bfs)"
faster "BFS: channel bits 8-10 against 6-8" "$(cycles bfs $middle bfs)" "$(cycles bfs $low bfs)"
faster "BFS: channel bits 11-13 against 6-8" "$(cycles bfs $high bfs)" "$(cycles bfs $low bfs)" 5

pim=$(cycles libor ./$folder/ring-pim.gpu libor) hold=$(cycles libor ./$folder/ring-hold-grant.gpu libor)
cured=$(cycles libor ./$folder/ring-hold-grant-time-out.gpu libor)
faster "LIBOR on a ring: PIM against hold-grant, which leaves SMs behind" "$pim" "$hold" 5
faster "LIBOR on a ring: the time-out cures hold-grant" "$cured" "$hold" 5

for gpu in tegra-k1 ./$folder/tegra-k1-lrr.gpu ./$folder/tegra-k1-two-level.gpu; do
    while read -r program better worse; do
        faster "$better against $worse on $gpu" "$(cycles "$program" "$gpu" "$better ")" "$(cycles "$program" "$gpu" "$worse ")"
    done <<'PAIRS'
bitonic bitonic_sort_best bitonic_sort_basic
matmul matmult_basic_modified matmult_basic
matmul matmult_best matmult_basic_modified
lbm lbm_v1 lbm_basic
lbm lbm_v2 lbm_v1
susan susan_modified susan_basic
PAIRS
done
finish

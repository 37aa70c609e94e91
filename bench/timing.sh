#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Speed, memory and overheads of cycle-level simulation (`--timing`), beside GPGPU-Sim's (bench/baseline).
#   bench/timing.sh [BUILD]            BUILD: the build folder (default build/release)
#   RUNS=N: runs of which the least time is taken (default 5).  MODEL=NAME: the simulated GPU (default h200).
# Rates are of thread instructions as GPGPU-Sim counts them (column thread_insn of the baseline), divided by the user time of the
# whole process: start, reading of PTX and checks of the results included.
set -eu
cd "$(dirname "$0")/.."
warplens=$(cd "${1:-build/release}" && pwd)/bin/warplens
runs=${RUNS:-5} model=${MODEL:-h200}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${CC:-cc}" -O2 bench/measure.c -o "$work/measure"

# run NAME TAG OPTION...: one run, whose "wall user peak" goes to the end of the file TAG of the program.
run() {
    local name=$1 tag=$2 launch=bench/$1.launch ptx
    shift 2
    ptx=bench/$(sed -n 's/^# ptx: //p' "$launch")
    if ! "$work/measure" "$warplens" sim "$ptx" --launch "$launch" --gpu="$model" --timing -q "$@" >"$work/out" 2>"$work/err"; then
        cat "$work/out" "$work/err" >&2
        echo "bench: $name fails" >&2
        exit 1
    fi
    tail -1 "$work/err" >>"$work/$name.$tag"
}

# The least of a column (1 wall, 2 user, 3 peak) of the runs of a program.
least() { sort -g -k "$3,$3" "$work/$1.$2" | head -1 | cut -d' ' -f"$3"; }

# FIELD of the baseline's row of a program: thread_insn, user_s, rss_MB.
baseline() { grep "^$1,SM7_QV100," bench/baseline/gpgpusim-4.2.csv | tr ',' '\n' | sed -n "s/^$2=//p"; }

# What the profile grows by for a point of the counters over time.
point_bytes() {
    local points
    points=$("$warplens" report --json "$work/$1.wlp" | tr '{' '\n' | sed -n 's/.*"unit":"gpu".*"points":\([0-9]*\).*/\1/p' | paste -sd+)
    echo $((($(stat -c %s "$work/$1.wlp") - $(stat -c %s "$work/$1.totals.wlp")) / (points)))
}

compare() {
    local name=$1 row=$2 i
    for ((i = 0; i < runs; i++)); do  # taken in turn: what else the machine does falls on all alike
        run "$name" plain --threads=1
        run "$name" two --threads=2
        run "$name" totals --threads=1 --interval=0 -f -o "$work/$name.totals.wlp"
        run "$name" profile --threads=1 -f -o "$work/$name.wlp"
    done
    printf '%s %s %s %s %s %s %s %s %s %s %s %s\n' "$name" "$(baseline "$row" thread_insn)" "$(baseline "$row" user_s)" \
        "$(baseline "$row" rss_MB)" "$(least "$name" plain 2)" "$(least "$name" plain 3)" "$(least "$name" plain 1)" \
        "$(least "$name" two 1)" "$(least "$name" totals 2)" "$(least "$name" profile 2)" "$(least "$name" profile 3)" "$(point_bytes "$name")" |
        awk '{ printf "| %s | %.1f | %.1f x | %.0f | 1/%.1f | %.2f x | %+.0f %% | %+.0f %% | %.0f | %d |\n", $1, $2 / $5 / 1e6, $3 / $5, $6 * 1024 / 1e6,
               $4 / ($6 * 1024 / 1e6), $7 / $8, 100 * ($9 / $5 - 1), 100 * ($10 / $9 - 1), $11 * 1024 / 1e6, $12 }'
}

cat <<END
Cycle-level simulation of $model; least of $runs runs, load $(cut -d' ' -f1 /proc/loadavg) of $(nproc) processors:
| kernel | million thread instructions/s | against GPGPU-Sim's QV100 | peak MB | of GPGPU-Sim's | two threads, wall | a profile of totals | counters over time | peak MB with them | bytes of a point |
|---|---|---|---|---|---|---|---|---|---|
END
compare vector_add 'vectorAdd(1048576)'
compare transpose 'transpose(1024)'
compare matmul_naive 'matmul_naive(256)'
compare matmul_tiled 'matmul_tiled(256)'
compare bitonic 'bitonic(16384)'

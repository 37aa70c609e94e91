#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two runs, and runs with 1, 2 and 4 host threads, give the same report, times aside: metrics, lines, order, everything.
# bfs_queue, histogram and the privatised histogram use atomics from many blocks, so their results would tell a race.
. tests/e2e/lib.sh
need python3

report() { "$W" report --json "$T/$1.wlp" >"$T/$1.json" || fail "$1: no report"; }

compare() {
    report "$2"
    checks=$((checks + 1))
    python3 tests/e2e/report_figures.py "$T/$1.json" same "$T/$2.json" || fail "$2 differs from $1"
}

for topic in bfs bitonic histogram jacobi matmul reduction scan spmv transpose vector_add; do
    for run in 1 1b 2 4; do
        "$W" sim -q "examples/$topic/$topic.ptx" --launch "examples/$topic/$topic.launch" --threads "${run%b}" -o "$T/$topic-$run.wlp" ||
            fail "$topic with ${run%b} threads does not run"
    done
    report "$topic-1"
    for run in 1b 2 4; do compare "$topic-1" "$topic-$run"; done
done

# Time, too: cycles, stalls and their causes, counters over time.
for topic in histogram jacobi; do
    for run in 1 1b 2; do
        "$W" sim -q --timing "examples/$topic/$topic.ptx" --launch "examples/$topic/$topic.launch" --threads "${run%b}" -o "$T/timed-$topic-$run.wlp" ||
            fail "$topic timed with ${run%b} threads does not run"
    done
    report "timed-$topic-1"
    checks=$((checks + 1))
    grep -q '"sm__cycles_elapsed.max"' "$T/timed-$topic-1.json" || fail "$topic: no cycles in the report"
    for run in 1b 2; do compare "timed-$topic-1" "timed-$topic-$run"; done
done

unpack_prebuilt
for run in 1 1b 2 4; do
    "$W" run -q --threads "${run%b}" -o "$T/program-$run.wlp" "$T/matmul" --n 64 >"$T/out" 2>&1 || fail "matmul with ${run%b} threads" "$(tail -1 "$T/out")"
done
report program-1
for run in 1b 2 4; do compare program-1 "program-$run"; done
finish

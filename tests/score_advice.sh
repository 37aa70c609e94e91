#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tools/score_advice.py: ranks, errors, intervals and shares of kernels, on times and advice whose scores are known.
. tests/e2e/lib.sh
need python3

# row RULE KERNEL SPEEDUP LOW HIGH [NS]: advice that saves so many of 100 ns (default: what the speedup of all of them saves)
row() {
    printf '{"rule":"%s","kernel":"%s","estimate":{"speedup":%s,"low":%s,"high":%s,"saved_ns":%s,' \
        "$1" "$2" "$3" "$4" "$5" "${6:-$(awk -v s="$3" 'BEGIN { print 100 - 100 / s }')}"
    printf '"model":{"speedup":%s,"error":0.1,"limit":64}}}' "$3"
}
advice() {
    local IFS=,
    printf '{"kernel_ns":100,"advice":[%s]}' "$*"
}
mkdir "$T/advice"
advice "$(row other all 1.5 1.4 1.6)" "$(row other all 1.3 1.2 1.4)" "$(row first all 1.8 1.2 2.5)" >"$T/advice/second.json"
advice "$(row also all 1.4 1.3 1.5)" >"$T/advice/wide.json"
advice "$(row other all 1.4 1.3 1.5)" >"$T/advice/missing.json"
advice "$(row first half 2 1 4 25)" >"$T/advice/shared.json"
advice "$(row other all 3 2 4)" "$(row first half 2 1 4 25)" >"$T/advice/kernel.json"
printf '# pair\trule\talso\tkernel\nsecond\tfirst\t-\t-\nwide\tnone\talso\t-\nmissing\tfirst\t-\t-\nshared\tfirst\t-\t-\nkernel\tfirst\t-\thalf\n' >"$T/pairs.tsv"
times() { # PAIR BEFORE AFTER
    printf '1\t%s\tbefore\t0\t500\t%s before median_us=%s launches=9 RESULT PASS\n1\t%s\tafter\t0\t500\t%s after median_us=%s\n' \
        "$1" "$1" "$2" "$1" "$1" "$3"
}
{
    printf 'round\tpair\tversion\texit\twall_ms\toutput\n'
    times second 20 10
    times second 22 11
    times wide 12 10
    times missing 15 10
    times shared 20 15
    times kernel 20 10
} >"$T/times.tsv"

score() { tools/score_advice.py --pairs "$T/pairs.tsv" --times "$T/times.tsv" --advice "$T/advice" --rules /dev/null --tsv "$T/table.tsv" "$@"; }
score >"$T/out"
same "exit code" $? 0
same "table" "$(grep -v '^#' "$T/table.tsv" | cut -f1-7,9-11)" "pair	rule	rank	estimated	low	high	achieved	ratio_error	gain_error	covered
second	first	2	1.800	1.200	2.500	2.000	0.100	0.200	yes
wide	none	1	1.400	1.300	1.500	1.200	0.167	1.000	no
missing	first	-	1.000	1.000	1.000	1.500	0.333	1.000	no
shared	first	1	1.333	1.000	1.600	1.333	0.000	0.000	yes
kernel	first	1	2.000	1.000	4.000	2.000	0.000	0.000	yes"
same "right rule in the first three" "$(grep 'first 3' "$T/out")" "right rule in the first 3: 4 of 5 (80 %)"
same "all changes gained" "$(grep -c 'or more' "$T/out")" 0
same "summary" "$(grep 'as advised' "$T/out")" \
    "as advised: gain error median 20 %, mean 44 %; where the rule was found median 10 %, mean 30 %; intervals cover 75 %"
same "only the times" "$(score --no-advice --only second | tail -1 | tr -s ' ')" "second first 2.000 0.048 21.000 10.500"

# The record of the other pairs: without any, the model's own estimate.
score --only second >"$T/out"
same "leave one out" "$(grep -v '^#' "$T/table.tsv" | tail -1 | cut -f12)" 1.800

sed 's/missing after median_us=10$/missing after median_us=14.9/' "$T/times.tsv" >"$T/slow.tsv"
score --times "$T/slow.tsv" >"$T/out"
same "a change that gains nothing" "$(grep 'or more' "$T/out")" "... of the changes that gained 2 % or more: 4 of 4 (100 %), gain error median 10 %, mean 30 %, intervals cover 75 %; less did missing (1.00 expected)"

printf '1\twide\tafter\t1\t500\twide after median_us=2 FAIL\n' >>"$T/times.tsv"
score >"$T/out" 2>"$T/err"
same "exit code with a run that failed" $? 1
same "the run that failed" "$(cat "$T/err")" "score_advice.py: wide after: exit code 1: wide after median_us=2 FAIL"
# tools/time_pairs.sh makes such a table of programs; what a program prints and its exit code are in it.
mkdir "$T/bin"
printf '#!/bin/sh\necho "second before median_us=30 launches=$2"\n' >"$T/bin/second-before"
printf '#!/bin/sh\necho "second after\tmedian_us=20"; exit 7\n' >"$T/bin/second-after"
chmod +x "$T"/bin/*
tools/time_pairs.sh -r 2 -t 5 "$T/bin" >"$T/measured.tsv"
same "exit code when a program fails" $? 1
same "times" "$(cut -f1-4,6 "$T/measured.tsv" | sed 's/ *$//')" "round	pair	version	exit	output
1	second	before	0	second before median_us=30 launches=5
1	second	after	7	second after median_us=20
2	second	before	0	second before median_us=30 launches=5
2	second	after	7	second after median_us=20"

# Quantiles: of n scores as many are no larger than the quantile of the others as the level says, whatever the scores.
same "quantiles that promise too much" "$(PYTHONPATH=tools python3 -c '
import random
import advice_interval as ai
random.seed(1)
for n in 21, 40, 69, 200:
    for draw in random.random, lambda: random.gauss(0, 1), lambda: random.paretovariate(0.5):
        scores = [draw() for _ in range(n)]
        for level in 0.5, 0.9, 0.95:
            inside = sum(s <= ai.quantile(scores[:i] + scores[i + 1:], level) for i, s in enumerate(scores))
            if not level * n <= inside < level * n + 1:
                print(n, level, inside)')" ""
# A rule that was out farther than the others is wider than they are; one that nobody knows is as wide as all of them.
same "widths" "$(PYTHONPATH=tools python3 -c '
import advice_interval as ai
known = [dict(rule="good", speedup=2, achieved=2.1)] * 9 + [dict(rule="bad", speedup=2, achieved=1)] * 9
print(ai.width_of("good", known) < 1 < ai.width_of("bad", known), ai.width_of("other", known))')" "True 1.0"
# All pairs of two sets are as far out: each set tells what the other needs. A limit that was exceeded shows.
firsts() { # NAME LIMIT
    printf 'pair\trule\trank\testimated\tachieved\tnoise\tlimit\n'
    for i in 1 2 3 4 5 6; do printf '%s%s\tr\t1\t2\t3\t0\t%s\nbelow%s%s\tr\t1\t3\t2\t0\t9\n' "$1" $i "$2" "$1" $i; done
}
firsts a 9 >"$T/a-first.tsv"
firsts b 9 >"$T/b-first.tsv"
firsts a 2.5 >"$T/a-pairs.tsv"
tools/calibrate_advice.py --first "$T/a-first.tsv" "$T/b-first.tsv" --known "$T/a-pairs.tsv" >"$T/out" 2>"$T/err"
same "calibration" "$(grep -E 'set left out|now, program' "$T/out" | tr -s ' ' | cut -d, -f1-2)" "first looks, each set left out covered 24 of 24 (100 %)
as estimated now, program left out covered 6 of 12 ( 50 %)"

# In terms of themselves pairs are as wide as they are.
score --record | grep RECORD >"$T/records"
score --record --unit "$T/table.tsv" | grep RECORD >"$T/again"
same "widths in terms of the same pairs" "$(cat "$T/again")" "$(cat "$T/records")"

rm "$T/advice/wide.json"
score >"$T/out" 2>"$T/err"
same "advice that is not there" "$? $(grep -c 'wide.json' "$T/err")" "1 1"
finish

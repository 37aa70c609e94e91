#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# usage: time_pairs.sh [-r ROUNDS] [-t MILLISECONDS] [-p PROFILES] BINARIES > TIMES.tsv
#
# Runs the optimisation pairs (examples/build.sh --advice BINARIES) on this machine's GPU and prints what tools/score_advice.py --times
# reads: round, pair, version, exit code, wall milliseconds, output. Before and after take turns, so that what the clock does falls on both.
#   -r ROUNDS        how often each program runs (default 3)
#   -t MILLISECONDS  of kernel time in each run (default 60)
#   -p PROFILES      also writes PROFILES/PAIR-before.wlp, sampled by `warplens run --on gpu` over 20 times that ($WARPLENS, else build/release's)
# Exit codes: 0 all ran, 1 a program failed (its row says how), 2 usage.
set -u
rounds=3 milliseconds=60 profiles=''
while getopts r:t:p: option; do
    case $option in
    r) rounds=$OPTARG ;;
    t) milliseconds=$OPTARG ;;
    p) profiles=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
if [ $# != 1 ] || [ ! -d "$1" ]; then
    echo "usage: time_pairs.sh [-r ROUNDS] [-t MILLISECONDS] [-p PROFILES] BINARIES" >&2
    exit 2
fi
folder=$1 failed=0

printf 'round\tpair\tversion\texit\twall_ms\toutput\n'
for ((round = 1; round <= rounds; round++)); do
    for before in "$folder"/*-before; do
        pair=$(basename "$before" -before)
        for version in before after; do
            start=$(date +%s%N)
            text=$("$folder/$pair-$version" gpu "$milliseconds" 2>&1)
            code=$?
            [ $code = 0 ] || failed=1
            printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$round" "$pair" "$version" "$code" "$((($(date +%s%N) - start) / 1000000))" \
                "$(tr '\n\t' '  ' <<<"$text")"
        done
    done
done
if [ -n "$profiles" ]; then
    warplens=${WARPLENS:-$(dirname "$0")/../build/release/bin/warplens}
    mkdir -p "$profiles"
    for before in "$folder"/*-before; do
        "$warplens" run -q -f --on gpu -o "$profiles/$(basename "$before").wlp" -- "$before" gpu "$((20 * milliseconds))" >&2 || failed=1
    done
fi
exit $failed

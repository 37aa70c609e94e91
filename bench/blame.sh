#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# How often the instruction blamer is right, against the simulator's truth (docs/blame.md).
#   bench/blame.sh [-s] PROFILES [PROGRAM...]    PROFILES: a folder, for what is simulated
#   Each PROGRAM, with the arguments in $ARGS, is simulated cycle by cycle into PROFILES/NAME.wlp, and the five kernels of
#   bench/ with them; what is there already stays. -s: with PC samples of 2^5 to 2^14 cycles, at each of $OFFSETS, and
#   what the blame is worth with so many samples.
#   BUILD=FOLDER (default build/release)   LIMIT=SECONDS for a program (default 120)
# Example: examples/build.sh --advice && ARGS=small bench/blame.sh /tmp/blame examples/build/advice/*-before
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build/release}
samples=
if [ "${1:-}" = -s ]; then samples=yes; shift; fi
if [ $# = 0 ]; then sed -n '3,10s/^# \{0,1\}//p' "$0"; exit 2; fi
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
warplens=$(cd "$build" && pwd)/bin/warplens

# simulate NAME COMMAND [ARGUMENT...]: `run` or `sim` with its input; a program that is stopped leaves the launches until then.
simulate() {
    local profile=$out/$1.wlp command=$2
    shift 2
    [ -s "$profile" ] ||
        timeout "${LIMIT:-120}" "$warplens" "$command" --timing --interval=0 -q -f -o "$profile" "$@" >/dev/null 2>&1 ||
        echo "blame.sh: $profile: stopped early" >&2
}

# run_all SUFFIX PROGRAM...
run_all() {
    local suffix=$1 program kernel
    shift
    for program in "$@"; do
        # shellcheck disable=SC2086  # words of ARGS are arguments
        simulate "$(basename "$program")$suffix" run -- "$program" ${ARGS:-}
    done
    for kernel in vector_add transpose matmul_naive matmul_tiled bitonic; do
        simulate "$kernel$suffix" sim "bench/$(sed -n 's/^# ptx: //p' "bench/$kernel.launch")" --launch "bench/$kernel.launch"
    done
}

if [ -z "$samples" ]; then
    run_all "" "$@"
    "$build/bench/blame_truth" gpus "$out"/*.wlp
else
    for offset in ${OFFSETS:-0 97 389 1553 6211 11003}; do
        WARPLENS_PC_PERIODS=32736 WARPLENS_PC_OFFSET=$offset run_all ".$offset" "$@"
    done
    "$build/bench/blame_samples" gpus "$out"/*.wlp | bench/blame_samples.py
fi

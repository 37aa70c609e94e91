#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Speed and memory of the simulator on one host thread, and of the PTX reader.
#   bench/run.sh [BUILD] [--save]      BUILD: the build folder (default build/release)
#   --save also writes bench/results/DATE-PROCESSOR.tsv.  RUNS=N: runs of which the median is taken (default 5).
# Speed is in thread instructions (a warp instruction with 32 active lanes is 32) per second of simulation alone; peak memory is
# that of the whole process, beside what the program allocates on the device.
set -eu
cd "$(dirname "$0")/.."
build=build/release save=
for argument in "$@"; do
    case $argument in
        --save) save=yes ;;
        *) build=$argument ;;
    esac
done
warplens=$(cd "$build" && pwd)/bin/warplens
runs=${RUNS:-5}
target=150  # million thread instructions per second, functional mode, one thread
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${CC:-cc}" -O2 bench/measure.c -o "$work/measure"
printf 'benchmark\tthread_instructions\tmillion_per_second\ttarget\tpeak_mb\tprogram_mb\n' >"$work/simulation.tsv"
printf 'benchmark\tmegabytes\tmb_per_second\tpeak_mb\n' >"$work/ptx.tsv"

# The median of column 1 of stdin.
median() { sort -g | awk '{ value[NR] = $1 } END { print NR % 2 ? value[(NR + 1) / 2] : (value[NR / 2] + value[NR / 2 + 1]) / 2 }'; }

# MB of the buffers that a launch file declares.
allocated() { awk '$1 == "buffer" { bits = substr($3, 2); sum += $4 * bits / 8 } END { printf "%.1f", sum / 1e6 }' "$1"; }

simulate() {
    local launch=$1 name ptx i
    name=$(basename "$launch" .launch)
    ptx=bench/$(sed -n 's/^# ptx: //p' "$launch")
    : >"$work/rates"
    for ((i = 0; i < runs; i++)); do
        if ! "$work/measure" "$warplens" sim "$ptx" --launch "$launch" --threads 1 >"$work/out" 2>"$work/err"; then
            cat "$work/out" "$work/err"
            echo "bench: $name fails" >&2
            exit 1
        fi
        # "... N thread instructions, R million of these a second" for each launch
        sed -n 's/.* \([0-9]*\) thread instructions, \([0-9.]*\) million.*/\1 \2/p' "$work/out" |
            awk '{ count += $1; seconds += $1 / $2 } END { print count / seconds, count }' >>"$work/rates"
        tail -1 "$work/err" | cut -d' ' -f3 >>"$work/$name.peak"
    done
    printf '%s\t%d\t%.0f\t%d\t%.1f\t%s\n' "$name" "$(tail -1 "$work/rates" | cut -d' ' -f2)" "$(median <"$work/rates")" $target \
        "$(median <"$work/$name.peak" | awk '{ print $1 * 1024 / 1e6 }')" "$(allocated "$launch")" >>"$work/simulation.tsv"
}

parse() {
    local name=$1 i
    for ((i = 0; i < runs; i++)); do
        "$work/measure" "$warplens" ptx --check "$work/$name" >/dev/null 2>"$work/err" || { cat "$work/err"; exit 1; }
        tail -1 "$work/err" | cut -d' ' -f1 >>"$work/seconds"
        tail -1 "$work/err" | cut -d' ' -f3 >>"$work/peak"
    done
    printf '%s %s %s\n' "$(stat -c %s "$work/$name")" "$(median <"$work/seconds")" "$(median <"$work/peak")" |
        awk -v name="$name" '{ printf "%s\t%.1f\t%.0f\t%.1f\n", name, $1 / 1e6, $1 / 1e6 / $2, $3 * 1024 / 1e6 }' >>"$work/ptx.tsv"
}

processor() { sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1; }

show() { awk -F'\t' '{ printf "  %-16s", $1; for (i = 2; i <= NF; i++) printf " %20s", $i; print "" }' "$1"; }

echo "$(processor), $(nproc) processors, load $(cut -d' ' -f1 /proc/loadavg); median of $runs runs, one host thread"
for launch in bench/*.launch; do simulate "$launch"; done
echo "Functional simulation:"
show "$work/simulation.tsv"
bench/big_ptx.sh examples/scan/scan.ptx 400 >"$work/scan_x400.ptx"
parse scan_x400.ptx
echo "Reading and checking PTX:"
show "$work/ptx.tsv"

if [ -n "$save" ]; then
    mkdir -p bench/results
    file=bench/results/$(date -u +%F)-$(processor | tr -cs '[:alnum:]\n' '_' | sed 's/_*$//').tsv
    cat "$work/simulation.tsv" "$work/ptx.tsv" >"$file"
    echo "written to $file"
fi

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What accounting of stalls and the counters cost cycle-level simulation, in instructions of one thread: the same in every run,
# whatever else the machine does.
#   bench/cost.sh [KERNEL...]          default: all five of bench/*.launch, the longer ones cut short
#   MODEL=NAME: the simulated GPU (default h200).
# Needs valgrind. Builds build/cost with accounts and build/cost-bare without (SM_ACCOUNTS in sim/time/sm_account.h).
set -eu
cd "$(dirname "$0")/.."
command -v valgrind >/dev/null || { echo "cost.sh: valgrind is missing: apt-get install valgrind" >&2; exit 1; }
model=${MODEL:-h200}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

build() { # FOLDER FLAG...
    cmake --preset release -B "$1" -DWL_TESTS=OFF -DCMAKE_C_FLAGS="${*:2}" >/dev/null
    cmake --build "$1" --target warplens -- --quiet
}
build build/cost
build build/cost-bare -DSM_ACCOUNTS=0

# Under valgrind a launch takes a minute: a profile would be committed again and again, which it is not at full speed.
cat >"$work/clock.c" <<'C'
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *time) {
    static long calls;
    (void)clock;
    *time = (struct timespec){1000000000, ++calls};
    return 0;
}
C
"${CC:-cc}" -O2 -shared -fPIC -o "$work/clock.so" "$work/clock.c"

# The launch file, of as many CTAs as take some seconds.
shorten() { # KERNEL
    local grid
    case $1 in
        vector_add) grid=2048 ;;
        transpose) grid='16 12' ;;
        matmul_*) grid='16 3' ;;
        *) cp "bench/$1.launch" "$work/$1.launch" && return ;;
    esac
    sed "s/^grid .*/grid $grid/; /^expect/d" "bench/$1.launch" >"$work/$1.launch"
}

# Million instructions.
count() { # BUILD KERNEL OPTION...
    local name=$2 ptx
    ptx=bench/$(sed -n 's/^# ptx: //p' "bench/$name.launch")
    # Copies with `rep movs` are counted by the byte.
    GLIBC_TUNABLES=glibc.cpu.x86_rep_movsb_threshold=1000000000:glibc.cpu.x86_rep_stosb_threshold=1000000000 \
        LD_PRELOAD=$work/clock.so valgrind --tool=callgrind --callgrind-out-file=/dev/null "$1/bin/warplens" sim "$ptx" \
        --launch "$work/$name.launch" --gpu="$model" --timing -q --threads=1 "${@:3}" 2>&1 >/dev/null |
        sed -n 's/.*Collected : \([0-9]*\).*/\1/p' | awk '{ printf "%.2f", $1 / 1e6 }'
}

echo "| kernel | without accounts | accounting of stalls | simulation | totals | counters over time, totals included | both, of the first column |"
echo "|---|---|---|---|---|---|---|"
[ $# -gt 0 ] || set -- vector_add transpose matmul_naive matmul_tiled bitonic
for name; do
    shorten "$name"
    echo "$name $(count build/cost-bare "$name") $(count build/cost "$name") $(count build/cost "$name" --interval=0 -f -o "$work/totals.wlp") $(
        count build/cost "$name" -f -o "$work/profile.wlp")" |
        awk '{ printf "| %s | %.1f | %+.1f | %.1f | %+.1f (%.1f %%) | %+.1f (%.1f %%) | %.1f %% |\n", $1, $2, $3 - $2, $3, $4 - $3,
               100 * ($4 / $3 - 1), $5 - $3, 100 * ($5 / $3 - 1), 100 * ($5 / $2 - 1) }'
done

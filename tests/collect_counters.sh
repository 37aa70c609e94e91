#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Counters over time on a GPU (run --on gpu --interval), with the mock CUPTI: from its samples to the report, and what
# happens when samples are lost, do not fit, or are refused. As tests/collect.sh.
. tests/e2e/lib.sh
need "${CC:-cc}" python3
flags=(-std=c17 -D_GNU_SOURCE -Wall -Wextra -O1 -g -Isrc -Itests/collect)
mkdir "$T/old"
"${CC:-cc}" "${flags[@]}" -shared -fPIC -Wl,-soname,libcupti.so.13 tests/collect/mock_cupti.c tests/collect/mock_pm.c \
    -o "$T/libcupti.so.13" -lpthread || exit 1
# One without the functions of PM sampling.
"${CC:-cc}" "${flags[@]}" -c -fPIC -fvisibility=hidden tests/collect/mock_pm.c -o "$T/old/mock_pm.o" || exit 1
"${CC:-cc}" "${flags[@]}" -shared -fPIC -Wl,-soname,libcupti.so.13 tests/collect/mock_cupti.c "$T/old/mock_pm.o" \
    -o "$T/old/libcupti.so.13" -lpthread || exit 1
"${CC:-cc}" "${flags[@]}" tests/collect/life.c -o "$T/life" -L"$T" -l:libcupti.so.13 -ldl -lpthread || exit 1

export TMPDIR=$T LD_LIBRARY_PATH=$T
. tests/collect/lib.sh
life_options=(--interval 200us)
for life in lost two few refused fail forked; do begin "counters_$life" 7; done
MOCK_PM=35 begin counters_refused.permission 7
LD_LIBRARY_PATH=$T/old begin counters_refused.old 7

# Points and sum of a column of the timeline CSV, by kernel ('' = the whole run).
sums() {  # NAME COLUMN
    "$W" report --section timeline --format csv "$T/$1.wlp" 2>&1 | python3 -c '
import collections, csv, sys
rows, points, total = list(csv.DictReader(sys.stdin)), collections.Counter(), collections.Counter()
for row in rows:
    points[row["kernel"]] += 1
    total[row["kernel"]] += float(row[sys.argv[1]] or 0)
for kernel in sorted(points): print(kernel, points[kernel], "%g" % total[kernel], sep="|")' "$2"
}

life counters 7 -q
same "nothing is said with -q" "$(cat "$T/counters.err")" ""
life counters 7 -f
says counters "no samples of instructions: a GPU takes one of the two"
same "timelines: of the run, and of launches that are long enough, the last one as far as it was sampled" \
    "$(ask counters "SELECT t.launch, f.name, t.unit, t.units, t.points, t.first, t.step, t.tick_ns, s.provenance FROM timeline t
        JOIN source s ON s.id = t.source LEFT JOIN launch l ON l.id = t.launch LEFT JOIN function f ON f.id = l.function ORDER BY 1")" \
    $'0|None|gpu|1|100|1000000000|200000|1.0|counted\n1|long_kernel|gpu|1|20|1002000000|200000|1.0|counted'
same "bytes" "$(sums counters dram__bytes_read.sum)" $'|100|4e+07\nlong_kernel|20|8e+06'
same "a share of another counter" "$(sums counters lts__t_sectors_lookup_hit.sum)" $'|100|5e+06\nlong_kernel|20|1e+06'
same "a formula" "$(sums counters sm__inst_executed.avg.per_cycle_elapsed)" $'|100|500\nlong_kernel|20|100'
same "places for warps" "$(sums counters warplens__warp_slots.sum)" $'|100|1.28e+09\nlong_kernel|20|2.56e+08'
same "no formula of what was not counted" "$(sums counters sm__inst_issued.avg.per_cycle_elapsed)" $'|100|0\nlong_kernel|20|0'
same "no samples of instructions beside them" "$(ask counters "SELECT count(*) FROM sample")" 0
same "nothing lost" "$(ask counters "SELECT * FROM dropped")" ""
"$W" report --section timeline "$T/counters.wlp" >"$T/text" 2>&1
checks=$((checks + 1))
grep -q 'DRAM reads, B/s .* to 2.00 G' "$T/text" && grep -q 'Launch 0: long_kernel' "$T/text" && grep -q 'us each' "$T/text" ||
    fail "the report shows no curves" "$(cat "$T/text")"
same "and has them as JSON" "$("$W" report --format json "$T/counters.wlp" | python3 -c '
import json, sys
report = json.load(sys.stdin)
run = report["timelines"][0]
print(run["points"], run["tick_ns"], sum(run["metrics"]["dram__bytes_read.sum"][0]))')" "100 1 40000000"

# What an H200 gave, against Nsight Compute's figures of the same three kernels on it (each was launched twice).
CUDA_INJECTION64_PATH=$BUILD/lib/libwarplens-collect.so.0 WARPLENS_OUTPUT=$T/recorded.wlp WARPLENS_INTERVAL=20000 \
    WARPLENS_SAMPLING=off "$T/life" counters_recorded
"$W" report --section timeline --format csv "$T/recorded.wlp" | python3 -c '
import collections, csv, sys
# ncu --clock-control none --cache-control none: sums over the three kernels, and of k_fma alone
expected = {"": {"smsp__inst_executed.sum": 320523776, "l1tex__t_sectors.sum": 57961216, "sm__cycles_active.sum": 132713625,
                 "sm__warps_active.sum": 4594470254, "dram__bytes_read.sum": 272674304, "lts__t_sectors.sum": 60130236,
                 "lts__t_sectors_srcunit_tex.sum": 51282806, "lts__t_sectors_srcunit_tex_lookup_hit.sum": 42485200,
                 "sm__inst_executed_pipe_fma.sum": 274662400, "sm__inst_executed_pipe_alu.sum": 29694592},
            "k_fma": {"smsp__inst_executed.sum": 269398272, "sm__cycles_active.sum": 68931175,
                      "sm__inst_executed_pipe_fma.sum": 253440000}}
rows = list(csv.DictReader(sys.stdin))
for kernel, metrics in expected.items():
    for metric, value in metrics.items():
        found = sum(float(row[metric] or 0) for row in rows if row["kernel"] == kernel) / 2
        if abs(found / value - 1) > 0.05: print(kernel, metric, found, value)
    print(kernel, len([row for row in rows if row["kernel"] == kernel]) > 20)' >"$T/against" 2>&1
same "an H200 counted what Nsight Compute says" "$(cat "$T/against")" $' True\nk_fma True'

cat >"$T/run.c" <<'C'
#include <stdio.h>
#include <warplens/profile.h>

int main(int argc, char **argv) {
    double values[4096], sum = 0;
    WlProfile *p;
    if (wl_profile_open(argv[argc - 1], &p)) return 1;
    WlTimeline *t = wl_timeline_open(p, WL_WHOLE_RUN, "gpu");
    if (!t || wl_timeline_points(t) > 4096) return 1;
    wl_timeline_metric(t, "dram__bytes_read.sum", -1, values);
    for (unsigned i = 0; i < wl_timeline_points(t); i++) sum += values[i];
    printf("%u points, %g bytes, %g ns\n", wl_timeline_points(t), sum, wl_timeline_cycle_ns(t));
    return wl_timeline_close(t), wl_profile_close(p), 0;
}
C
"${CC:-cc}" -std=c99 -Wall -Wextra -Werror -Iinclude "$T/run.c" -L"$BUILD/lib" -lwarplens -o "$T/run" || exit 1
same "from C" "$(LD_LIBRARY_PATH=$BUILD/lib "$T/run" "$T/counters.wlp")" "100 points, 4e+07 bytes, 1 ns"

ended counters_lost 7
same "what was lost is told" "$(ask counters_lost "SELECT what, count > 20 FROM dropped")" "counters over time (samples)|1"
same "what was not is there" "$(sums counters_lost dram__bytes_read.sum | cut -d'|' -f3)" "1.6e+07"

ended counters_two 7
same "two GPUs" "$(ask counters_two "SELECT s.detail, t.points FROM timeline t JOIN source s ON s.id = t.source ORDER BY 1")" \
    $'device 0|20\ndevice 1|30'

ended counters_few 7
same "what fits, the first of the table" "$(ask counters_few "SELECT metrics FROM timeline WHERE launch = 0")" 5
same "what does not is told" "$(ask counters_few "SELECT count(*) FROM message WHERE text LIKE '%not in one pass%dram__bytes_write.sum%'")" 1

ended counters_refused 7
says counters_refused "recording counters over time is not possible: another process samples this GPU"
same "launches all the same" "$(ask counters_refused "SELECT count(*) FROM launch")" 3
ended counters_refused.permission 7
says counters_refused.permission "NVreg_RestrictProfilingToAdminUsers=0"
ended counters_fail 7
says counters_fail "cuptiPmSamplingDecodeData says"
same "what came before stays" "$(ask counters_fail "SELECT points, (SELECT count(*) FROM launch) FROM timeline")" "20|1"
ended counters_forked 7
same "a child leaves them alone" "$(ask counters_forked "SELECT points, value FROM timeline, meta WHERE key = 'complete'")" "40|1"
ended counters_refused.old 7
says counters_refused.old "this CUPTI has no PM sampling"
same "launches all the same" "$(ask counters_refused.old "SELECT count(*) FROM launch")" 3
"$W" run --on gpu -f -o "$T/counters.wlp" --interval auto -- "$T/life" counters >/dev/null 2>&1
same "an interval that CUPTI can decode" "$(ask counters "SELECT max(step) > 0 FROM timeline")" 1

checks=$((checks + 4))
"$W" run --on gpu --interval 10us true 2>"$T/err" && fail "10us is accepted"
grep -q "200us to 1s" "$T/err" || fail "the bounds are not told" "$(cat "$T/err")"
"$W" run --on gpu --interval auto --sampling continuous true 2>"$T/err" && fail "both are accepted"
grep -q "either counters over time" "$T/err" || fail "the choice is not told" "$(cat "$T/err")"
finish

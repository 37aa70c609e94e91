#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The collector's whole life on a machine without a GPU: tests/collect/life.c is the program, tests/collect/mock_cupti.c
# what CUPTI would do. What concerns us is that the program's own life stays as it is, and what the profile holds then.
. tests/e2e/lib.sh
need "${CC:-cc}" python3
flags=(-std=c17 -D_GNU_SOURCE -Wall -Wextra -O1 -g -Isrc -Itests/collect)
"${CC:-cc}" "${flags[@]}" -shared -fPIC -Wl,-soname,libcupti.so.13 tests/collect/mock_cupti.c tests/collect/mock_pm.c \
    -o "$T/libcupti.so.13" -lpthread || exit 1
"${CC:-cc}" "${flags[@]}" -shared -fPIC -Wl,-soname,libcuda.so.1 tests/collect/mock_driver.c -o "$T/libcuda.so.1" || exit 1
"${CC:-cc}" "${flags[@]}" tests/collect/life.c -Wl,--no-as-needed -L"$T" -l:libcuda.so.1 -Wl,--as-needed -o "$T/life" -L"$T" -l:libcupti.so.13 -Wl,-rpath,"$T" -ldl -lpthread || exit 1

export TMPDIR=$T  # with the locks of devices that other tests may have too

. tests/collect/lib.sh

begin contexts 7
begin reloads 7
begin reloads_at_once 7
begin limited 7
begin limited.some 7 --launch-skip 1 --launch-count 5
begin limited_inside 7 --launch-count 4
begin serialized 7 --sampling serialized
begin serialized.some 7 --sampling serialized --launch-skip 6
begin sampling_fails 7
begin full 7
begin replaced 7
begin hangs_in_disable 7
begin launch_in_disable 7
begin two_of_a_device 7
begin busy 7
begin busy.some 7 -k '^other'
begin busy_all 7 --all-times
begin slow_fetches 7
begin busy_graphs 7
begin shorter_stack 7

life basic 7 -q
same "nothing is said with -q" "$(cat "$T/basic.err")" ""
life basic 7 -f
same "where the profile is" "$(grep -c 'profile in' "$T/basic.err")" 1
same "complete" "$(ask basic "SELECT value FROM meta WHERE key IN ('complete', 'exit_code') ORDER BY key")" $'1\n7'
same "launches" "$(ask basic "SELECT f.name, count(*), sum(end_ns - begin_ns), count(stack) FROM launch l JOIN function f
    ON f.id = l.function GROUP BY 1 ORDER BY 1")" $'mock_kernel|11|11000|11\nother_kernel|1|1000|1'
same "where from" "$(ask basic "SELECT DISTINCT r.symbol FROM frame r WHERE r.symbol LIKE 'launch_from%' ORDER BY 1")" \
    $'launch_from_here\nlaunch_from_there'
same "stacks of one place are one" "$(ask basic "SELECT count(DISTINCT stack) FROM launch")" 3
same "samples, those of the end too" "$(ask basic "SELECT s.name, p.provenance, sum(x.samples), sum(x.not_issued), x.pc, x.period
    FROM sample x JOIN stall s ON s.source = x.source AND s.id = x.stall JOIN source p ON p.id = x.source GROUP BY 1")" \
    "long_scoreboard|sampled|150|75|2|65536"
ended shorter_stack 7
same "a stack is read no further than it goes" "$(ask shorter_stack "SELECT count(*), count(stack) FROM launch")" "2|2"
same "module once" "$(ask basic "SELECT kind, text_size, count(*) FROM module")" "cubin|5|1"
same "arguments of the first launches of each kernel, and of the 8th" "$(ask basic "SELECT f.name, hex(a.data), group_concat(l.position)
    FROM launch_argument a JOIN launch l ON l.id = a.launch JOIN function f ON f.id = l.function GROUP BY 1, 2 ORDER BY 1")" \
    $'mock_kernel|00005634127F000030000000|0,1,2,3,7\nother_kernel|00005634127F000030000000|11'
same "copies" "$(ask basic "SELECT kind, bytes FROM copy ORDER BY id")" $'host_to_device|4096\nmemset|512'
same "waits" "$(ask basic "SELECT kind, name, end_ns >= begin_ns, thread > 0 FROM span")" "sync|context synchronize|1|1"
life waits 7
same "waits of several threads, or that they were lost" "$(ask waits "SELECT count(*) + (SELECT coalesce(sum(count), 0) FROM dropped
    WHERE what = 'waits for the GPU') FROM span")" 12000
same "by stream" "$(ask waits "SELECT DISTINCT name, stream, end_ns < begin_ns FROM span ORDER BY 1")" $'event synchronize|0|0\nstream synchronize|17|0'
life streams_reused 7
same "streams by number, not by address" "$(ask streams_reused "SELECT group_concat(stream) FROM (SELECT stream FROM span ORDER BY id)")" \
    "17,18,19,117,118,119,218"
same "allocations" "$(ask basic "SELECT kind, bytes, freed FROM alloc")" "device|4096|0"
same "nothing lost" "$(ask basic "SELECT * FROM dropped")" ""

"$W" run --on gpu -o "$T/some.wlp" -k '^mock' --launch-skip 2 --launch-count 3 --no-stacks --no-arguments --sampling off -- "$T/life" basic 2>"$T/some.err"
same "launches chosen" "$(ask some "SELECT count(*), min(f.name), count(stack) FROM launch l JOIN function f ON f.id = l.function")" \
    "3|mock_kernel|0"
same "no arguments" "$(ask some "SELECT count(*) FROM launch_argument")" 0
same "no samples" "$(ask some "SELECT count(*) FROM sample")" 0
"$W" run --on gpu -f -o "$T/some.wlp" -k '^nothing' -- "$T/life" basic 2>"$T/some.err"
same "a choice of nothing is told" "$(grep -c 'no launch was profiled: -k `^nothing`' "$T/some.err")" 1
same "a profile of nothing, nothing beside it" "$(ask some "SELECT count(*) FROM launch") $(ls "$T"/some.wlp* | wc -l)" "0 1"
"$W" run --on gpu -o "$T/period.wlp" --sampling-period 2^14 -- "$T/life" basic 2>/dev/null
same "period" "$(ask period "SELECT DISTINCT period FROM sample")" 16384

ended contexts 7
same "samples of two devices" "$(ask contexts "SELECT p.detail, sum(x.samples) FROM sample x JOIN source p ON p.id = x.source GROUP BY 1")" \
    $'device 0|120\ndevice 1|5'
life odd 7
same "odd orders" "$(ask odd "SELECT f.name, count(l.id) FROM function f LEFT JOIN launch l ON l.function = f.id GROUP BY 1 ORDER BY 1")" \
    $'(unknown)|1\nearly|1\nlate|1\nmock_kernel|0'
life dropped 7
same "what was lost is told" "$(ask dropped "SELECT substr(what, 1, 34), count FROM dropped ORDER BY what")" "PC samples|2000
PC samples that CUPTI keeps to its|60"

life lost_launches 7
same "launches without a record are told" "$(ask lost_launches "SELECT (SELECT count(*) FROM launch), what, count FROM dropped")" \
    "90|launches that CUPTI gave no record of|10"

life nvtx 7
same "ranges and marks" "$(ask nvtx "SELECT kind, name, begin_ns, CASE name WHEN 'open' THEN end_ns > begin_ns ELSE end_ns - begin_ns END
    FROM span ORDER BY name")" $'mark|here|1003|0\nrange|layer|1002|0\nrange|open|1004|1\nrange|step|1001|0'
ended reloads 7
same "samples that CUPTI hands out by itself" "$(ask reloads "SELECT sum(samples) FROM sample")" 34
ended reloads_at_once 7
same "once, whoever loads modules" "$(ask reloads_at_once "SELECT sum(samples) FROM sample")" 3000

life short 7
same "the first launch waits until sampling has begun" "$(ask short "SELECT count(*) FROM launch")" 3
life short 7 -f --no-stacks
same "without stacks too" "$(ask short "SELECT count(*) FROM launch")" 3
ended limited 7
same "launches are recorded to the end" "$(cat "$T/limited.out") $(ask limited "SELECT count(*) FROM launch")" "on 7"
ended limited.some 7
same "recording ends with the last launch asked for" \
    "$(cat "$T/limited.some.out") $(ask limited.some "SELECT (SELECT count(*) FROM launch), (SELECT count(*) FROM copy)")" "off 5|4"
ended limited_inside 7
same "sampling ends all the same" "$(ask limited_inside "SELECT sum(samples) FROM sample")" 150
ended serialized 7
same "samples by launch" "$(ask serialized "SELECT x.launch, l.function = x.function, sum(x.samples) FROM sample x
    LEFT JOIN launch l ON l.id = x.launch GROUP BY 1 ORDER BY 1")" $'0|None|16\n6|1|260\n7|1|130'
ended serialized.some 7
same "launches left out have no samples" "$(ask serialized.some "SELECT launch, sum(samples) FROM sample GROUP BY 1 ORDER BY 1")" \
    $'0|16\n1|130'
ended sampling_fails 7
same "said once" "$(grep -c 'cuptiPCSamplingGetData says' "$T/sampling_fails.err")" 1
same "not disabled while the program launches" "$(cat "$T/sampling_fails.out")" on
same "launches all the same" "$(ask sampling_fails "SELECT count(*) FROM launch")" 3

life forked 7
same "the child leaves its parent's profile alone" "$(ask forked "SELECT (SELECT count(*) FROM launch), value FROM meta WHERE key = 'complete'")" "6|1"
life children 7
same "one profile per process" "$(ls "$T"/children*.wlp | wc -l)" 2
says children "one at a time can"
same "both are named" "$(grep -c 'profile in' "$T/children.err")" 2

life ends_in_launch 5
same "end between two callbacks" "$(ask ends_in_launch "SELECT (SELECT count(*) FROM launch), value FROM meta WHERE key = 'complete'")" "4|1"
life jumps_out 7
same "a launch that is left by a jump, and what comes after" "$(ask jumps_out "SELECT (SELECT count(*) FROM launch),
    (SELECT value FROM meta WHERE key = 'complete')")" "5|1"
life nested 7
same "a launch and a wait inside another launch" "$(ask nested "SELECT (SELECT count(*) FROM launch), (SELECT count(*) FROM launch l JOIN function f
    ON f.id = l.function WHERE f.name = 'nested_kernel'), (SELECT count(*) FROM span), (SELECT count(*) FROM dropped)")" "6|1|2|0"
cp "$BUILD/lib/libwarplens-collect.so.0" "$T/copy.so"
LIFE_COPY=$T/copy.so life reopened 7
says reopened "another tool"
same "the first library goes on, closed or not" "$(ask reopened "SELECT (SELECT count(*) FROM launch), (SELECT value FROM meta
    WHERE key = 'complete')")" "7|1"
life ends_among_launches 7
same "end while others launch" "$(ask ends_among_launches "SELECT count(*) > 200, count(*) = count(nullif(end_ns, 0)),
    (SELECT value FROM meta WHERE key = 'complete') FROM launch")" "1|1|1"
ended launch_in_disable 7
same "a launch waits while sampling ends" "$(ask launch_in_disable "SELECT value FROM meta WHERE key = 'complete'")" 1
ended hangs_in_disable 7
says hangs_in_disable "CUPTI did not end sampling within 2 s"
same "the profile is there" "$(ask hangs_in_disable "SELECT (SELECT count(*) FROM launch), value FROM meta WHERE key = 'complete'")" "4|1"
ended two_of_a_device 7
says two_of_a_device "one at a time can be sampled"
same "samples of the first context" "$(ask two_of_a_device "SELECT sum(samples) FROM sample")" 150
ended busy 7
same "all launches, also those whose times would cost too much" "$(ask busy "SELECT count(*) FROM launch")" "$(cat "$T/busy.out")"
# Of stream 13 are those that were noted in callbacks; others without times are records that were under way then.
same "the first ones have times, the last ones all else" "$(ask busy "SELECT sum(end_ns > 0) > 2000, sum(end_ns = 0 AND stream = 13) > 50, sum(end_ns = 0 AND
    stack IS NOT NULL AND grid_x = 1 AND block_z = 1 AND stream IN (0, 1, 2, 3, 13)) = sum(end_ns = 0) FROM launch")" "1|1|1"
same "estimates are told" "$("$W" report --section summary "$T/busy.wlp" | grep -c 'estimates, from launches alike that were timed')" 1
ended busy_graphs 7
same "kernels of graphs, as often as these were launched" "$(ask busy_graphs "SELECT count(*) FROM launch")" "$(cat "$T/busy_graphs.out")"
same "as they were at first" "$(ask busy_graphs "SELECT DISTINCT f.name, grid_x, stack > 0 FROM launch l JOIN function f ON f.id = l.function
    WHERE end_ns = 0 AND name = 'node' ORDER BY 2")" $'node|2|1\nnode|3|1'
same "of one that was never seen nothing is known" "$(ask busy_graphs "SELECT what, count FROM dropped WHERE what LIKE '%graphs%'")" \
    "launches of graphs, of whose kernels nothing is known (--all-times records all)|1"
ended busy.some 7
same "notes are filtered" "$(ask busy.some "SELECT count(*), (SELECT count(*) FROM dropped) FROM launch")" "1|0"
ended slow_fetches 7
same "samples are fetched seldom where launches wait for that" "$(cat "$T/slow_fetches.out")" few
same "all the same all of them" "$(ask slow_fetches "SELECT sum(samples) FROM sample")" 150
ended busy_all 7
same "--all-times" "$(ask busy_all "SELECT count(*), sum(end_ns > 0) FROM launch")" "6002|6002"
ended replaced 7
same "a profile of each program in one process" "$(ls "$T"/replaced*.wlp | wc -l) $(ask replaced "SELECT (SELECT count(*) FROM launch),
    value FROM meta WHERE key = 'complete'")" "2 4|0"
WARPLENS_END_SECONDS=0 life hangs 7
says hangs "did not hand out its last records"
same "not complete" "$(ask hangs "SELECT value FROM meta WHERE key = 'complete'")" 0
life quick 7
same "_exit() leaves a profile that says so" "$(ask quick "SELECT value FROM meta WHERE key = 'complete'")" 0

# killed NAME: `life NAME` is killed when it has said that it waits for that.
mkfifo "$T/lines"
killed() {
    "$W" run --on gpu -o "$T/$1.wlp" -- sh -c 'echo $$; exec "$0" "$1"' "$T/life" "$1" >"$T/lines" 2>"$T/$1.err" &
    exec 7<"$T/lines"
    read -r pid <&7
    read -r _ <&7
    kill -9 "$pid"
    wait $!
    same "exit code of a killed program" $? 137
    exec 7<&-
}
killed killed
same "what was flushed survives" "$(ask killed "SELECT (SELECT count(*) FROM launch), value FROM meta WHERE key = 'complete'")" "7|0"
says killed "profile in"
killed killed_deep
same "most of a deep queue survives" "$(ask killed_deep "SELECT count(*) > 3000, count(*) < 5002 FROM launch")" "1|1"

mkdir "$T/gone"
(cd "$T/gone" && LIFE_FOLDER=$T/gone "$W" run --on gpu -o a.wlp -- "$T/life" vanishes 2>"$T/vanishes.err"; echo $? >"$T/vanishes.code")
same "exit code of a program whose profile's folder vanishes" "$(cat "$T/vanishes.code")" 7
same "nothing is there, which is said" "$(ls -d "$T/gone" 2>/dev/null) $(grep -c "was removed or renamed" "$T/vanishes.err") $(grep -vc "there is no NVIDIA GPU" "$T/vanishes.err")" " 1 1"

ended full 7
says full "the profile cannot be written any more"
same "said once" "$(grep -c 'cannot be written any more' "$T/full.err")" 1

"$W" run --on gpu -o "$T/nowhere.wlp" -- env "WARPLENS_OUTPUT=$T/nowhere/a.wlp" "$T/life" basic 2>"$T/nowhere.err"
same "without a profile the program runs on" "$? $(grep -c "$T/nowhere/a.wlp" "$T/nowhere.err")" "7 1"

mkdir -p "$T/basic.ncu.tmp/nvidia/nsight_compute"
coproc HOLDER { exec python3 -uc 'import fcntl, sys
lock = open(sys.argv[1], "w")
fcntl.lockf(lock, fcntl.LOCK_EX)
print("held")
input()' "$T/basic.ncu.tmp/nvidia/nsight_compute/lock.00000000-0000"; }
holder=$HOLDER_PID
read -r _ <&"${HOLDER[0]}"
life basic.ncu 7
says basic.ncu "Nsight Compute"
same "beside Nsight Compute launches only" "$(ask basic.ncu "SELECT (SELECT count(*) FROM launch), (SELECT count(*) FROM sample)")" "12|0"
echo >&"${HOLDER[1]}"
wait "$holder"
life basic.ncu 7 -f
same "samples when its lock is there and held by nobody" "$(ask basic.ncu "SELECT sum(samples) FROM sample")" 150

MOCK_SUBSCRIBE=39 life basic 7 -f
says basic "another tool"
same "and so does the profile" "$(ask basic "SELECT count(*) FROM message WHERE text LIKE '%another tool%'")" 1
MOCK_SAMPLING=35 life basic 7 -f
says basic "NVreg_RestrictProfilingToAdminUsers=0"
same "and so does the profile" "$(ask basic "SELECT severity FROM message WHERE text LIKE '%NVreg_Restrict%'")" warning
same "launches without samples" "$(ask basic "SELECT (SELECT count(*) FROM launch), (SELECT count(*) FROM sample)")" "12|0"
same "advice says why there are none" "$("$W" advise "$T/basic.wlp" | tr -s '\n ' ' ' | grep -c 'no samples of kernels: sampling .*NVreg_Restrict')" 1
MOCK_SUBSCRIBE=14 life basic 7 -f
says basic "cuptiSubscribe says CUPTI_ERROR_OF_THE_SCRIPT (14)"

"${CC:-cc}" "${flags[@]}" tests/collect/replace.c -o "$T/replace" -L"$T" -l:libcupti.so.13 -Wl,-rpath,"$T" \
    "$BUILD"/archives/libwl_{collect,metric,record,base}.a -lpthread -ldl -lm || exit 1
same "modules replaced" "$("$T/replace" 2>&1)" "other code, code, 1 launch"

"$W" run --on gpu -o "$T/none.wlp" true 2>"$T/none.err"
says none "no profile was written"
finish

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program killed with SIGKILL after its 1st, 2nd, ... 100th launch leaves a profile that opens, says that it is not
# complete, and claims no launch that was not begun. The program runs on while it is being killed, so that the moment is
# any moment of its next launches.
. tests/e2e/lib.sh
build_launches
fatbin=tests/binary/one_none.fatbin
mkfifo "$T/lines"

kill_after() {
    local lines=$1 line="" pid=""
    "$W" run -q -o "$T/$lines.wlp" "$T/launches" $fatbin 1000000 >"$T/lines" 2>"$T/err" &
    exec 7<"$T/lines"
    for ((i = 0; i < lines; i++)); do read -r line <&7; done
    pid=${line##* }
    kill -9 "$pid"
    wait $!
    same "exit code after SIGKILL at launch $lines" $? 137
    exec 7<&-
}

for ((k = 1; k <= 100; k++)); do
    kill_after $k
    if ! "$W" report --json "$T/$k.wlp" >"$T/report" 2>"$T/err"; then
        fail "killed after launch $k: the profile cannot be read" "$(cat "$T/err")"
    elif ! grep -q '"complete":false' "$T/report"; then
        fail "killed after launch $k: the profile calls itself complete"
    fi
    [ ! -s "$T/err" ] || fail "killed after launch $k: report says" "$(cat "$T/err")"
    rm -f "$T/$k.wlp"*
    checks=$((checks + 1))
done

# What is known of launches that had ended is in it, also what is added up over launches, when the program is ended by
# abort(), as by an exception.
"$W" run --timing -q -o "$T/abort.wlp" "$T/launches" $fatbin 1 1000 abort >"$T/out" 2>&1
same "exit code after abort()" $? 134
"$W" report --section stalls "$T/abort.wlp" >"$T/report" 2>&1
grep -q 'long_scoreboard' "$T/report" || fail "ended by abort(): nothing is known of stalls" "$(cat "$T/report")"

# Ended in the middle of its first launch, a long one, it leaves which program and which kernel that was.
unpack_prebuilt
"$W" run --timing -q -o "$T/first.wlp" "$T/matmul" --variant naive --n 1024 >"$T/out" 2>&1 &
until "$W" report "$T/first.wlp" 2>/dev/null | grep -q '1 launch did not finish' || ! kill -0 $!; do :; done
kill -TERM $!
wait $!
same "exit code after SIGTERM in the first launch" $? 143
"$W" report "$T/first.wlp" >"$T/report"
for words in "program     $T/matmul --variant naive --n 1024" "launches    1 (1 kernel)" "state       cut off" "  mm  "; do
    grep -qF "$words" "$T/report" || fail "ended in the first launch: no '$words'" "$(cat "$T/report")"
done
"$W" advise "$T/first.wlp" | grep -q "no launch had ended when the run was cut off" || fail "ended in the first launch: advise says why there is none"

# Ended before it used CUDA, it is not said to use none.
"$W" run -o "$T/none.wlp" sh -c 'kill -KILL $$' >"$T/out" 2>&1
same "exit code of a program that was killed" $? 137
grep -q "the program was ended before it called the CUDA runtime or driver" "$T/out" || fail "ended before CUDA" "$(cat "$T/out")"

# When only warplens is killed the program goes on and its profile is completed.
"$W" run -q -o "$T/orphan.wlp" "$T/launches" $fatbin 20 >"$T/lines" 2>/dev/null &
exec 7<"$T/lines"
read -r _ <&7
{ kill -9 $!; wait $!; } 2>/dev/null  # without bash's "Killed"
cat <&7 >"$T/rest"  # until the program has ended
exec 7<&-
same "launches after warplens was killed" "$(wc -l <"$T/rest")" 19
grep -q '"launches":20' <("$W" report --json "$T/orphan.wlp") || fail "the profile of the orphan is not complete"

# SIGTERM to warplens ends the program, too, and the profile is still told.
"$W" run -o "$T/term.wlp" "$T/launches" $fatbin 1000000 >"$T/lines" 2>"$T/err" &
exec 7<"$T/lines"
read -r line <&7
kill -TERM $!
cat <&7 >/dev/null # until the program has ended
wait $!
same "exit code after SIGTERM" $? 143
exec 7<&-
kill -0 "${line##* }" 2>/dev/null && fail "SIGTERM to warplens left the program running"
grep -q "ended by signal 15 (Terminated)" "$T/err" && grep -q "profile in $T/term.wlp" "$T/err" || fail "SIGTERM: stderr" "$(cat "$T/err")"

# Where no file may grow beyond 150 KiB the program runs to its end all the same; the profile says that it does not.
(ulimit -f 150 && "$W" run -q -o "$T/full.wlp" "$T/launches" $fatbin 3000 >"$T/out" 2>"$T/err")
same "exit code and launches with files limited" "$? $(wc -l <"$T/out")" "0 3000"
grep -q "the profile cannot be written any more" "$T/err" || fail "it is not told that the profile ends early" "$(cat "$T/err")"
"$W" report --section summary "$T/full.wlp" | grep -q "state .*incomplete: it could not be written any more; [0-9]* records* w" ||
    fail "the profile does not say that it ends early" "$("$W" report --section summary "$T/full.wlp")"
finish

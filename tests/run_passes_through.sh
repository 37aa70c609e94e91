#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Under `warplens run` a program's output, input, arguments, environment and exit code are its own.
. tests/e2e/lib.sh
build_launches
fatbin=tests/binary/one_none.fatbin

# Arguments, input and output, byte for byte.
head -c 300000 /dev/urandom >"$T/input"
args=(a "b c" "" "-x" "--output" "*" $'tab\tnewline\nend')
LD_LIBRARY_PATH=$BUILD/lib "$T/launches" echo "${args[@]}" <"$T/input" >"$T/alone" 2>"$T/alone.err"
"$W" run -q -o "$T/echo.wlp" "$T/launches" echo "${args[@]}" <"$T/input" >"$T/under" 2>"$T/under.err"
same "exit code of echo" $? 0
cmp -s "$T/alone" "$T/under" || fail "stdout under warplens differs"
cmp -s "$T/alone.err" "$T/under.err" || fail "stderr under warplens -q differs" "$(head -5 "$T/under.err")"
"$W" run -q -o "$T/echo2.wlp" -- "$T/launches" echo "${args[@]}" <"$T/input" 2>/dev/null | cmp -s - "$T/alone" || fail "stdout into a pipe, after --, differs"
checks=$((checks + 3))

# What warplens itself says goes to stderr, one line that names the profile.
"$W" run -o "$T/two.wlp" "$T/launches" $fatbin 2 >"$T/out" 2>"$T/err"
same "exit code" $? 0
same "stdout" "$(sed 's/[0-9]*$//' "$T/out")" $'launch 1 \nlaunch 2 '
same "stderr" "$(cat "$T/err")" "warplens: profile in $T/two.wlp; \`warplens report $T/two.wlp\` shows it (--timing: how long kernels take, and what to change)"
"$W" run -q -o "$T/quiet.wlp" "$T/launches" $fatbin 1 >/dev/null 2>"$T/err"
same "stderr with -q" "$(cat "$T/err")" ""

# -o /dev/null: the program runs as it would, nothing is left.
mkdir "$T/scratch"
TMPDIR=$T/scratch "$W" run -o /dev/null "$T/launches" $fatbin 2 >"$T/out" 2>"$T/err"
same "exit code with -o /dev/null" $? 0
same "stdout with -o /dev/null" "$(sed 's/[0-9]*$//' "$T/out")" $'launch 1 \nlaunch 2 '
same "stderr with -o /dev/null" "$(cat "$T/err")" ""
same "what -o /dev/null leaves" "$(ls "$T/scratch")" ""
[ -c /dev/null ] || fail "-o /dev/null replaced the device"

# Exit codes, of CUDA programs and others; what a signal did.
for code in 0 1 7 124 200 255; do
    "$W" run -q -o "$T/code.wlp" -f bash -c "exit $code" >/dev/null 2>&1
    same "exit code $code is passed on" $? $code
done
"$W" run -q -o "$T/signal.wlp" bash -c 'kill -9 $$' >/dev/null 2>&1
same "killed by signal 9" $? 137
"$W" run -q -o "$T/signal2.wlp" bash -c 'kill -15 $$' >/dev/null 2>&1
same "killed by signal 15" $? 143
"$W" run -q -o "$T/none.wlp" "$T/launches" >/dev/null 2>&1
same "exit code of a CUDA program" $? 2

# A program without CUDA is run, and leaves no profile; one who waits for it is told, unless -q.
same "a program without CUDA" "$("$W" run -o "$T/plain.wlp" echo hello 2>"$T/err")" hello
same "a program without CUDA: stderr" "$(cat "$T/err")" \
    "warplens: no profile was written: a program has one when it calls the CUDA runtime or driver"
same "a program without CUDA, quietly" "$("$W" run -q -o "$T/plain.wlp" echo hello 2>&1)" hello
[ ! -e "$T/plain.wlp" ] || fail "a program without CUDA left a profile"

# A static runtime is reached in a program without kernels too (deviceQuery): such a program has no fat binary section.
if [ "$(uname -m)" = x86_64 ] && command -v objcopy >/dev/null && command -v xz >/dev/null; then
    unpack_prebuilt
    objcopy --rename-section .nvFatBinSegment=.other "$T/matmul" "$T/no_kernels"
    same "a static runtime without fat binary section" "$("$W" run -q -o "$T/bare.wlp" "$T/no_kernels" --n 32 2>&1 | tail -1)" "RESULT PASS"
fi

# The working folder stays, and the default profile lies in it.
mkdir "$T/folder"
(cd "$T/folder" && "$W" run ../launches "$OLDPWD/$fatbin" 1 && "$W" run ../launches "$OLDPWD/$fatbin" 1) >/dev/null 2>&1
same "default names" "$(ls "$T/folder")" $'launches.1.wlp\nlaunches.2.wlp'

# Names of profiles are filled in.
WHO=me "$W" run -q -o "$T/%q{WHO}-%i-%%.wlp" "$T/launches" $fatbin 1 >/dev/null 2>&1
[ -s "$T/me-1-%.wlp" ] || fail "-o with %q, %i and %%" "$(ls "$T")"
WHO=me "$W" run -q -o "$T/%q{WHO}-%i-%%.wlp" "$T/launches" $fatbin 1 >/dev/null 2>&1
[ -s "$T/me-2-%.wlp" ] || fail "-o with %i takes the next number" "$(ls "$T")"
pid=$("$W" run -q -o "$T/p%p.wlp" "$T/launches" $fatbin 1 2>/dev/null | awk '{print $3}')
[ -s "$T/p$pid.wlp" ] || fail "-o with %p" "$(ls "$T")"
checks=$((checks + 3))

# The filters of launches.
count() { "$W" report --json "$T/$1" | grep -o '"launches":[0-9]*' | head -1; }
"$W" run -q -o "$T/few.wlp" --launch-skip 2 --launch-count 3 "$T/launches" $fatbin 9 >/dev/null
same "--launch-skip 2 --launch-count 3 of 9" "$(count few.wlp)" '"launches":3'
"$W" run -q -o "$T/kernel.wlp" -k regex:nothing "$T/launches" $fatbin 2 >/dev/null
same "-k that matches nothing" "$(count kernel.wlp)" '"launches":0'
"$W" run -f -o "$T/kernel.wlp" -k nothing "$T/launches" $fatbin 2 2>&1 >/dev/null |
    grep -q 'no launch was profiled: -k `nothing` matches no kernel' || fail "-k that matches nothing is told"
"$W" run -f -o "$T/kernel.wlp" --launch-skip 9 "$T/launches" $fatbin 2 2>&1 >/dev/null |
    grep -q 'no launch was profiled: --launch-skip and' || fail "--launch-skip of all is told"
"$W" run -f -o "$T/kernel.wlp" --launch-count 5 "$T/launches" $fatbin 0 2>&1 >/dev/null |
    grep -q 'no launch was profiled: no kernel of the program ran' || fail "a program without launches is not told of options"
checks=$((checks + 3))
"$W" run -q -o "$T/kernel2.wlp" -k '^scale' "$T/launches" $fatbin 2 >/dev/null
same "-k that matches" "$(count kernel2.wlp)" '"launches":2'
"$W" run -q -o "$T/kernel3.wlp" -k '^scale$' "$T/launches" $fatbin 2 >/dev/null
same "-k with the name alone" "$(count kernel3.wlp)" '"launches":2'
finish

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Each kind of bad input gives one clear line on stderr, nothing on stdout, and the documented exit code: 1 for a problem
# with the input, 2 for wrong usage; `warplens run` has 125, 126 and 127 for its own failures.
. tests/e2e/lib.sh
unset WARPLENS_OUTPUT
ptx=examples/vector_add/vector_add.ptx launch=examples/vector_add/vector_add.launch
good=$T/good.wlp
"$W" sim -q $ptx --launch $launch -o "$good" || fail "a profile to damage could not be made"

# expect CODE TEXT ARGS...: TEXT is part of the one line. Wrong options may add a line or two that begin with "Try".
expect() {
    local code=$1 text=$2 got wrong=""
    shift 2
    checks=$((checks + 1))
    timeout 60 "$W" "$@" >"$T/out" 2>"$T/err" </dev/null
    got=$?
    sed -i '/^Try /,$d' "$T/err"
    [ $got = "$code" ] || wrong="exit code $got instead of $code"
    [ ! -s "$T/out" ] || wrong+=", $(wc -c <"$T/out") bytes on stdout"
    [ "$(wc -l <"$T/err")" = 1 ] || wrong+=", $(wc -l <"$T/err") lines on stderr instead of 1"
    [[ $(head -1 "$T/err") == warplens*:\ *"$text"* ]] || wrong+=", stderr does not say '$text'"
    [ -z "$wrong" ] || fail "warplens $*: ${wrong#, }" "$(head -3 "$T/err")"
}

# --- the command itself
expect 2 "no command \`bogus\`" bogus
expect 2 "there is no command \`reprot\`; did you mean \`report\`? \`warplens --help\` lists them" reprot
expect 2 "no command" --bogus
"$W" >/dev/null 2>&1
same "no command at all" $? 2
"$W" run --help >"$T/help"
for words in "help run" "run -h"; do
    # shellcheck disable=SC2086
    "$W" $words 2>&1 | cmp -s - "$T/help" || fail "warplens $words is not warplens run --help"
    checks=$((checks + 1))
done
expect 2 "no command" help bogus
for command in "" run report advise sim ptx doctor; do
    # shellcheck disable=SC2086
    "$W" $command --help >"$T/out" 2>"$T/err"
    same "$command --help" "$? $(wc -l <"$T/err")" "0 0"
    [ -s "$T/out" ] || fail "warplens $command --help prints nothing"
done

# --- report
expect 2 "which profile?" report
expect 2 "one profile" report a b
expect 2 "report has no option \`--nope\`; \`warplens report --help\` lists them" report --nope
expect 2 "report has no option \`--jsn\`; did you mean \`--json\`?" report --jsn "$good"
expect 2 "report has no option \`--line\s\`" report '--line\s=3' "$good"
expect 2 "--section takes" report --section nope "$good"
expect 2 "no format \`nope\`" report --format nope "$good"
expect 2 "cannot sort by 'nope': neither a metric (docs/metrics.md) nor a column; columns are warp, thread, " report --sort nope "$good"
"$W" report --sort 'warp inst' "$good" | cmp -s - <("$W" report --sort warp "$good") || fail "a column is not known by its title"
deep=$(printf '(%.0s' {1..60000})
expect 2 "brackets are nested deeper than 100" report -k "${deep:0:4000}" "$good"
expect 2 "longer than 4096" ptx -k "$deep" $ptx
expect 2 "kernel filter '('" report -k '(' "$good"
expect 1 "$T/missing.wlp: error: cannot open" report "$T/missing.wlp"
expect 1 "directory" report "$T"
expect 1 "not a Warplens profile" report Makefile
: >"$T/empty.wlp"
expect 1 "empty" report "$T/empty.wlp"
head -c 20000 "$good" >"$T/cut.wlp"
expect 1 "damaged profile: cut off, 20000 of" report "$T/cut.wlp"
{ head -c 4096 "$good" && head -c 4096 /dev/zero && tail -c +8193 "$good"; } >"$T/zeroed.wlp"
expect 1 "damaged profile" report "$T/zeroed.wlp"
# SQLite keeps user_version at byte 60 of the file, big-endian, and application_id at byte 68.
patch() { cp "$good" "$T/$1" && printf "$3" | dd of="$T/$1" bs=1 seek="$2" conv=notrunc status=none; }
patch newer.wlp 60 '\0\0\0\143'
expect 1 "written by a newer Warplens (schema version 99" report "$T/newer.wlp"
patch other.wlp 68 '\0\0\0\1'
expect 1 "an SQLite database, but not a Warplens profile" report "$T/other.wlp"
if [ "$(id -u)" != 0 ]; then
    cp "$good" "$T/secret.wlp" && chmod 0 "$T/secret.wlp"
    expect 1 "Permission denied" report "$T/secret.wlp"
fi

# --- advise
expect 2 "which profile?" advise
expect 2 "one profile" advise a b
expect 2 "--top takes a whole number, not \`x\`" advise --top x "$good"
expect 2 "--least takes a percentage like 5 or 0.5, not \`much\`" advise --least much "$good"
expect 2 "no format \`csv\`; the formats are text, json and sarif" advise --format csv "$good"
expect 2 "-k \`(\`: " advise -k '(' "$good"
expect 2 "-f needs -o FILE" advise -f "$good"
expect 2 "--list-rules comes as text or json" advise --list-rules --sarif
expect 2 "no rule is called" advise --rule nope "$good"
expect 2 "no rule is called \`lop-unrolling\`; did you mean \`loop-unrolling\`?" advise --no-rule lop-unrolling "$good"
expect 2 "no rule is called \`foo\`; \`warplens advise --list-rules\`" advise --rule foo "$good"
expect 1 "$T/missing.wlp: error: cannot open" advise "$T/missing.wlp"
expect 1 "not a Warplens profile" advise Makefile
expect 1 "damaged profile" advise "$T/cut.wlp"
expect 1 "$good exists; -f replaces it" advise -o "$good" "$good"
cp "$good" "$T/same.wlp"
expect 1 "$T/same.wlp is a profile, which advice does not replace" advise -f -o "$T/same.wlp" "$T/same.wlp"
cmp -s "$good" "$T/same.wlp" || fail "advise -f replaced a profile by its advice"
expect 1 "$T/no/such/x cannot be written" advise -o "$T/no/such/x" "$good"

# full ARGS...: what does not get onto a full disk is told, in one line, and not blamed on the input
full() {
    "$W" "$@" >/dev/full 2>"$T/err"
    same "$1 to a full disk" "$? $(cat "$T/err")" "1 warplens: standard output could not be written: No space left on device"
}
full --help
full report "$good"
full advise "$good"
full report --help
full ptx --print $ptx
full sim $ptx --launch $launch
full doctor

# A model of a GPU that does not say all that time needs, as one of an older version may.
mkdir "$T/gpus"
for model in gpus/*.gpu; do grep -v '^const_line ' "$model" >"$T/$model"; done
expect 1 "const_line is missing" sim $ptx --launch $launch --timing --gpu "$T/gpus/h200.gpu"
expect 2 "const_line is missing" run --timing --gpu "$T/gpus/h200.gpu" true
same "without --timing nothing is missing" "$("$W" sim -q $ptx --launch $launch --gpu "$T/gpus/h200.gpu" 2>&1)" ""

# --- run
expect 2 "run has no option \`--tming\`; did you mean \`--timing\`? \`warplens run --help\` lists them" run --tming ./app
expect 2 "run needs a program" run
expect 2 "run has no option \`--nope\`" run --nope true
expect 2 "did you mean \`--timing\`?" run -qo x.wlp --gpu h200 --timming true
expect 2 "-o needs the name of a file" run -o '' true
expect 2 "--gpus takes a number from 1 to 64 or models separated by commas, not \`-1\`" run --gpus -1 true
expect 2 "--launch-skip goes from 0 to 18446744073709551615, not \`99999999999999999999\`" run --launch-skip 99999999999999999999 true
same "options of the program, and beginnings of ours" "$("$W" run -q --out "$T/none.wlp" --thre 1 echo --timming --nope)" "--timming --nope"
same "the value of an option may look like one" "$("$W" run -q -o --timming echo ran)" ran
expect 2 "--gpus takes a number from 1 to 64 or models separated by commas, not \`x,\`" run --gpus x, true
expect 2 "nope.gpu: not found" run --gpus h200,nope true
expect 2 "--threads takes a whole number, not \`-1\`" run --threads -1 true
expect 2 "--launch-skip takes" run --launch-skip 1.5 true
expect 2 "--launch-count takes" run --launch-count '' true
expect 2 "--gpus" run --gpus 0 true
expect 2 "--gpus" run --gpus 65 true
expect 2 "--threads" run --threads 0 true
expect 2 "(" run -k '(' true
expect 2 "--on takes auto, gpu or sim" run --on moon true
expect 2 "--sampling takes" run --on gpu --sampling often true
expect 2 "--sampling-period takes" run --on gpu --sampling-period 2^4 true
expect 2 "--sampling-period takes" run --on gpu --sampling-period 1000 true
expect 2 "--timing is an option of the simulator" run --on gpu --timing true
expect 2 "--no-stacks is an option of collection" run --on sim --no-stacks true
expect 2 "GPU model" run --gpu nope true
expect 2 "GPU model" run --gpu "$T/nope.gpu" true
expect 127 "cannot run \`./nope\`" run ./nope
expect 127 "cannot run \`\`: no such program" run ''
expect 127 "cannot run \`no-such-program-anywhere\`" run no-such-program-anywhere
expect 126 "cannot run \`./Makefile\`: Permission denied" run ./Makefile
expect 126 "cannot run \`./examples\`: it is a directory" run ./examples
printf 'text' >"$T/text" && chmod +x "$T/text"
expect 125 "stripped: keep its symbols" run tests/binary/program_stripped

cp "$good" "$T/kept.wlp"
expect 125 "$T/kept.wlp exists; -f replaces it" run -o "$T/kept.wlp" echo noise
cmp -s "$good" "$T/kept.wlp" || fail "run without -f changed an existing profile"
expect 125 "$T/no/such/x.wlp" run -o "$T/no/such/x.wlp" echo noise
expect 125 "directory" run -f -o "$T" echo noise
expect 125 "\`%z\` is none of %p, %h" run -o "$T/%z.wlp" echo noise
expect 125 "the environment variable NOT_SET_ANYWHERE is not set" run -o "$T/%q{NOT_SET_ANYWHERE}.wlp" echo noise
if [ "$(id -u)" != 0 ]; then
    mkdir "$T/readonly" && chmod a-w "$T/readonly"
    expect 125 "Permission denied" run -o "$T/readonly/x.wlp" echo noise
fi

# --- sim
expect 2 "needs a PTX file and --launch" sim
expect 2 "needs a PTX file and --launch" sim $ptx
expect 2 "one PTX file" sim $ptx $ptx --launch $launch
expect 2 "--threads" sim $ptx --launch $launch --threads x
expect 1 "nope.ptx: error: cannot open" sim nope.ptx --launch $launch
expect 1 "nope.launch: error: cannot open" sim $ptx --launch nope.launch
expect 1 "directory" sim examples --launch $launch
expect 1 "directory" sim $ptx --launch examples
expect 1 "GPU model" sim $ptx --launch $launch --gpu nope
expect 1 "$T/kept.wlp: error: file exists" sim $ptx --launch $launch -o "$T/kept.wlp"
cmp -s "$good" "$T/kept.wlp" || fail "sim without -f changed an existing profile"
expect 1 "$T/no/such/x.wlp: error: cannot create" sim $ptx --launch $launch -o "$T/no/such/x.wlp"
expect 1 "directory" sim $ptx --launch $launch -o "$T"
expect 1 "tests/e2e/syntax_error.ptx:8:2: error: 'add.u32' takes 3 operands, not 2" sim tests/e2e/syntax_error.ptx --launch tests/e2e/deadlock.launch

# launch_file TEXT WHAT: a launch file for the kernel stuck() of deadlock.ptx
launch_file() {
    printf "$1\n" >"$T/x.launch"
    expect 1 "$2" sim tests/e2e/deadlock.ptx --launch "$T/x.launch"
}
launch_file 'bogus 1' "x.launch:1: error: \`bogus\` is no directive; kernel, grid, block, shared, buffer, param, expect, launch, cluster, cooperative are"
launch_file 'kernel stuck junk' "x.launch:1: error: \`junk\` is more than the line needs"
launch_file 'grid 1 1 1 1' "is more than the line needs"
launch_file 'buffer a u8 2 fill 300' "x.launch:1: error: \`300\` is no value"
launch_file 'buffer a u8 2 iota x' "is no number"
launch_file 'kernel' "x.launch:1: error: kernel needs a name"
launch_file 'kernel stuck' "needs grid and block"
launch_file '# a comment\n\nkernel nope\ngrid 1\nblock 1' "x.launch:3: error: there is no kernel \`nope\`"
launch_file 'kernel stuck\ngrid 0' "x.launch:2: error: grid needs"
launch_file 'kernel stuck\ngrid 1\nblock 2048' "block 2048 x 1 x 1"
launch_file 'kernel stuck\ngrid 1\nblock 1\nparam u32 1' "has 0 parameters, the launch gives 1"
launch_file 'buffer a x32 4 zero' "\`x32\` is no type"
launch_file 'buffer a u32 4 guess' "\`guess\` is no way to fill a buffer"
launch_file 'buffer a u32 4 values 1 2' "differ in length"
launch_file 'buffer a u32 4 file nope.bin' "nope.bin: error: cannot open"
launch_file 'param nope' "\`nope\` is neither a buffer nor a type"
launch_file 'buffer a u32 4 zero\nexpect a 4 1' "\`4\` is no index"
launch_file 'expect a 0 1' "there is no buffer \`a\`"
launch_file '' "a launch needs a kernel"
printf 'buffer c f32 4 zero\nkernel vecAdd\ngrid 1\nblock 1\nparam c\nparam c\nparam c\nparam s32 1\nlaunch\nexpect c 0 5\nexpect c 1 0\n' >"$T/x.launch"
same "an expectation that is not met" "$("$W" sim $ptx --launch "$T/x.launch" 2>/dev/null | tail -1)" "RESULT FAIL: 1 of 2 expectations not met"

# What goes wrong in a kernel is told with the kernel, the thread, the place and what is near.
"$W" sim -q tests/e2e/out_of_bounds.ptx --launch tests/e2e/out_of_bounds.launch >"$T/out" 2>"$T/err"
same "out of bounds: exit code" "$? $(wc -l <"$T/err") $(wc -c <"$T/out")" "1 1 0"
for part in 'kernel `fill`' 'global write of 4 bytes at address 0x' 'out of bounds' 'of 160 bytes' '0 bytes behind its end' 'block (0,0,0) thread (40,0,0)' 'out_of_bounds.cu:12'; do
    grep -qF "$part" "$T/err" || fail "out of bounds: not told: $part" "$(cat "$T/err")"
    checks=$((checks + 1))
done
timeout 60 "$W" sim -q tests/e2e/deadlock.ptx --launch tests/e2e/deadlock.launch >"$T/out" 2>"$T/err"
same "deadlock: exit code, lines" "$? $(wc -l <"$T/err")" "1 3"
for part in 'kernel `stuck` can make no progress' 'warp 0 lanes 0xffffffff: waits at barrier 0 (32 of 64 threads arrived) at deadlock.cu:23' \
    'warp 1 lanes 0xffffffff: waits at barrier 1 (32 of 64 threads arrived) at deadlock.cu:22'; do
    grep -qF "$part" "$T/err" || fail "deadlock: not told: $part" "$(cat "$T/err")"
    checks=$((checks + 1))
done

# --- ptx
expect 2 "which file?" ptx
expect 2 "no dump \`nope\`" ptx --dump nope $ptx
expect 2 "-k \`(\`: Unmatched" ptx -k '(' $ptx
expect 1 "nope.ptx: error: cannot open" ptx nope.ptx
expect 2 "--sm takes a whole number, not \`x\`" ptx --sm x $ptx
expect 2 "--sm goes from" ptx --sm 0 $ptx
expect 1 "no function matches \`nope\`" ptx -k nope $ptx
same "ptx -k by the name alone" "$("$W" ptx -k '^mm$' examples/matmul/matmul.ptx | grep -c "^  kernel ")" 1
expect 1 "neither PTX" ptx examples/prebuilt/matmul.xz
expect 1 "deadlock.launch:1:1: error: expected a directive" ptx tests/e2e/deadlock.launch
expect 1 "irectory" ptx examples
expect 1 "syntax_error.ptx:8:2: error: 'add.u32' takes 3 operands, not 2" ptx tests/e2e/syntax_error.ptx
expect 1 "no PTX that an sm_90 device can use (there is: sm_80 SASS)" ptx tests/binary/no_ptx.fatbin

# --- a program that is ended by a signal says so, as it does when a shell starts it
"$W" run -q bash -c 'kill -SEGV $$' 2>"$T/err"
same "a signal" "$? $(cat "$T/err")" "139 warplens: the program was ended by signal 11 (Segmentation fault)"
mkdir "$T/a b"
"$W" sim -q $ptx --launch $launch --timing -o "$T/a b/x.wlp" && "$W" advise "$T/a b/x.wlp" >"$T/out"
grep -qF "\`warplens advise --verbose '$T/a b/x.wlp'\`" "$T/out" || [ "$(grep -c verbose "$T/out")" = 0 ] || fail "a path with a blank is not quoted" "$(cat "$T/out")"
"$W" report --help | awk 'length($0) > 79 || /^[a-z]+$/ { print; exit 1 }' || fail "report --help is badly broken into lines"
"$W" ptx --help | awk 'length($0) > 79 || /^[a-z]+$/ { print; exit 1 }' || fail "ptx --help is badly broken into lines"
for section in summary findings kernels timing stalls samples lines launches timeline; do
    "$W" report --section $section "$good" >/dev/null || fail "there is no section $section"
    "$W" report --help | grep -q "^  $section " || fail "report --help does not name the section $section"
    checks=$((checks + 1))
done

# --- the same in a program: it sees CUDA's error code, its user the explanation, the profile keeps both
build_launches
"$W" run -o "$T/fault.wlp" "$T/launches" tests/binary/one_none.fatbin 1 1000000 >"$T/out" 2>"$T/err"
same "a program with a fault" "$? $(cat "$T/out")" "3 cuda error 700"
for part in 'kernel `scale`: global read of 4 bytes at address 0x' 'of 4000 bytes' 'block (4096,0,0) thread (0,0,0)'; do
    grep -qF "$part" "$T/err" || fail "a program with a fault: not told: $part" "$(cat "$T/err")"
    checks=$((checks + 1))
done
"$W" report --json "$T/fault.wlp" >"$T/out"
grep -q '"messages":\[".*out of bounds' "$T/out" || fail "the fault is not in the profile"
grep -q '"status":700' "$T/out" || fail "the launch's status is not in the profile"
# As on a GPU, a program goes on that stays in the page of an allocation; with the checker it does not.
"$W" run -o "$T/beyond.wlp" "$T/launches" tests/binary/one_none.fatbin 2 2000 >"$T/out" 2>"$T/err"
same "a program that goes beyond an allocation" "$? $(wc -l <"$T/out") $(grep -c 'out of bounds' "$T/err")" "0 2 1"
grep -q 'warning: kernel `scale`: global read of 4 bytes at .* block (7,0,0) thread (104,0,0), at .*--check memory' "$T/err" ||
    fail "a program that goes beyond an allocation: not told" "$(cat "$T/err")"
"$W" run --check memory -o "$T/checked.wlp" "$T/launches" tests/binary/one_none.fatbin 1 2000 >"$T/out" 2>"$T/err"
grep -q 'memory.out_of_bounds' "$T/err" || fail "a program that goes beyond an allocation: the checker is silent" "$(cat "$T/err")"
checks=$((checks + 4))

# --- programs of CUDA versions whose runtime is another one (build_launches needs a C compiler too)
echo 'void __cudaRegisterFatBinary(void) {} void cudaGetDeviceProperties_v2(void) {} int main(void) { return 0; }' >"$T/old.c"
cc -o "$T/old_static" "$T/old.c"
expect 125 "built with an older CUDA, whose runtime has other structures: rebuild it with CUDA 13" run "$T/old_static"
cc -shared -fPIC -Wl,-soname,libcudart.so.12 -o "$T/libcudart.so" "$T/old.c"
echo 'void __cudaRegisterFatBinary(void); int main(void) { __cudaRegisterFatBinary(); return 0; }' >"$T/uses.c"
cc -o "$T/old_shared" "$T/uses.c" -L"$T" -lcudart
expect 125 "built with an older CUDA" run "$T/old_shared"
finish

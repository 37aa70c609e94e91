#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `warplens run --what-if`: what is tried, what the profile then has, that the program's own output is that of one run,
# and what is said where nothing can be tried.
. tests/e2e/lib.sh
unpack_prebuilt
cd "$T" || exit 1
args=(--variant global --n 64)

"$W" run --timing ./matmul "${args[@]}" >plain.out 2>plain.err
TMPDIR=$T "$W" run --timing --what-if=1 -o tried.wlp ./matmul "${args[@]}" >tried.out 2>tried.err
same "exit code" $? 0
same "the program's output" "$(cat tried.out)" "$(cat plain.out)"
grep -q "^warplens: trying 1 piece of advice" tried.err || fail "it is not said that something is tried" "$(cat tried.err)"
grep -qE "tried: [0-9]+\.[0-9]+x" tried.err || fail "the end of the run does not say what was tried" "$(cat tried.err)"
same "files left behind" "$(ls -d warplens-* 2>/dev/null)" ""
checks=$((checks + 2))

# The profile has it, the list shows it, and it is the same again.
tried() { "$W" advise --json "$1" | grep -oE '"tried": ?[0-9.]+' | grep -oE '[0-9.]+'; }
same "pieces tried" "$(tried tried.wlp | wc -l)" 1
"$W" advise tried.wlp | grep -q "tried: " || fail "the list does not show it"
"$W" advise --sarif tried.wlp | grep -q '"tried"' || fail "SARIF does not have it"
"$W" run --timing --what-if=1 --threads 2 -q -f -o again.wlp ./matmul "${args[@]}" >again.out 2>again.err
same "with -q" "$(cat again.err)" ""
same "once more, with two threads" "$(tried again.wlp)" "$(tried tried.wlp)"
same "without --what-if" "$(tried matmul.1.wlp)" ""
if python3 -c 'import jsonschema' 2>/dev/null; then
    cd "$OLDPWD" || exit 1
    "$W" advise --json "$T/tried.wlp" >"$T/tried.json"
    same "JSON follows its schema" "$(python3 tests/e2e/check_schema.py docs/advice.schema.json "$T/tried.json")" ""
    cd "$T" || exit 1
fi
checks=$((checks + 2))

# --- nothing to try, and wrong usage
"$W" run --timing --what-if --no-such ./matmul >/dev/null 2>&1
same "an option that does not exist" $? 2
same "without --timing" "$("$W" run --what-if ./matmul 2>&1)" "warplens: --cache-control, --sample and --what-if need --timing"
"$W" run --timing --what-if=0 ./matmul >/dev/null 2>&1
same "--what-if=0" $? 2
"$W" run --timing --what-if -o %p.wlp ./matmul >/dev/null 2>&1
same "a profile for each process" $? 2

# --- a list of edits that is none
echo "fre 100 1 k k" >wrong.edits
WARPLENS_EDITS=$T/wrong.edits WARPLENS_TIMING=1 LD_PRELOAD=$BUILD/lib/libcudart.so.13:$BUILD/lib/libcuda.so.1 ./matmul --n 32 >wrong.out 2>wrong.err
grep -q 'wrong.edits:1: error: no edit is called `fre`; did you mean `free`?' wrong.err || fail "a wrong list is not told" "$(cat wrong.err)"
checks=$((checks + 1))
finish

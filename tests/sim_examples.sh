#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every example's kernels give the results that its launch file expects, on each GPU model and with any number of host
# threads; and a wrong expectation is noticed. bench/*.launch is run by the benchmark only.
. tests/e2e/lib.sh

for launch in examples/*/*.launch; do
    ptx=${launch%.launch}.ptx
    "$W" sim "$ptx" --launch "$launch" >"$T/out" 2>"$T/err"
    same "$launch: exit code" $? 0
    launches=$(grep -c '^launch' "$launch") expectations=$(grep -c '^expect' "$launch")
    [ "$launches" = 1 ] && noun=launch || noun=launches
    same "$launch: last line" "$(tail -1 "$T/out")" "RESULT PASS: $launches $noun, $expectations expectations"
    same "$launch: stderr" "$(head -3 "$T/err")" ""
    same "$launch: quiet" "$("$W" sim -q "$ptx" --launch "$launch" 2>&1)" ""
    for gpu in gpus/*.gpu; do
        gpu=$(basename "$gpu" .gpu)
        "$W" sim -q "$ptx" --launch "$launch" --gpu "$gpu" --threads 3 >"$T/out" 2>&1
        same "$launch on $gpu" "$? $(head -3 "$T/out")" "0 "
    done
done

# One expected element changed: told with its place.
sed 's/^expect  c_naive 511 1533$/expect  c_naive 511 1534/' examples/vector_add/vector_add.launch >"$T/wrong.launch"
"$W" sim -q examples/vector_add/vector_add.ptx --launch "$T/wrong.launch" >"$T/out" 2>&1
same "a wrong expectation" "$?" 1
line=$(grep -n 1534 "$T/wrong.launch" | cut -d: -f1)
same "what is told of it" "$(cat "$T/out")" "warplens: $T/wrong.launch:$line: error: c_naive[511] is 1533, expected 1534"

# The example of docs/launch-files.md.
sed -n '/^```$/,/^```$/p' docs/launch-files.md | sed '/^```$/d' >"$T/documented.launch"
same "docs/launch-files.md" "$("$W" sim examples/vector_add/vector_add.ptx --launch "$T/documented.launch" 2>&1 | tail -1)" "RESULT PASS: 1 launch, 2 expectations"
finish

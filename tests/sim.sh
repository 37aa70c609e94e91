#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every launch file of tests/sim. A head line `# ptx: FILE` names the PTX, `# gpu: MODEL` the GPU model,
# `# timing` that it is timed, `# fails: REGEX` that the launch must fail with exactly that complaint.
set -u
warplens=${WARPLENS_BUILD:-build/release}/bin/warplens
passed=0 failed=0
for launch in tests/sim/*.launch; do
    dir=$(dirname "$launch")
    ptx=$dir/$(sed -n 's/^# ptx: //p' "$launch")
    gpu=$(sed -n 's/^# gpu: //p' "$launch")
    wanted=$(sed -n 's/^# fails: //p' "$launch")
    timing=$(sed -n 's/^# timing$/--timing/p' "$launch")
    output=$("$warplens" sim -q $timing ${gpu:+--gpu "$gpu"} "$ptx" --launch "$launch" 2>&1)
    code=$?
    if [ -z "$wanted" ] && [ $code = 0 ] && [ -z "$output" ]; then passed=$((passed + 1))
    elif [ -n "$wanted" ] && [ $code = 1 ] && grep -q -- "$wanted" <<<"$output"; then passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "$launch: exit code $code"
        echo "$output"
        [ -n "$wanted" ] && echo "expected: $wanted"
    fi
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]

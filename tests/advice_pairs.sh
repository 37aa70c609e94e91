#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Some pairs of examples/advice on the simulator, as they are before their change: the rule that the change belongs to is
# among the first three of the advice, at the right kernel, with an estimate that has an interval.
. tests/e2e/lib.sh
need python3

for launch in tests/advice/pairs/*.launch; do
    name=$(basename "$launch" .launch)
    rules=$(sed -n 's/^# Rule: //p' "$launch")
    "$W" sim -q --timing "tests/advice/pairs/$name.ptx" --launch "$launch" -o "$T/$name.wlp" || fail "$name does not run"
    "$W" advise --json "$T/$name.wlp" >"$T/$name.json" || fail "$name: no advice"
    same "$name: $rules" "$(python3 tests/e2e/first_rules.py "$T/$name.json" "$rules")" good
done
finish

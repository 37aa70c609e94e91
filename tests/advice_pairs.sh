#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Some pairs of examples/advice on the simulator. As they are before their change, the rule that the change belongs to is
# among the first three of the advice, with an estimate that has an interval; after it, that rule promises less than half
# of what it did, or nothing, and what the change achieved in this very launch lies in the interval. `# Speedup: LOW-HIGH` is what the change achieves on the simulator, give or take a third of
# the gain: there the estimate has to be.
. tests/e2e/lib.sh
need python3

# advise VERSION: of $name as tests/advice/pairs has it, into $T/$name.VERSION.json
advise() {
    local ptx=tests/advice/pairs/$name.$1.ptx
    [ "$1" = after ] || ptx=tests/advice/pairs/$name.ptx
    "$W" sim -q --timing "$ptx" --launch "$launch" -o "$T/$name.$1.wlp" || fail "$name $1 does not run"
    "$W" advise --json "$T/$name.$1.wlp" >"$T/$name.$1.json" || fail "$name $1: no advice"
}

for launch in tests/advice/pairs/*.launch; do
    name=$(basename "$launch" .launch)
    rules=$(sed -n 's/^# Rule: //p' "$launch")
    advise before
    same "$name: $rules" "$(python3 tests/e2e/first_rules.py "$rules" "$T/$name.before.json")" good
    span=$(sed -n 's/^# Speedup: //p' "$launch")
    [ -z "$span" ] ||
        same "$name: $rules, speedup $span" "$(python3 tests/e2e/first_rules.py "$rules $span" "$T/$name.before.json")" good
    grep -q '^# After:' "$launch" || continue
    advise after
    same "$name after its change: $rules" "$(python3 tests/e2e/first_rules.py "$rules" "$T/$name.before.json" "$T/$name.after.json")" good
done
finish

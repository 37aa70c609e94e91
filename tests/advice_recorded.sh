#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Advice for profiles that a real GPU made (tests/advice/recorded): what was changed afterwards is among the first three rules, and what
# that achieved on the GPU lies in the interval, but where expected.tsv says that it does not.
. tests/e2e/lib.sh
need python3
need xz

recorded=tests/advice/recorded
for profile in "$recorded"/*.wlp.xz; do
    name=$(basename "$profile" .wlp.xz)
    xz -dc "$profile" >"$T/$name.wlp"
    "$W" advise --json "$T/$name.wlp" >"$T/$name.json" || fail "$name: no advice"
    rm "$T/$name.wlp"
done
while read -r name result; do
    same "$name" "$result" good
done < <(python3 tests/e2e/recorded_advice.py "$recorded/expected.tsv" "$T")
[ "$checks" -gt 40 ] || fail "only $checks profiles were looked at"
finish

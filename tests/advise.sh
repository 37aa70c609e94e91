#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `warplens advise` and the end of `warplens run`: formats, options, what is said where there is nothing to say.
. tests/e2e/lib.sh
need python3

launch() { "$W" sim -q "${@:2}" "tests/advice/pairs/$1.ptx" --launch "tests/advice/pairs/$1.launch" -o "$T/$1.wlp" || fail "$1 does not run"; }
launch column_sum --timing
launch transpose
p=$T/column_sum.wlp

# --- text
"$W" advise "$p" >"$T/list" 2>"$T/err"
same "exit code, stderr" "$? $(wc -c <"$T/err")" "0 0"
for words in "Advice for $p" "(simulated)" "column_sum" "column_sum.cu:2" "confidence" "--verbose"; do
    grep -qF -- "$words" "$T/list" || fail "the list does not say '$words'" "$(head -5 "$T/list")"
    checks=$((checks + 1))
done
grep -qE '[0-9]\.[0-9]+x \([0-9.]+-[0-9.]+\)' "$T/list" || fail "no speedup with an interval"
"$W" advise -v "$p" >"$T/verbose"
for words in "expected" "evidence" "how" "where" "sum += weight[row] * matrix[" "[loop-unrolling]"; do
    grep -qF -- "$words" "$T/verbose" || fail "--verbose does not say '$words'"
    checks=$((checks + 1))
done
COLUMNS=80 "$W" advise -v "$p" | awk 'length($0) > 80 && !/#pragma|for|=/ { print; exit 1 }' || fail "80 columns are not enough"

# --- the same on every run, and from a process to the next
for format in text json sarif; do
    "$W" advise --format $format "$p" >"$T/1.$format" && "$W" advise --format $format "$p" | cmp -s - "$T/1.$format" ||
        fail "--format $format differs from one run to the next"
    checks=$((checks + 1))
done
"$W" advise --json "$p" | cmp -s - "$T/1.json" || fail "--json is not --format json"
"$W" advise --sarif "$p" | cmp -s - "$T/1.sarif" || fail "--sarif is not --format sarif"
if python3 -c 'import jsonschema' 2>/dev/null; then
    same "JSON follows its schema" "$(python3 tests/e2e/check_schema.py docs/advice.schema.json "$T/1.json")" ""
    same "SARIF follows its schema" "$(python3 tests/e2e/check_schema.py tests/advice/sarif-2.1.0-rtm.5.json.xz "$T/1.sarif")" ""
fi

# --- choosing
rules() { "$W" advise --json "$@" "$p" | python3 -c 'import json, sys; print(*[a["rule"] for a in json.load(sys.stdin)["advice"]])'; }
all=$(rules)
same "--top 1" "$(rules --top 1)" "${all%% *}"
[[ " $(rules --rule loop-unrolling | tr ' ' '\n' | sort -u | tr '\n' ' ')" == " loop-unrolling " ]] || fail "--rule: $(rules --rule loop-unrolling)"
[[ " $(rules --no-rule loop-unrolling) " != *" loop-unrolling "* ]] || fail "--no-rule"
same "--least 100000" "$(rules --least 100000)" ""
same "-k of another kernel" "$(rules -k nothing)" ""
same "-k of this kernel" "$(rules -k '^column_sum$')" "$all"
checks=$((checks + 2))

# --- who is merged with a kernel that takes longer saves no more than it takes itself
"$W" sim -q --timing tests/advice/product_bias.ptx --launch tests/advice/product_bias.launch -o "$T/unequal.wlp" || fail "product_bias does not run"
"$W" advise --json --least 0 "$T/unequal.wlp" >"$T/unequal.json"
same "merging unequal kernels" "$(python3 -c '
import json, sys
advice = json.load(open(sys.argv[1]))
all_ns, bias = advice["kernel_ns"], [k["total_ns"] for k in advice["kernels"] if k["name"] == "bias"][0]
print([a["rule"] for a in advice["advice"] if a["rule"] == "kernel-merge" and a["estimate"]["saved_ns"] > 1.1 * bias])' "$T/unequal.json")" "[]"

# --- atomics that go on when all warps have ended: the whole of their time is gained, and is not that of too few CTAs
"$W" sim -q --timing tests/advice/sums.ptx --launch tests/advice/sums.launch -o "$T/sums.wlp" >"$T/out" || fail "sums does not run"
"$W" advise --json --least 0 --rule atomic-contention "$T/sums.wlp" >"$T/sums.json"
same "one atomic of each CTA instead of each warp" "$(python3 -c '
import json, sys
advice = json.load(open(sys.argv[1]))
ns = {k["name"]: k["total_ns"] for k in advice["kernels"]}
gain, found = ns["by_warps"] / ns["by_ctas"], {a["kernel"]: a["estimate"] for a in advice["advice"]}
e = found["by_warps"]
print(*found, "in the interval" if e["low"] <= gain <= e["high"] else gain,
      "near" if gain / 1.5 < e["speedup"] < gain * 1.5 else e["speedup"],
      *[k["limit"].split("(")[0] for k in advice["kernels"] if k["name"] == "by_warps"])' "$T/sums.json")" \
    "by_warps in the interval near keeps the L2's atomic units busy "
same "a loop that turns once is not unrolled, nothing is loaded a turn ahead, no test taken out" "$("$W" advise --json --least 0 -k over_grid "$T/sums.wlp" |
    python3 -c 'import json, sys; print(*[a["rule"] for a in json.load(sys.stdin)["advice"]])' |
    grep -E 'loop-unrolling|code-reordering|branch-elimination')" ""
same "who prints is told" "$("$W" advise "$T/sums.wlp" | tr -s '\n ' ' ' | grep -o 'Note: .*printf at sums.cu:[0-9]*:')" \
    "Note: told spends $("$W" advise "$T/sums.wlp" | grep -o 'told spends [0-9]*' | grep -o '[0-9]*') % of its warps' time in printf at sums.cu:32:"

# --- files
"$W" advise --json -o "$T/a.json" "$p" && cmp -s "$T/a.json" "$T/1.json" || fail "-o FILE"
same "an existing file" "$("$W" advise --json -o "$T/a.json" "$p" 2>&1)" "warplens: $T/a.json exists; -f replaces it, -o names another file"
"$W" advise -f -o "$T/a.json" "$p" && grep -q "what to change" "$T/a.json" || fail "-f"

# --- nothing to say
"$W" advise -k nothing "$p" | grep -q "Note: no kernel that was launched is among those that were asked for; there are .*column_sum" || fail "-k of no kernel is not told"
"$W" advise "$T/transpose.wlp" >"$T/list"
same "without --timing: exit code" $? 0
grep -q -- "--timing" "$T/list" || fail "a profile without samples: it is not said how to get them" "$(cat "$T/list")"
"$W" sim --timing -o "$T/fails.wlp" tests/sim/control.ptx --launch tests/sim/out_of_bounds.launch >"$T/out" 2>&1
same "a kernel that fails: exit code" $? 1
"$W" advise "$T/fails.wlp" | grep -q "Note: all launches failed; .warplens report. has the messages" || fail "advise of what failed"

# --- rules
"$W" advise --list-rules >"$T/rules"
grep -q "^  loop-unrolling .*" "$T/rules" || fail "--list-rules has no loop-unrolling"
same "docs/advice-rules.md is current (tools/gen_advice_doc.sh)" "$(WARPLENS="$W" tools/gen_advice_doc.sh | diff docs/advice-rules.md - | head -5)" ""

# --- intervals: of the shape and the constants that they were calibrated with
"$W" advise --list-rules --json >"$T/rules.json"
same "intervals that differ from tools/advice_interval.py" "$(PYTHONPATH=tools python3 -c '
import json, sys
import advice_interval as ai
widths = {r["name"]: r["simulated"]["width"] for r in json.load(open(sys.argv[2]))["rules"]}
for a in json.load(open(sys.argv[1]))["advice"]:
    e = a["estimate"]
    low, high = ai.interval(e["speedup"], widths[a["rule"]], e["model"]["error"], e["model"]["limit"])
    if abs(low - e["low"]) > 2e-3 * low or abs(high - e["high"]) > 2e-3 * high:
        print(a["rule"], e, low, high)' "$T/1.json" "$T/rules.json")" ""

# --- the end of a run
unpack_prebuilt
cd "$T"
"$W" run --timing -k '^mm$' ./matmul --n 128 >"$T/out" 2>"$T/err"
same "run: exit code" $? 0
grep -q "^warplens: .*warplens advise matmul.1.wlp" "$T/err" || fail "a run with --timing does not end with advice" "$(cat "$T/err")"
same "run: lines of others on stderr" "$(grep -cv '^warplens: ' "$T/err")" 0
"$W" run -q --timing -k '^mm$' ./matmul --n 128 >"$T/out" 2>"$T/err"
same "run -q" "$? $(cat "$T/err")" "0 "
"$W" run ./matmul --n 32 >"$T/out" 2>"$T/err"
same "run without --timing: lines" "$(grep -c advi "$T/err")" 0
finish

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The checker: every planted error is found, with its line and the other party's (tests/check/planted.cases), and nothing is
# found in correct kernels of the tricky kind (tests/check/correct.cases).
. tests/e2e/lib.sh
folder=tests/check

line_of() {  # FILE MARK -> number of the line that ends in //! MARK
    local number
    number=$(grep -n "//! $2\$" "$folder/$1.cu" | head -1 | cut -d: -f1)
    echo "${number:-no_mark_$2}"
}

# "rule line other_line" of each finding in a text, sorted.
findings_of() {
    awk '/^=========.*\[[a-z_]+\.[a-z_]+\]$/ { if (rule) print rule, line, other; rule = $NF; gsub(/[\[\]]/, "", rule); line = other = "-" }
         /^=========     [A-Z].* at [^ ]*:[0-9]+/ && rule { for (i = 2; i < NF; i++) if ($i == "at") { split($(i + 1), p, ":"); other = p[2]; break } }
         /^=========     at [^ ]*:[0-9]+/ && rule { split($3, p, ":"); line = p[2] }
         END { if (rule) print rule, line, other }' "$1" | sort -u
}

run_case() {
    local name output wanted="" extra="" rule mark second line other got
    name=$(sed -n 's/^kernel //p' "$T/case.launch" | tail -1)
    output=$T/output
    timeout 120 "$W" sim -q --check "${only:-all}" "$folder/$ptx.ptx" --launch "$T/case.launch" >"$output" 2>&1
    got=$(findings_of "$output")
    while read -r rule mark second; do
        [ -z "$rule" ] && continue
        line=$(line_of "$ptx" "$mark")
        other=${second:+$(line_of "$ptx" "$second")}
        checks=$((checks + 1))
        if ! grep -q "^$rule $line ${other:-.*}\$" <<<"$got"; then
            fail "$ptx: $name: $rule at line $line${other:+, other at $other}" "got: ${got:-nothing}" "$(head -20 "$output")"
        fi
        wanted+=" $rule"
    done <"$T/finds"
    extra=$(cat "$T/also")
    if grep -q ', expected ' "$output"; then fail "$ptx: $name: results" "$(grep ', expected ' "$output")"; fi
    checks=$((checks + 1))
    while read -r rule line other; do
        [ -z "$rule" ] && continue
        [[ " $wanted $extra " == *" $rule "* ]] || fail "$ptx: $name: found besides: $rule at line $line, other $other" "$(head -30 "$output")"
    done <<<"$got"
    if [ -z "$wanted" ] && [ -s "$output" ] && [ -z "$got" ]; then fail "$ptx: $name" "$(head -20 "$output")"; fi
}

run_cases() {
    local word rest
    ptx=""
    : >"$T/case.launch"
    while IFS= read -r text || [ -n "$text" ]; do
        read -r word rest <<<"$text"
        case $word in
        case)
            [ -n "$ptx" ] && run_case
            read -r ptx only <<<"$rest"
            : >"$T/case.launch"; : >"$T/finds"; : >"$T/also" ;;
        finds) echo "$rest" >>"$T/finds" ;;
        also) printf ' %s' "$rest" >>"$T/also" ;;
        *) echo "$text" >>"$T/case.launch" ;;
        esac
    done <"$1"
    [ -n "$ptx" ] && run_case
}

for cases in ${CHECK_CASES:-planted correct}; do
    [ -e "$folder/$cases.cases" ] && run_cases "$folder/$cases.cases"
done
finish

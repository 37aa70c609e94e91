#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The checker on whole programs: errors of the host (frees, copies), leaks, exit codes, the profile and its report.
. tests/e2e/lib.sh
[ "$(uname -m)" = x86_64 ] || skip "programs run on x86-64 only"
need "${CC:-cc}"
"${CC:-cc}" -O1 -Wall tests/check/api.c -o "$T/api" -L"$BUILD/lib" -l:libcudart.so.13 || exit 1

# has WHAT TEXT: the last run said it
has() {
    checks=$((checks + 1))
    grep -qF -- "$2" "$T/err" || fail "$1" "expected: $2" "$(head -30 "$T/err")"
}

# finds CASE RULE TEXT...: exactly one finding, of this rule, with these texts
finds() {
    local name=$1 rule=$2 text
    shift 2
    timeout 60 "$W" run -q -f --check all -o "$T/$name.wlp" "$T/api" "$name" >"$T/out" 2>"$T/err"
    same "$name: exit code" $? 0
    same "$name: findings" "$(grep -o '\[[a-z]*\.[a-z_]*\]$' "$T/err" | sort -u)" "[$rule]"
    for text in "$@"; do has "$name" "$text"; done
}

finds double_free memory.double_free "Invalid cudaFree: freed before" "Allocated by the 1st cudaMalloc, in make_buffer" "< main" "Freed by cudaFree in double_free"
finds free_inside memory.bad_free "is byte 256 of an allocation of 4000 bytes"
finds free_of_host_memory memory.bad_free "Invalid cudaFree: not the start of an allocation"
finds free_async_twice memory.double_free "Invalid cudaFreeAsync" "Allocated by the 1st cudaMallocAsync"
finds free_host_twice memory.double_free "Invalid cudaFreeHost"
finds copy_too_much memory.copy_range "Invalid cudaMemcpy: the range leaves its allocation" "Writes 4004 bytes" "Called by cudaMemcpy in copy_too_much < main"
finds read_back_too_much memory.copy_range "Reads 4001 bytes"
finds fill_too_much memory.copy_range "Invalid cudaMemset" "Writes 4256 bytes"
finds copy_to_wrong_side memory.host_pointer "Invalid cudaMemcpy: an address of the host's own memory" "Writes 4000 bytes"
finds copy_after_free memory.use_after_free "Invalid cudaMemcpy: the memory was freed" "Freed by cudaFree in copy_after_free"
finds launch_after_free memory.use_after_free "Invalid __global__ read of 4 bytes: the memory was freed" \
    "scale" "Allocated by the 1st cudaMalloc, in make_buffer" "Freed by cudaFree in launch_after_free"
finds launch_on_host_memory memory.host_pointer "neither device, managed nor registered memory"
finds launch_past_end memory.out_of_bounds "is 0 bytes past the end of the nearest allocation"
finds uninitialised init.global "is byte 2000 of an allocation of 4000 bytes"
finds uninitialised_copy init.global "Allocated by the 2nd cudaMalloc"

# A correct program: nothing is said, and its figures are the same, but for the host's time (counted from the right, where
# no field has commas of its own).
figures() {
    "$W" report --csv --section kernels "$1" |
        awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "warplens__simulation_time.sum") k = NF - i } { $(NF - k) = ""; print }'
}
"$W" run -q -o "$T/good.wlp" --check all "$T/api" good 2>"$T/err"
same "a correct program" $? 0
same "a correct program says nothing" "$(cat "$T/err")" ""
"$W" run -q -o "$T/plain.wlp" "$T/api" good
same "figures with and without checks" "$(figures "$T/good.wlp")" "$(figures "$T/plain.wlp")"

# Exit codes.
"$W" run -q -f -o "$T/e.wlp" --check memory --error-exitcode 42 "$T/api" double_free 2>/dev/null
same "--error-exitcode with an error" $? 42
"$W" run -q -f -o "$T/e.wlp" --check memory --error-exitcode 42 "$T/api" good 2>/dev/null
same "--error-exitcode without an error" $? 0
"$W" run -q -f -o "$T/e.wlp" --check memory --error-exitcode 42 "$T/api" no_such_case 2>/dev/null
same "--error-exitcode: the program's own failure comes first" $? 2
"$W" run -q -f -o "$T/e.wlp" --check init --error-exitcode 42 "$T/api" double_free 2>/dev/null
same "only what is asked for is checked" $? 0

# Leaks: one line, or each as an error.
"$W" run -f -o "$T/leak.wlp" --check memory --error-exitcode 42 "$T/api" leak 2>"$T/err"
same "a leak is no error" $? 0
has "leak" "1 allocation of 4000 bytes in all never freed"
"$W" run -q -f -o "$T/leak.wlp" --check memory --leak-check --error-exitcode 42 "$T/api" leak 2>"$T/err"
same "--leak-check makes it one" $? 42
has "--leak-check" "Leak: 4000 bytes of device memory were never freed"
has "--leak-check" "Allocated by the 1st cudaMalloc, in make_buffer < leak < main"

# What is wrong with the options is said before the program runs.
"$W" run --check nonsense "$T/api" good 2>/dev/null
same "unknown check" $? 2
"$W" run --error-exitcode 3 "$T/api" good 2>/dev/null
same "--error-exitcode needs --check" $? 2

# The profile has the findings, in every format.
same "CSV" "$("$W" report --csv --section findings "$T/launch_after_free.wlp" | cut -d, -f1-3 | tr -d '\r' | tail -2)" \
    $'1,error,memory.use_after_free\n2,error,memory.use_after_free'
same "CSV of a finding without a place" "$("$W" report --csv --section findings "$T/leak.wlp" | tail -1 | tr -d '\r')" \
    "1,error,memory.leak,Leak: 4000 bytes of device memory were never freed,,,,1,,,"
"$W" report "$T/launch_after_free.wlp" >"$T/err"
has "report" "error: Invalid __global__ read of 4 bytes: the memory was freed [memory.use_after_free]"
has "report" "Freed by cudaFree in launch_after_free"
"$W" report --section findings "$T/good.wlp" >"$T/err"
has "report without findings" "none; \`warplens run --check all\` looks for them"
if command -v python3 >/dev/null; then
    "$W" report --json "$T/launch_after_free.wlp" >"$T/json"
    same "JSON" "$(python3 -c 'import json, sys; f = json.load(open(sys.argv[1]))["findings"][0]; print(f["rule"], f["evidence"]["count"], f["evidence"]["place"]["thread"])' "$T/json")" \
        "memory.use_after_free 1000 [0, 0, 0]"
fi
finish

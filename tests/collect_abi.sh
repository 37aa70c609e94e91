#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# src/collect/cupti_abi.h says the same as NVIDIA's headers, where a CUDA toolkit (13.0 or newer) is installed.
. tests/e2e/lib.sh
for root in "${CUDA_HOME:-}" /usr/local/cuda; do
    [ -f "$root/include/cupti_pcsampling.h" ] && [ -f "$root/include/cuda.h" ] && break
    root=""
done
[ -n "$root" ] || skip "no CUDA toolkit to compare with"
grep -q CUpti_ActivityKernel10 "$root/include/cupti_activity.h" || skip "this toolkit is older than 13.0"
checks=1
"${CC:-cc}" -std=c17 -Isrc -isystem "$root/include" -fsyntax-only tests/collect/abi.c 2>"$T/err" || fail "the interfaces differ" "$(cat "$T/err")"
# cupti_profiler_host.h is C++ in its includes only.
checks=$((checks + 1))
mkdir "$T/c" && : >"$T/c/string"
"${CC:-cc}" -std=c17 -Isrc -isystem "$T/c" -isystem "$root/include" -fsyntax-only tests/collect/abi_pm.c 2>"$T/err" ||
    fail "the interfaces of PM sampling differ" "$(cat "$T/err")"
finish

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Our declarations of the types of both APIs against the toolkit's, where one is installed (77: skipped).
set -eu
cuda=${CUDA_HOME:-/usr/local/cuda}
grep -q 'CUDART_VERSION *130' "$cuda/include/cuda_runtime_api.h" 2>/dev/null || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for dump in abi_dump driver_abi_dump; do
    cc -Isrc -o "$folder/ours" tests/cuda/$dump.c
    cc -DREAL -Isrc -I"$cuda/include" -o "$folder/real" tests/cuda/$dump.c
    "$folder/ours" >"$folder/ours.txt"
    "$folder/real" >"$folder/real.txt"
    diff "$folder/ours.txt" "$folder/real.txt"
done

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Our declarations of the runtime's types against the toolkit's, where one is installed (77: skipped).
set -eu
cuda=${CUDA_HOME:-/usr/local/cuda}
grep -q 'CUDART_VERSION *130' "$cuda/include/cuda_runtime_api.h" 2>/dev/null || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cc -Isrc -o "$folder/ours" tests/cuda/abi_dump.c
cc -DREAL -Isrc -I"$cuda/include" -o "$folder/real" tests/cuda/abi_dump.c
"$folder/ours" >"$folder/ours.txt"
"$folder/real" >"$folder/real.txt"
diff "$folder/ours.txt" "$folder/real.txt"

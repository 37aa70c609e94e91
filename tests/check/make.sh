#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the PTX of tests/check/*.cu again, with paths as on every machine. Needs nvcc; run in the source root.
set -eu
for source in tests/check/*.cu; do
    ptx=${source%.cu}.ptx
    arch=sm_80
    grep -q '^// arch: ' "$source" && arch=$(sed -n 's/^\/\/ arch: //p' "$source")
    "${NVCC:-nvcc}" -ptx -diag-suppress 20054 -lineinfo -std=c++17 -arch="$arch" -o "$ptx" "$source"
    sed -i -E -e "s|\"$PWD/|\"|" -e 's|"[^"]*/include/([^"]*)"|"cuda_runtime/\1"|' "$ptx"
done

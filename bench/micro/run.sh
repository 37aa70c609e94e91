#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the microbenchmarks for the GPU of this machine and writes their lines, with date, GPU and driver, to the file
# given (default: standard output). Clocks are left as they are.
set -euo pipefail
cd "$(dirname "$0")"
out=${1:-/dev/stdout}
arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d .)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
{
    echo "# $(date +%F), $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -1), $(nvcc --version | sed -n 's/.*release \([0-9.]*\).*/CUDA \1/p'), bench/micro/run.sh"
    printf '# name\tvalue\tunit\tnote\n'
    for program in arithmetic tensor memory l2 streams launch dispatch cold gather atomics host_memory constants; do
        nvcc -arch="sm_$arch" -O3 -std=c++17 -o "$folder/$program" "$program.cu"
        "$folder/$program"
    done
} >"$out"

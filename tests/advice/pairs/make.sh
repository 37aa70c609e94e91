#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the PTX of this folder of the pairs in examples/advice, as they are before their change. Needs nvcc 13.0.
set -eu
cd "$(dirname "$0")/../../.."
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
for launch in tests/advice/pairs/*.launch; do
    name=$(basename "$launch" .launch)
    env PWD=/proc/self/cwd "$nvcc" -ptx -O3 -arch=compute_90 -lineinfo "examples/advice/$name.cu" -o "tests/advice/pairs/$name.tmp"
    sed -e '1i // SPDX-License-Identifier: Apache-2.0' -e '/^[[:space:]]*\.file/s|"/proc/self/cwd/|"|' \
        -e '/^[[:space:]]*\.file/s|"/.*/\([^/"]*\)"|"cuda_runtime/\1"|' "tests/advice/pairs/$name.tmp" >"tests/advice/pairs/$name.ptx"
    rm "tests/advice/pairs/$name.tmp"
done

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the PTX of this folder of the pairs in examples/advice: NAME.ptx as they are before their change, NAME.after.ptx
# where the launch file says that the same launch runs it. Needs nvcc 13.0. Names of inlined functions have a number that
# nvcc makes of the source's folder (INTERNAL_12345678_); eight zeros stand for it, so that every folder gives the same.
set -eu
cd "$(dirname "$0")/../../.."
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
folder=tests/advice/pairs

make_ptx() { # NAME OUTPUT OPTIONS...
    env PWD=/proc/self/cwd "$nvcc" -ptx -O3 -arch=compute_90 -lineinfo "${@:3}" "$(find examples/advice -name "$1.cu")" -o "$2.tmp"
    sed -e '1i // SPDX-License-Identifier: Apache-2.0' -e '/^[[:space:]]*\.file/s|"/proc/self/cwd/|"|' \
        -e '/^[[:space:]]*\.file/s|"/.*/\([^/"]*\)"|"cuda_runtime/\1"|' \
        -e 's/\(73,78,84,69,82,78,65,76,95\)\(,[0-9]*\)\{8\},95/\1,48,48,48,48,48,48,48,48,95/' "$2.tmp" >"$2"
    rm "$2.tmp"
}

for launch in "$folder"/*.launch; do
    name=$(basename "$launch" .launch)
    make_ptx "$name" "$folder/$name.ptx"
    ! grep -q '^# After:' "$launch" || make_ptx "$name" "$folder/$name.after.ptx" -DAFTER
done

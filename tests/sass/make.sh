#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes the cubins of this folder and what nvdisasm says of them (CUDA toolkit 13.0); run in the source root. app.* are of
# another program: see README.md. $NVDISASM - leaves the listings as they are.
set -eu
cd tests/sass
for sm in 80 90 120; do
    # nvcc writes the working directory into the line tables: it is told one that is true everywhere
    env PWD=/proc/self/cwd nvcc -cubin -lineinfo -std=c++17 -arch=sm_$sm -o kernels_$sm.cubin kernels.cu
    [ "${NVDISASM:-nvdisasm}" = - ] && continue
    "${NVDISASM:-nvdisasm}" -json kernels_$sm.cubin >kernels_$sm.json
    "${NVDISASM:-nvdisasm}" -bbcfg kernels_$sm.cubin | python3 edges.py >kernels_$sm.edges
done

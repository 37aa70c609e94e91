#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes the samples anew, in the current folder, from the sources in sources/. Needs nvcc 13.0 and gcc.
set -euo pipefail
here=$(dirname "$0")
cp "$here"/sources/* .
for mode in none speed balance size; do nvcc -fatbin --compress-mode=$mode -o one_$mode.fatbin one.cu; done
nvcc -fatbin --compress-mode=size -gencode arch=compute_80,code=sm_80 -gencode arch=compute_80,code=compute_80 \
    -gencode arch=compute_90a,code=compute_90a -gencode arch=compute_90a,code=sm_90a \
    -gencode arch=compute_100f,code=compute_100f -o many_targets.fatbin one.cu
nvcc -fatbin --compress-mode=size -gencode arch=compute_80,code=sm_80 -o no_ptx.fatbin one.cu
nvcc -fatbin -dc -gencode arch=compute_80,code=lto_80 -o lto.fatbin one.cu
# Line information names files by absolute path: make it relative, then pack as nvcc does.
for object in rdc_a rdc_b; do
    nvcc -ptx -rdc=true -lineinfo -o $object.ptx $object.cu
    sed -i 's|"/.*/|"|' $object.ptx
    fatbinary --create=$object.fatbin --image3=kind=ptx,sm=75,file=$object.ptx
done
nvcc -ptx -arch=sm_75 -lineinfo -o figures.ptx figures.cu
sed -i 's|"/.*/|"|' figures.ptx
for sm in 75 90; do ptxas -arch=sm_$sm -lineinfo -v -o figures_$sm.cubin figures.ptx; done
# Programs, as small as they get.
nvcc -DMAIN -cudart shared -Xlinker -s -Xlinker --build-id=0x0123456789abcdef --compress-mode=size \
    -o program_shared one.cu
nvcc -rdc=true -cudart shared -Xlinker -s --compress-mode=size -o program_rdc rdc_a.cu rdc_b.cu
gcc -nostdlib -static -Wl,--build-id=none -Wl,-z,noseparate-code -o program_static static.c
strip -o program_stripped program_static
rm -f ./*.cu ./*.c figures.ptx

// SPDX-License-Identifier: Apache-2.0
// Where a GPU notices accesses behind a block's shared memory: shared_ends KIND BYTES OFFSET makes one access of 4
// bytes (KIND 0: writes dynamic shared memory of BYTES; 1: writes 48 bytes of static shared memory; 2: reads dynamic)
// and prints what cudaDeviceSynchronize says. A process for each, as a fault ends it.
#include <stdio.h>
#include <stdlib.h>

__global__ void write_dynamic(int offset, int *out) {
    extern __shared__ char dynamic[];
    *(volatile int *)(dynamic + offset) = 7;
    out[0] = *(volatile int *)(dynamic + offset);
}
__global__ void write_static(int offset, int *out) {
    __shared__ int words[12];
    words[threadIdx.x % 12] = 1;
    __syncthreads();
    *(volatile int *)((char *)words + offset) = 7;
    out[0] = *(volatile int *)((char *)words + offset) + words[0];
}
__global__ void read_dynamic(int offset, int *out) {
    extern __shared__ char dynamic[];
    out[0] = *(volatile int *)(dynamic + offset);
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: shared_ends KIND BYTES OFFSET\n");
        return 2;
    }
    int kind = atoi(argv[1]), bytes = atoi(argv[2]), offset = atoi(argv[3]), *out;
    cudaMalloc(&out, 4);
    if (bytes > 48 * 1024) cudaFuncSetAttribute(write_dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    if (kind == 0)
        write_dynamic<<<1, 1, bytes>>>(offset, out);
    else if (kind == 1)
        write_static<<<1, 1>>>(offset, out);
    else
        read_dynamic<<<1, 1, bytes>>>(offset, out);
    printf("%d %d %d %s\n", kind, bytes, offset, cudaGetErrorName(cudaDeviceSynchronize()));
}

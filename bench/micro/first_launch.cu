// SPDX-License-Identifier: Apache-2.0
// What the first launch that a profiler measures finds dirty in the L2: three launches that read, or write, so many MiB,
// with nothing before them, a small kernel between them, a memset or a copy before. ncu measures them from outside, with
// --launch-skip from a later one on.
//   ncu --clock-control none --metrics dram__bytes_write.sum,dram__bytes_read.sum first_launch READ|WRITE MIB
//       [between|memset|copy]
#include <cstring>

#include "micro.h"

enum { BLOCKS = 264, THREADS = 512, MOST = 256 << 20, COPIED = 64 << 20 };
#define EVERY(i, count) \
    for (size_t i = threadIdx.x + (size_t)blockIdx.x * THREADS; i < (count); i += (size_t)BLOCKS * THREADS)

__global__ void read_all(const uint4 *p, size_t count, unsigned *out) {
    unsigned sum = 0;
    EVERY(i, count) {
        uint4 v = __ldcg(p + i);
        sum += v.x ^ v.y;
    }
    if (sum == 12345) *out = sum;
}
__global__ void write_all(uint4 *p, size_t count) { EVERY(i, count) p[i] = make_uint4(1, 2, 3, 4); }
__global__ void small(unsigned *out) {
    if (threadIdx.x == 999) *out = 1;
}

int main(int argc, char **argv) {
    if (argc < 3 || atoi(argv[2]) < 1 || atoi(argv[2]) > MOST >> 20) {
        fprintf(stderr, "usage: first_launch READ|WRITE MIB [between|memset|copy], 1 to 256 MiB\n");
        return 2;
    }
    const char *before = argc > 3 ? argv[3] : "";
    size_t count = ((size_t)atoi(argv[2]) << 20) / sizeof(uint4);
    uint4 *data;
    unsigned *out;
    CHECK(cudaMalloc(&data, MOST));
    CHECK(cudaMalloc(&out, 4096));
    if (!strcmp(before, "memset")) CHECK(cudaMemset(data, 0, MOST));
    if (!strcmp(before, "copy")) {
        void *host = malloc(COPIED);
        if (!host) return 1;
        CHECK(cudaMemcpy(data, host, COPIED, cudaMemcpyHostToDevice));
        free(host);
    }
    for (int k = 0; k < 3; k++) {
        if (!strcmp(argv[1], "WRITE"))
            write_all<<<BLOCKS, THREADS>>>(data, count);
        else
            read_all<<<BLOCKS, THREADS>>>(data, count, out);
        CHECK(cudaDeviceSynchronize());
        if (!strcmp(before, "between")) small<<<1, 32>>>(out);
        CHECK(cudaDeviceSynchronize());
    }
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// What CTAs pay that do something one after the other, with a lock that all of them try to take all the time; and
// additions to so many words by all threads of a grid, in turn.
#include "micro.h"

__global__ void critical(int *lock, float *sum, int rounds, i64 *cycles) {
    i64 begin = now();
    for (int i = 0; i < rounds; i++) {
        while (atomicCAS(lock, 0, 1) != 0)
            ;
        *(volatile float *)sum = *(volatile float *)sum + 1;
        __threadfence();
        atomicExch(lock, 0);
    }
    if (threadIdx.x == 0) cycles[blockIdx.x] = now() - begin;
}
__global__ void critical_plain(int *lock, float *sum, i64 *cycles) {
    i64 begin = now();
    while (atomicCAS(lock, 0, 1) != 0)
        ;
    *sum += 1;
    atomicExch(lock, 0);
    if (threadIdx.x == 0) cycles[blockIdx.x] = now() - begin;
}
__global__ void increments(int *words, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(words + i % count, 1);
}

int main() {
    i64 *cycles = cycles_buffer(), low, high;
    int *lock;
    float *sum;
    char text[128];
    CHECK(cudaMalloc(&lock, 1 << 20));
    CHECK(cudaMalloc(&sum, 256));
    CHECK(cudaMemset(lock, 0, 1 << 20));
    for (int ctas : {1, 2, 4, 8, 16, 32, 64, 132})
        for (int warm = 0; warm < 2; warm++) {
            critical<<<ctas, 1>>>(lock, sum, 4, cycles);
            cycles_range(cycles, ctas, &low, &high);
            snprintf(text, sizeof text, "locks/fenced/%d_ctas", ctas);
            if (warm) report(text, (double)high / (4 * ctas), "cycles/turn", "four turns each");
            critical_plain<<<ctas, 1>>>(lock, sum, cycles);
            cycles_range(cycles, ctas, &low, &high);
            snprintf(text, sizeof text, "locks/plain/%d_ctas", ctas);
            if (warm) report(text, (double)high / ctas, "cycles/turn", "one turn each");
        }
    for (int count : {1, 8, 10, 32, 64, 100, 128, 200, 256, 512, 1000, 1024, 4096, 65536}) {
        double ns = ns_of([&] { increments<<<1000, 1000>>>(lock, count); }, 4);
        snprintf(text, sizeof text, "locks/increments/%d_words", count);
        report(text, ns * 1e-3, "us", "1000 CTAs of 1000 threads");
    }
}

// SPDX-License-Identifier: Apache-2.0
// How long single loads from DRAM take, one after the other: the distribution, and when the slow ones come. One warp
// loads a word, waits, loads the next.
// `dram_latency/STATE/STEP`: quantiles of 8,192 loads STEP bytes apart; STATE: what the L2 holds before - clean (other
// lines that were read) or dirty (that were written). `slow/...`: cycles from the first load to each that took more
// than 100 cycles longer than the median, and how much more.
#include <algorithm>

#include "micro.h"

enum { LOADS = 8192 };

__global__ void chase(const char *data, size_t step, unsigned *begin, unsigned *took) {
    unsigned v = 0;
    unsigned first = (unsigned)now();
    for (int i = 0; i < LOADS; i++) {
        unsigned from = (unsigned)now(), to;
        asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(data + i * step + v) : "memory");
        if (v == 0x12345678) return;
        to = (unsigned)now();
        begin[i] = from - first;
        took[i] = to - from;
    }
}

__global__ void fill(unsigned *data, size_t words, bool write, unsigned *sink) {
    unsigned sum = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < words; i += gridDim.x * (size_t)blockDim.x)
        if (write)
            data[i] = 0;
        else
            sum += data[i];
    if (sum == 0x12345678) *sink = 1;
}

int main() {
    const size_t size = 1ull << 30, other = 512 << 20;
    char *data;
    unsigned *filled, *times, *sink, *at = new unsigned[2 * LOADS];
    CHECK(cudaMalloc(&data, size));
    CHECK(cudaMalloc(&filled, other));
    CHECK(cudaMalloc(&times, 2 * LOADS * sizeof *times));
    CHECK(cudaMalloc(&sink, 4));
    CHECK(cudaMemset(data, 0, size));
    CHECK(cudaMemset(filled, 0, other));
    for (bool write : {false, true})
        for (size_t step : {64, 128, 4096, 65536, 131072})
            for (int round = 0; round < 2; round++) {
                fill<<<264, 512>>>(filled, other / 4, write, sink);
                chase<<<1, 1>>>(data, step, times, times + LOADS);
                CHECK(cudaMemcpy(at, times, 2 * LOADS * sizeof *at, cudaMemcpyDeviceToHost));
                unsigned *took = at + LOADS, sorted[LOADS];
                std::copy(took, took + LOADS, sorted);
                std::sort(sorted, sorted + LOADS);
                const char *state = write ? "dirty" : "clean";
                double sum = 0;
                for (int i = 0; i < LOADS; i++) sum += took[i];
                printf("dram_latency/%s/%zu\t%.1f\tcycles\tquantiles", state, step, sum / LOADS);
                for (int q : {0, 5, 25, 50, 75, 80, 85, 90, 95, 99, 100})
                    printf(" %d: %u", q, sorted[std::min(LOADS - 1, q * LOADS / 100)]);
                printf("\nslow/%s/%zu\t-\tcycles\t", state, step);
                int shown = 0;
                for (int i = 0; i < LOADS && shown < 200; i++)
                    if (took[i] > sorted[LOADS / 2] + 100)
                        printf(" %u:%u", at[i], took[i] - sorted[LOADS / 2]), shown++;
                printf("\n");
            }
    return 0;
}

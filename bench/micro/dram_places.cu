// SPDX-License-Identifier: Apache-2.0
// How long a load of a line takes from DRAM and, after it, from the L2, line by line: does the time of a miss go with the
// distance of the hit? One thread on each of some SMs, one load after the other; the least of 12 rounds leaves out
// refreshes. `places/SM`: for each 20 cycles of the hit's time: how many lines, mean and quantiles of the miss's.
// `refresh/all`: loads that took more than 100 cycles longer than the line's least, per mille, and their quantiles.
#include <algorithm>
#include <vector>

#include "micro.h"

enum { LINES = 2048, ROUNDS = 12 };

__global__ void chase(const char *data, size_t step, unsigned *took, unsigned sm) {
    unsigned id, v = 0;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
    if (id != sm) return;
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < LINES; i++) {
            unsigned from = (unsigned)now(), to;
            asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(data + i * step + v) : "memory");
            if (v == 0x12345678) return;
            to = (unsigned)now();
            took[turn * LINES + i] = to - from;
        }
}

__global__ void fill(const unsigned *data, size_t words, unsigned *sink) {
    unsigned sum = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < words; i += gridDim.x * (size_t)blockDim.x)
        sum += data[i];
    if (sum == 0x12345678) *sink = 1;
}

int main() {
    const size_t step = 4096 + 128, other = 512 << 20;
    char *data;
    unsigned *filled, *times, *sink;
    CHECK(cudaMalloc(&data, LINES * step));
    CHECK(cudaMalloc(&filled, other));
    CHECK(cudaMalloc(&times, 2 * LINES * sizeof *times));
    CHECK(cudaMalloc(&sink, 4));
    CHECK(cudaMemset(data, 0, LINES * step));
    CHECK(cudaMemset(filled, 0, other));
    for (unsigned sm : {0u, 1u, 37u, 90u}) {
        std::vector<unsigned> least(2 * LINES, ~0u), at(2 * LINES), all;
        std::vector<std::vector<unsigned>> took;
        for (int round = 0; round < ROUNDS; round++) {
            fill<<<264, 512>>>(filled, other / 4, sink);
            chase<<<132, 1>>>(data, step, times, sm);
            CHECK(cudaMemcpy(at.data(), times, 2 * LINES * sizeof(unsigned), cudaMemcpyDeviceToHost));
            for (int i = 0; i < 2 * LINES; i++) least[i] = std::min(least[i], at[i]);
            took.push_back(at);
        }
        for (unsigned from = 160; from < 460; from += 20) {
            std::vector<unsigned> m;
            for (int i = 0; i < LINES; i++)
                if (least[LINES + i] >= from && least[LINES + i] < from + 20) m.push_back(least[i]);
            if (m.empty()) continue;
            std::sort(m.begin(), m.end());
            double sum = 0;
            for (unsigned x : m) sum += x;
            printf("places/%u/hit_%u\t%.1f\tcycles\t%zu lines", sm, from, sum / m.size(), m.size());
            for (int q : {0, 10, 25, 50, 75, 90, 100}) printf(" %d: %u", q, m[std::min(m.size() - 1, q * m.size() / 100)]);
            printf("\n");
        }
        for (auto &t : took)
            for (int i = 0; i < LINES; i++) all.push_back(t[i] - least[i]);
        std::sort(all.begin(), all.end());
        printf("refresh/%u\t-\tcycles\t", sm);
        for (int q : {50, 80, 84, 85, 86, 87, 88, 89, 90, 92, 94, 96, 98, 99}) printf(" %d: %u", q, all[q * all.size() / 100]);
        printf(" most: %u\nmisses/%u\t-\tcycles\t", all.back(), sm);
        std::vector<unsigned> m(least.begin(), least.begin() + LINES);
        std::sort(m.begin(), m.end());
        for (int q = 0; q < 100; q += 5) printf(" %d: %u", q, m[q * LINES / 100]);
        printf("\n");
    }
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// How long __nanosleep sleeps: the cycles from before it to behind it, by what was asked for and how many warps of an SM
// sleep side by side.
#include <algorithm>
#include <vector>

#include "micro.h"

enum { ROUNDS = 64 };

__global__ void sleeps(unsigned ns, i64 *cycles) {
    int warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (int i = 0; i < ROUNDS; i++) {
        i64 begin = now();
        __nanosleep(ns);
        i64 end = now();
        if (threadIdx.x % 32 == 0) cycles[i * warps + warp] = end - begin;
    }
}

__global__ void clock_rate(i64 *cycles) {
    u64 begin_ns, end_ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin_ns)::"memory");
    i64 begin = now();
    do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(end_ns)::"memory");
    while (end_ns - begin_ns < 2000000);
    cycles[0] = now() - begin;
    cycles[1] = (i64)(end_ns - begin_ns);
}

int main() {
    i64 *cycles = cycles_buffer();
    char text[128], note[160];
    for (int warm = 0; warm < 20; warm++) clock_rate<<<1, 1>>>(cycles);
    report("sleeps/clock", (double)cycles_read(cycles, 0) / (double)cycles_read(cycles, 1), "cycles/ns", "");
    for (int warps : {1, 8, 32})
        for (unsigned ns : {0u, 1u, 20u, 40u, 100u, 200u, 400u, 700u, 1000u, 2000u, 4000u, 10000u, 40000u, 100000u, 400000u, 1000000u, 4000000u}) {
            for (int warm = 0; warm < 2; warm++) sleeps<<<1, 32 * warps>>>(ns, cycles);
            std::vector<i64> all(ROUNDS * warps);
            CHECK(cudaDeviceSynchronize());
            CHECK(cudaMemcpy(all.data(), cycles, all.size() * sizeof(i64), cudaMemcpyDeviceToHost));
            std::sort(all.begin(), all.end());
            double mean = 0;
            for (i64 c : all) mean += (double)c / (double)all.size();
            snprintf(text, sizeof text, "sleeps/%u_ns/%d_warps", ns, warps);
            snprintf(note, sizeof note, "mean; least %lld, quartiles %lld %lld %lld, most %lld", all[0], all[all.size() / 4], all[all.size() / 2],
                     all[all.size() * 3 / 4], all.back());
            report(text, mean, "cycles", note);
        }
}

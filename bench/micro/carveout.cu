// SPDX-License-Identifier: Apache-2.0
// What cudaFuncSetCacheConfig and the carve-out attribute leave of the L1: latency of a chain of loads through so many
// KiB.
#include "micro.h"

__global__ void chase(const u64 *at, int steps, i64 *cycles, u64 *sink) {
    u64 next = (u64)at;
    for (int i = 0; i < steps; i++) next = *(const u64 *)next;
    i64 begin = now();
    for (int i = 0; i < steps; i++) next = *(const u64 *)next;
    cycles[0] = now() - begin;
    *sink = next;
}

int main() {
    i64 *cycles = cycles_buffer();
    u64 *chain, *sink, *host = (u64 *)malloc(256 << 10);
    char text[128];
    CHECK(cudaMalloc(&chain, 256 << 10));
    CHECK(cudaMalloc(&sink, 64));
    static const struct {
        const char *name;
        int config, carveout;
    } ways[] = {{"none", 0, -1}, {"prefer_shared", 1, -1}, {"prefer_l1", 2, -1}, {"prefer_equal", 3, -1}, {"carveout_100", 0, 100}, {"carveout_50", 0, 50}, {"carveout_0", 0, 0}};
    for (auto &w : ways)
        for (int kib : {16, 24, 32, 48, 64, 96, 128, 160, 192, 224, 240, 250}) {
            int steps = kib * 1024 / 128;
            for (int i = 0; i < steps; i++) host[i * 16] = (u64)(chain + (i + 1) % steps * 16);
            CHECK(cudaMemcpy(chain, host, kib << 10, cudaMemcpyHostToDevice));
            CHECK(cudaFuncSetCacheConfig(chase, (cudaFuncCache)w.config));
            CHECK(cudaFuncSetAttribute(chase, cudaFuncAttributePreferredSharedMemoryCarveout, w.carveout));
            chase<<<1, 1>>>(chain, steps, cycles, sink);
            snprintf(text, sizeof text, "carveout/%s/%d_KiB", w.name, kib);
            report(text, (double)cycles_read(cycles, 0) / steps, "cycles/load", "lines of 128 bytes, second round");
        }
}

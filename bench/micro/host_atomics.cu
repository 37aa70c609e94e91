// SPDX-License-Identifier: Apache-2.0
// Atomics on the host's memory: nanoseconds of each lane's. host_atomics/KIND/LANES/WARPS: KIND: used - their results
// are; unused; words - each lane has its own word; LANES of each warp; warps of 32 in one block, above that in blocks
// of 32.
#include "micro.h"

enum { TURNS = 16 };

__global__ void used(int *word, int lanes, int apart, int *out) {
    int lane = threadIdx.x % 32, sum = 0;
    if (lane >= lanes) return;
    int *mine = word + apart * (blockIdx.x * blockDim.x + threadIdx.x);
#pragma unroll 1
    for (int i = 0; i < TURNS; i++) sum += atomicAdd(mine, sum + lane);
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void unused(int *word, int lanes, int value) {
    if ((int)threadIdx.x % 32 >= lanes) return;
#pragma unroll 1
    for (int i = 0; i < TURNS; i++) atomicAdd(word, value + threadIdx.x);
}

int main() {
    int *word, *out;
    char text[128];
    CHECK(cudaHostAlloc(&word, 1 << 22, cudaHostAllocMapped));
    CHECK(cudaMalloc(&out, 1 << 22));
    for (int lanes : {1, 2, 8, 32})
        for (int warps : {1, 4, 32, 1024}) {
            int blocks = warps > 32 ? warps / 32 : 1, threads = warps > 32 ? 1024 : warps * 32;
            double count = (double)TURNS * lanes * warps;
            double a = ns_of([&] { used<<<blocks, threads>>>(word, lanes, 0, out); });
            double b = ns_of([&] { unused<<<blocks, threads>>>(word, lanes, 1); });
            double c = ns_of([&] { used<<<blocks, threads>>>(word, lanes, 1, out); });
            snprintf(text, sizeof text, "host_atomics/used/%d/%d", lanes, warps), report(text, a / count, "ns", "");
            snprintf(text, sizeof text, "host_atomics/unused/%d/%d", lanes, warps), report(text, b / count, "ns", "");
            snprintf(text, sizeof text, "host_atomics/words/%d/%d", lanes, warps), report(text, c / count, "ns", "");
        }
}

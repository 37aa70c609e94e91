// SPDX-License-Identifier: Apache-2.0
// What a kernel's shared memory leaves of the L1: of which steps of its size a thread finds all lines again that it
// walked over before. Only one thread of the grid walks, all others end at once.
// `l1_carved/THREADS/BYTES/behind_BEFORE`: KiB of L1 beside CTAs of so much dynamic shared memory, one a SM, behind a
// launch with BEFORE bytes (same: one of the same kernel); `.../ctas_N`: with N CTAs, behind a launch of the same.
#include "l1_lines.h"

enum { STEPS = 11, SMS = 132 };
__constant__ int kib[STEPS] = {20, 28, 52, 60, 84, 116, 148, 184, 216, 232, 240};

// The largest size of which all but 16 lines are found. What is waited for goes to shared memory, if there is any.
template <bool shared> __global__ void walk(const unsigned *lines, unsigned *sink, int *most) {
    extern __shared__ unsigned own[];
    if (blockIdx.x || threadIdx.x) return;
    int best = 0;
    for (int s = 0; s < STEPS; s++) {
        int count = kib[s] * 8, found = 0;
        for (int pass = 0; pass < 3; pass++) {
            found = 0;
            for (int i = 0; i < count; i++) found += is_there(lines, i, shared ? own : sink);
        }
        if (found >= count - 16) best = kib[s];
    }
    *most = best;
}

__global__ void before(int count) {
    extern __shared__ unsigned own[];
    if (count) own[threadIdx.x] = count;
}

static unsigned *lines, *sink;
static int *most;

static void start(int ctas, int threads, int bytes) {
    if (bytes)
        walk<true><<<ctas, threads, bytes>>>(lines, sink, most);
    else
        walk<false><<<ctas, threads>>>(lines, sink, most);
    CHECK(cudaGetLastError());
}

static void tell(int threads, int bytes, const char *how) {
    char name[96];
    int found;
    CHECK(cudaMemcpy(&found, most, sizeof found, cudaMemcpyDeviceToHost));
    snprintf(name, sizeof name, "l1_carved/%d/%d/%s", threads, bytes, how);
    report(name, found, "KiB", "");
}

int main() {
    CHECK(cudaMalloc(&lines, 1 << 20));
    CHECK(cudaMemset(lines, 0, 1 << 20));
    CHECK(cudaMalloc(&sink, 1 << 20));
    CHECK(cudaMalloc(&most, sizeof *most));
    CHECK(cudaFuncSetAttribute(walk<true>, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 << 10));
    CHECK(cudaFuncSetAttribute(before, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 << 10));
    for (int threads : {1, 32, 64, 96, 128, 192, 256, 384, 512, 1024})
        for (int bytes :
             {0, 64, 1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 24 << 10, 32 << 10, 48 << 10, 100 << 10}) {
            start(SMS, threads, bytes);
            start(SMS, threads, bytes);
            tell(threads, bytes, "behind_same");
            before<<<SMS, 1024>>>(0);
            start(SMS, threads, bytes);
            tell(threads, bytes, "behind_0");
            before<<<SMS, 1024, 200 << 10>>>(0);
            start(SMS, threads, bytes);
            tell(threads, bytes, "behind_204800");
        }
    for (int ctas : {1, 66, 132, 264, 4224}) {
        char how[32];
        start(ctas, 256, 8 << 10);
        start(ctas, 256, 8 << 10);
        snprintf(how, sizeof how, "ctas_%d", ctas);
        tell(256, 8 << 10, how);
    }
    return 0;
}

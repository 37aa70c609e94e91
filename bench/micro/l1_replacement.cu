// SPDX-License-Identifier: Apache-2.0
// Which line of a set the L1 gives up. One thread loads `hot` lines again and again, and behind each of them `cold`
// lines that nobody has loaded before: lines that have been used last stay where the least recently used one goes;
// where the oldest one goes, whatever its use, each hot line goes with every 1,984th line that comes.
// `l1_replacement/HOT/COLD`: per cent of the loads of hot lines that hit. `twice`: each hot line is loaded twice in a
// row, the first of the two counts. `wide`: in a CTA of 1,024 threads, beside which the L1 is larger (l1_carved.cu).
#include "micro.h"

enum { HIT = 150, PASSES = 48, WARM = 16, STREAM = 1 << 20 };  // cycles; passes; lines

__device__ static inline unsigned load(const unsigned *at) {
    unsigned v;
    asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(at) : "memory");
    return v;
}

__global__ void keep(const unsigned *hot, const unsigned *cold, int lines, int between, int twice, int *hits) {
    __shared__ volatile unsigned there;
    if (threadIdx.x) return;
    unsigned next = 0;
    int found = 0;
    for (int pass = 0; pass < PASSES; pass++)
        for (int i = 0; i < lines; i++) {
            i64 begin = now();
            there = load(hot + i * 32);
            i64 end = now();
            found += pass >= WARM && end - begin < HIT;
            if (twice) there = load(hot + i * 32);
            for (int k = 0; k < between; k++) there = load(cold + (size_t)(next++ % STREAM) * 32);
        }
    *hits = found;
}

int main() {
    unsigned *data;
    int *hits, found;
    CHECK(cudaMalloc(&data, (size_t)(STREAM + 4096) * 128));
    CHECK(cudaMemset(data, 0, (size_t)(STREAM + 4096) * 128));
    CHECK(cudaMalloc(&hits, sizeof *hits));
    const struct {
        const char *name;
        int threads, twice;
    } ways[] = {{"", 1, 0}, {"/twice", 1, 1}, {"/wide", 1024, 0}};
    for (auto &w : ways)
        for (int lines : {64, 128, 256, 512})
            for (int between : {0, 1, 2, 4}) {
                char text[64];
                keep<<<1, w.threads>>>(data, data + 4096 * 32, lines, between, w.twice, hits);
                CHECK(cudaMemcpy(&found, hits, sizeof found, cudaMemcpyDeviceToHost));
                snprintf(text, sizeof text, "l1_replacement/%d/%d%s", lines, between, w.name);
                report(text, 100.0 * found / (lines * (PASSES - WARM)), "%", "");
            }
    return 0;
}

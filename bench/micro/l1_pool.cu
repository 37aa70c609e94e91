// SPDX-License-Identifier: Apache-2.0
// What goes from the L1 when all its lines are in use, though the set that wants one more has a tag to spare. A thread
// of each SM loads FILL neighbouring lines, the first AGAIN of them once more, then COUNT from line EXTRA on, and looks
// whether one line is still there; each thread looks for another one, so that all lines have been looked for at last.
// `l1_pool/FILL/AGAIN/EXTRA/COUNT`: of the FILL lines those that are gone, and which; `again/...`: of the COUNT lines.
// `l1_pool/walk/THREADS/N`: hits of the last of 16 passes over N neighbouring lines; the passes. Beside CTAs of one
// thread the L1 has 1,472 lines, of 1,024 threads 1,920 or more (l1_carved.cu).
#include <vector>

#include "l1_lines.h"

enum { PASSES = 16, SMS = 132, TOLD = 600 };

struct Plan {
    int fill, again, extra, count;
};

__global__ void look(const unsigned *lines, Plan p, int first, bool *gone) {
    __shared__ unsigned there;
    if (threadIdx.x) return;
    int probe = first + blockIdx.x;
    for (int i = 0; i < p.fill; i++) visit(lines, i, &there);
    for (int i = 0; i < p.again; i++) visit(lines, i, &there);
    for (int i = 0; i < p.count; i++) visit(lines, p.extra + i, &there);
    gone[blockIdx.x] = !is_there(lines, probe, &there);
}

__global__ void walk(const unsigned *lines, int count, int *hits) {
    __shared__ unsigned there;
    if (threadIdx.x) return;
    for (int pass = 0; pass < PASSES; pass++) {
        int found = 0;
        for (int i = 0; i < count; i++) found += is_there(lines, i, &there);
        hits[pass] = found;
    }
}

// Which of `count` lines from `first` on are gone.
static std::vector<int> gone_of(const unsigned *lines, Plan p, int first, int count, bool *buffer) {
    std::vector<int> all;
    bool gone[SMS];
    for (int at = 0; at < count; at += SMS) {
        look<<<SMS, 1>>>(lines, p, first + at, buffer);
        CHECK(cudaMemcpy(gone, buffer, sizeof gone, cudaMemcpyDeviceToHost));
        for (int i = 0; i < SMS && at + i < count; i++)
            if (gone[i]) all.push_back(first + at + i);
    }
    return all;
}

static void tell(const char *kind, Plan p, const std::vector<int> &gone) {
    printf("l1_pool%s/%d/%d/%d/%d\t%zu\tlines\t", kind, p.fill, p.again, p.extra, p.count, gone.size());
    for (size_t i = 0; i < gone.size() && i < TOLD; i++) printf(" %d", gone[i]);
    printf("\n");
    fflush(stdout);
}

int main() {
    unsigned *lines;
    bool *gone;
    int *hits, found[PASSES];
    CHECK(cudaMalloc(&lines, 16 << 20));
    CHECK(cudaMemset(lines, 0, 16 << 20));
    CHECK(cudaMalloc(&gone, SMS));
    CHECK(cudaMalloc(&hits, sizeof found));
    for (int threads : {1, 1024})
        for (int count = 1408; count <= 2176; count += 64) {
            walk<<<1, threads>>>(lines, count, hits);
            CHECK(cudaMemcpy(found, hits, sizeof found, cudaMemcpyDeviceToHost));
            printf("l1_pool/walk/%d/%d\t%d\thits\t", threads, count, found[PASSES - 1]);
            for (int i = 0; i < PASSES; i++) printf(" %d", found[i]);
            printf("\n");
        }
    const Plan plans[] = {{1920, 0, 1920, 0},   {1920, 0, 1920, 1},   {1920, 0, 1920, 8},     {1920, 0, 1920, 64},
                          {1920, 0, 1920, 128}, {1920, 960, 1920, 1}, {1920, 960, 1920, 8},   {1920, 960, 1920, 64},
                          {1920, 0, 2048, 1},   {1920, 0, 2048, 8},   {1920, 0, 2048, 128},   {1536, 0, 1536, 384},
                          {1536, 0, 4096, 448}, {1024, 0, 4096, 960}, {1024, 512, 4096, 960}, {1024, 0, 4096, 1024},
                          {512, 0, 4096, 1536}, {512, 0, 4096, 1400}, {256, 0, 4096, 1024},   {256, 0, 4096, 1664}};
    for (Plan p : plans) {
        tell("", p, gone_of(lines, p, 0, p.fill, gone));
        if (p.count) tell("/extra", p, gone_of(lines, p, p.extra, p.count, gone));
    }
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// Which scheduler of an SM a warp of a CTA comes to. CTAs of `warps` warps, `ctas` of them on each SM, in which only
// the first warp (`first`), or every fourth (`fourth`), has work: 4,096 independent multiply-adds, of which a scheduler
// issues one a cycle. `warp_places/WARPS/CTAS/WHICH`: cycles from the first begin to the last end of an SM (median of
// the SMs) for 4,096, that is, how many warps with work the scheduler has that has most of them. `ids`: %warpid of the
// first warps of the CTAs of SM 0, in the order in which they began. `later`: of a grid of four times as many CTAs.
#include <algorithm>
#include <vector>

#include "micro.h"

enum { TURNS = 512, OPS = 8, MOST = 32768 };

struct Place {
    i64 begin, end;
    unsigned sm, warp;
};

__global__ void work(Place *places, int every, float *out) {
    extern __shared__ char filler[];
    unsigned warp = threadIdx.x / 32, sm, id;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    asm volatile("mov.u32 %0, %%warpid;" : "=r"(id));
    if (every ? warp % every : warp) return;
    float x[OPS];
    for (int k = 0; k < OPS; k++) x[k] = threadIdx.x + k;
    i64 begin = now();
    for (int i = 0; i < TURNS; i++)
#pragma unroll
        for (int k = 0; k < OPS; k++) x[k] = fmaf(x[k], 0.5f, 1.0f);
    i64 end = now();
    float sum = filler[0];
    for (int k = 0; k < OPS; k++) sum += x[k];
    out[blockIdx.x * 32 + threadIdx.x % 32] = sum;
    if (threadIdx.x == 0) places[blockIdx.x] = {begin, end, sm, id};
    if (threadIdx.x % 32 == 0) atomicMax((u64 *)&places[blockIdx.x].end, (u64)end);
}

static Place *places;
static float *out;

static void measure(int warps, int ctas, int every, int rounds, int sms, int memory, bool ids) {
    int grid = sms * ctas * rounds, shared = memory / ctas - 1024;
    CHECK(cudaFuncSetAttribute(work, cudaFuncAttributeMaxDynamicSharedMemorySize, shared));
    CHECK(cudaMemset(places, 0, MOST * sizeof *places));
    for (int i = 0; i < 2; i++) work<<<grid, warps * 32, shared>>>(places, every, out);
    CHECK(cudaDeviceSynchronize());
    std::vector<Place> all(grid);
    CHECK(cudaMemcpy(all.data(), places, grid * sizeof *places, cudaMemcpyDeviceToHost));
    std::vector<double> spans;
    for (unsigned sm = 0; sm < (unsigned)sms; sm++) {
        i64 begin = INT64_MAX, end = 0;
        for (const Place &p : all)
            if (p.sm == sm) begin = std::min(begin, p.begin), end = std::max(end, p.end);
        if (end > begin) spans.push_back((double)(end - begin) / (TURNS * OPS));
    }
    std::sort(spans.begin(), spans.end());
    char text[96], note[512] = "";
    std::vector<Place> own;
    for (const Place &p : all)
        if (p.sm == 0) own.push_back(p);
    std::sort(own.begin(), own.end(), [](const Place &a, const Place &b) { return a.begin < b.begin; });
    size_t used = 0;
    for (size_t i = 0; ids && i < own.size() && i < 40; i++)
        used += snprintf(note + used, sizeof note - used, "%s%u", i ? " " : "ids ", own[i].warp);
    snprintf(text, sizeof text, "warp_places/%d/%d/%s%s", warps, ctas, every ? "fourth" : "first",
             rounds > 1 ? "/later" : "");
    report(text, spans[spans.size() / 2], "warps", note);
}

int main() {
    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0));
    CHECK(cudaMalloc(&places, MOST * sizeof *places));
    CHECK(cudaMalloc(&out, MOST * 32 * sizeof *out));
    int sms = p.multiProcessorCount, memory = (int)p.sharedMemPerMultiprocessor;
    for (int warps : {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 32})
        for (int ctas : {1, 2, 3, 4, 6, 8, 16}) {
            if (warps * ctas > 64) continue;
            measure(warps, ctas, 0, 1, sms, memory, true);
            if (warps > 4) measure(warps, ctas, 4, 1, sms, memory, false);
            measure(warps, ctas, 0, 4, sms, memory, true);
        }
    return 0;
}

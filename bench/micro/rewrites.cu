// SPDX-License-Identifier: Apache-2.0
// Memory that is read and written again right away, by the same threads: what it costs beside reading or writing alone,
// cold and warm, after a memset and without one.
#include <cmath>

#include "micro.h"

enum { READ = 1, REWRITE = 2, ELSEWHERE = 4, SMALL = 8 };

template <int WHAT> __global__ void rewrite(size_t count, uint2 *words, uint2 *others, unsigned *small) {
    for (size_t i = threadIdx.x + blockIdx.x * (size_t)blockDim.x; i < count; i += gridDim.x * (size_t)blockDim.x) {
        uint2 w = {(unsigned)i, 1};
        if (WHAT & READ) w = words[i];
        if (WHAT & REWRITE) words[i] = uint2{0, 0};
        if (WHAT & ELSEWHERE) others[i] = uint2{0, 0};
        if (WHAT & SMALL)
            small[i] = w.x + w.y;
        else if (w.x + w.y == 0x12345678)
            *small = 1;
    }
}

__global__ void flush(size_t count, uint4 *words) {
    for (size_t i = threadIdx.x + blockIdx.x * (size_t)blockDim.x; i < count; i += gridDim.x * (size_t)blockDim.x)
        words[i] = uint4{1, 2, 3, 4};
}

int main() {
    typedef void (*Kernel)(size_t, uint2 *, uint2 *, unsigned *);
    static const struct {
        const char *name;
        Kernel kernel;
    } kernels[] = {{"read", rewrite<READ>},
                   {"write", rewrite<REWRITE>},
                   {"read_rewrite", rewrite<READ | REWRITE>},
                   {"read_elsewhere", rewrite<READ | ELSEWHERE>},
                   {"read_small", rewrite<READ | SMALL>},
                   {"read_rewrite_small", rewrite<READ | REWRITE | SMALL>}};
    size_t count = 1 << 18;  // 2 MiB
    uint2 *words, *others;
    unsigned *small;
    uint4 *large;
    char text[128];
    CHECK(cudaMalloc(&large, 256 << 20));
    for (int set = 0; set < 3; set++)
        for (int ctas : {42, 132, 528})
            for (auto &k : kernels) {
                CHECK(cudaMalloc(&words, count * 8));
                CHECK(cudaMalloc(&others, count * 8));
                CHECK(cudaMalloc(&small, count * 4));
                if (set == 1) CHECK(cudaMemset(words, 0, count * 8));
                if (set == 2) {
                    uint2 *host = (uint2 *)malloc(count * 8);
                    for (size_t i = 0; i < count; i++) host[i] = uint2{(unsigned)i * 2654435761u, (unsigned)i};
                    CHECK(cudaMemcpy(words, host, count * 8, cudaMemcpyHostToDevice));
                    free(host);
                }
                double cold = INFINITY, warm = INFINITY;
                for (int i = 0; i < 3; i++) {
                    flush<<<528, 256>>>((256 << 20) / 16, large);
                    auto launch = [&] { k.kernel<<<ctas, 512>>>(count, words, others, small); };
                    cold = fmin(cold, ns_of(launch, 1));
                    warm = fmin(warm, ns_of(launch, 1));
                }
                static const char *const sets[] = {"fresh", "memset", "random"};
                snprintf(text, sizeof text, "rewrites/%s/%s/%d_ctas", sets[set], k.name, ctas);
                char note[64];
                snprintf(note, sizeof note, "behind other data; at once again %.2f", warm * 1e-3);
                report(text, cold * 1e-3, "us", note);
                CHECK(cudaFree(words));
                CHECK(cudaFree(others));
                CHECK(cudaFree(small));
            }
}

// SPDX-License-Identifier: Apache-2.0
//
// Rule: register-reuse
// Also: indirect-addressing
// Change: the list of the five best is kept by exchanges at fixed places.
// Why: a place that a comparison decides makes the compiler keep the list in memory.
#include "../common.h"

enum { BLOCK = 128, BEST = 5 };

// The five lowest of each customer's offers.
__global__ void best_offers(const float *offers, float *out, int count, int customers) {
    int c = blockIdx.x * BLOCK + threadIdx.x;
    float best[BEST];
    for (int k = 0; k < BEST; k++)
        best[k] = INFINITY;
    for (int i = 0; i < count; i++) {
        float x = offers[(size_t)i * customers + c];
#ifdef AFTER
#pragma unroll
        for (int k = 0; k < BEST; k++) {
            float low = fminf(best[k], x);
            x = fmaxf(best[k], x);
            best[k] = low;
        }
#else
        if (x >= best[BEST - 1])
            continue;
        int k = BEST - 1;
        for (; k > 0 && best[k - 1] > x; k--)
            best[k] = best[k - 1];
        best[k] = x;
#endif
    }
    for (int k = 0; k < BEST; k++)
        out[(size_t)k * customers + c] = best[k];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "best_offers");
    int customers = p.small ? 1 << 12 : 1 << 17, count = 128;
    std::vector<float> offers = random_floats((size_t)customers * count, 0, 1, 1);
    float *d_offers = device_copy_of(offers.data(), offers.size()), *d_out = device_array<float>((size_t)customers * BEST);
    pair_time(&p, [&] { best_offers<<<customers / BLOCK, BLOCK>>>(d_offers, d_out, count, customers); });
    std::vector<float> out = host_copy_of(d_out, (size_t)customers * BEST);
    for (int c = 0; c < customers; c += 1009) {
        std::vector<float> own;
        for (int i = 0; i < count; i++)
            own.push_back(offers[(size_t)i * customers + c]);
        std::sort(own.begin(), own.end());
        for (int k = 0; k < BEST; k++)
            pair_near(&p, "offer", c, own[k], out[(size_t)k * customers + c], 0);
    }
    return pair_end(&p);
}

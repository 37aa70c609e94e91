// SPDX-License-Identifier: Apache-2.0
//
// Rule: code-reordering
// Also: async-copy
// Change: the rain of the next hour is loaded before the current hour is worked on.
// Why: it is loaded behind a barrier and needed at once.
#include "../common.h"

enum { BLOCK = 256, HOURS = 96 };

// Levels along a river: each place passes a part on to the next, and rain comes in.
__global__ void river_levels(const float *rain, float *levels, int places) {
    __shared__ float level[2][BLOCK + 1];
    int t = threadIdx.x, at = blockIdx.x * BLOCK + t;
    level[0][t + 1] = 1;
    if (t == 0)
        level[0][0] = level[1][0] = 0;
#ifdef AFTER
    float next = rain[at];
#endif
    for (int h = 0; h < HOURS; h++) {
#ifdef AFTER
        float now = next;
        if (h + 1 < HOURS)
            next = rain[(size_t)(h + 1) * places + at];
        __syncthreads();
#else
        __syncthreads();
        float now = rain[(size_t)h * places + at];
#endif
        float above = level[h & 1][t], own = level[h & 1][t + 1];
        level[(h + 1) & 1][t + 1] = own + 0.1f * (above - own) + 0.01f * now;
    }
    levels[at] = level[HOURS & 1][t + 1];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "river_levels");
    int n = p.small ? 1 << 13 : 1 << 17;
    std::vector<float> rain = random_floats((size_t)n * HOURS, 0, 1, 1);
    float *d_rain = device_copy_of(rain.data(), rain.size()), *d_levels = device_array<float>(n);
    pair_time(&p, [&] { river_levels<<<n / BLOCK, BLOCK>>>(d_rain, d_levels, n); });
    std::vector<float> out = host_copy_of(d_levels, n), now(n, 1.0f), next(n);
    for (int h = 0; h < HOURS; h++, now.swap(next))
        for (int i = 0; i < n; i++)
            next[i] = now[i] + 0.1f * ((i % BLOCK ? now[i - 1] : 0) - now[i]) + 0.01f * rain[(size_t)h * n + i];
    for (int i = 0; i < n; i += 1009)
        pair_near(&p, "level", i, now[i], out[i], 1e-4);
    return pair_end(&p);
}

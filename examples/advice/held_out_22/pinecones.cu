// SPDX-License-Identifier: Apache-2.0
//
// Rule: code-reordering
// Change: the weather of the next hour is loaded before the scales of the cone are moved for this one.
// Why: each hour's loads start only when the last hour is written, and the chain of the computation has to wait for
// them.
#include "../common.h"

enum { BLOCK = 128 };

template <typename T> __host__ __device__ inline T opened(T open, T wet, T warm) {
    for (int scale = 0; scale < 4; scale++) {
        T target = 1 / (1 + 4 * wet * wet) + (T)0.1 * warm;
        open += (T)0.2 * (target - open);
        wet = (T)0.8 * wet + (T)0.05 * open;
    }
    return open;
}

// How far pine cones open and close with the weather at the foot of their own tree, hour by hour.
__global__ void unfold(const float *humid, const float *warmth, float *open, int cones, int hours) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= cones)
        return;
    float state = 0.5f;
#ifdef AFTER
    float wet = humid[i], warm = warmth[i];
    for (int h = 0; h < hours; h++) {
        int next = min(h + 1, hours - 1) * cones + i;
        float next_wet = humid[next], next_warm = warmth[next];
        state = opened(state, wet, warm);
        open[h * cones + i] = state;
        wet = next_wet;
        warm = next_warm;
    }
#else
    for (int h = 0; h < hours; h++) {
        float wet = humid[h * cones + i], warm = warmth[h * cones + i];
        state = opened(state, wet, warm);
        open[h * cones + i] = state;
    }
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "pinecones");
    int cones = p.small ? 2048 : 132 * 256, hours = p.small ? 8 : 240;
    size_t n = (size_t)cones * hours;
    std::vector<float> humid = random_floats(n, 0, 1, 1), warmth = random_floats(n, 0, 1, 2);
    float *d_humid = device_copy_of(humid.data(), n), *d_warmth = device_copy_of(warmth.data(), n),
          *d_open = device_array<float>(n);
    pair_time(&p, [&] { unfold<<<(cones + BLOCK - 1) / BLOCK, BLOCK>>>(d_humid, d_warmth, d_open, cones, hours); });
    std::vector<float> open = host_copy_of(d_open, n);
    for (int i = 0; i < cones; i += p.small ? 1 : 23) {
        double state = 0.5;
        for (int h = 0; h < hours; h++) {
            size_t at = (size_t)h * cones + i;
            state = opened<double>(state, humid[at], warmth[at]);
            pair_near(&p, "open", at, state, open[at], 1e-4);
        }
    }
    return pair_end(&p);
}

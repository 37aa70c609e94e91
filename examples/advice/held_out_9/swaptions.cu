// SPDX-License-Identifier: Apache-2.0
//
// Rule: tail-effect
// Change: blocks of 64 threads instead of 512, eight times as many.
// Why: the last of 600 blocks of 512 threads run alone.
#include "../common.h"

#ifdef AFTER
enum { BLOCK = 64 };
#else
enum { BLOCK = 512 };
#endif
enum { THREADS = 600 * 512, STEPS = 300 };

// What an option on interest is worth along one path of rates each.
__host__ __device__ static inline float along_path(unsigned seed) {
    float rate = 0.03f, paid = 0;
    for (int k = 0; k < STEPS; k++) {
        seed = seed * 1664525u + 1013904223u;
        float noise = (int)(seed >> 9) * (1.0f / (1 << 22)) - 1;
        rate += 0.01f * (0.03f - rate) + 0.002f * noise * rate * 4;
        paid += fmaxf(rate - 0.03f, 0) * (1 - 0.002f * k);
    }
    return paid;
}

__global__ void swaptions(float *out) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    out[i] = along_path(i);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "swaptions");
    int n = p.small ? 1 << 12 : THREADS;
    float *d_out = device_array<float>(n);
    pair_time(&p, [&] { swaptions<<<n / BLOCK, BLOCK>>>(d_out); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 1009)
        pair_near(&p, "paid", i, along_path(i), out[i], 1e-3);
    return pair_end(&p);
}

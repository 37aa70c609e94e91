// SPDX-License-Identifier: Apache-2.0
//
// Rule: memory-transactions
// Change: the harmonics are read from constant memory.
// Why: all threads read the same speed, height and phase of each harmonic from global memory.
#include "../common.h"

enum { BLOCK = 256, HARMONICS = 37 };

struct Harmonic {
    float speed, height, phase;
};

#ifdef AFTER
__constant__ Harmonic table[HARMONICS];
#endif

// How high the water stands at each moment.
__global__ void tides(const Harmonic *harmonics, const float *hours, float *out) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float hour = hours[i], height = 0;
#ifdef AFTER
    (void)harmonics;
    const Harmonic *h = table;
#else
    const volatile Harmonic *h = harmonics;
#endif
    for (int k = 0; k < HARMONICS; k++)
        height += h[k].height * __cosf(h[k].speed * hour - h[k].phase);
    out[i] = height;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "tides");
    int n = p.small ? 1 << 14 : 1 << 22;
    std::vector<float> hours = random_floats(n, 0, 24, 1), speed = random_floats(HARMONICS, 0.01f, 0.3f, 2),
                       height = random_floats(HARMONICS, 0, 1, 3), phase = random_floats(HARMONICS, 0, 3, 4);
    std::vector<Harmonic> harmonics(HARMONICS);
    for (int k = 0; k < HARMONICS; k++)
        harmonics[k] = {speed[k], height[k], phase[k]};
    float *d_hours = device_copy_of(hours.data(), n), *d_out = device_array<float>(n);
    Harmonic *d_harmonics = device_copy_of(harmonics.data(), HARMONICS);
#ifdef AFTER
    CUDA_CHECK(cudaMemcpyToSymbol(table, harmonics.data(), sizeof table));
#endif
    pair_time(&p, [&] { tides<<<n / BLOCK, BLOCK>>>(d_harmonics, d_hours, d_out); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 499) {
        double want = 0;
        for (int k = 0; k < HARMONICS; k++)
            want += height[k] * cos((double)speed[k] * hours[i] - phase[k]);
        pair_near(&p, "height", i, want, out[i], 1e-4);
    }
    return pair_end(&p);
}

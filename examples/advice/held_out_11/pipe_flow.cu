// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Also: fast-math
// Change: third, fourth and fifth powers are products.
// Why: powf takes many times as many instructions as the two or three multiplications.
#include "../common.h"

enum { BLOCK = 256, TURNS = 6 };

#ifdef AFTER
static __device__ inline float cube(float x) { return x * x * x; }
static __device__ inline float fourth(float x) { return x * x * (x * x); }
static __device__ inline float fifth(float x) { return x * x * (x * x) * x; }
#else
static __device__ inline float cube(float x) { return powf(x, 3.0f); }
static __device__ inline float fourth(float x) { return powf(x, 4.0f); }
static __device__ inline float fifth(float x) { return powf(x, 5.0f); }
#endif

// How much water goes through pipes in a network of mains: a few turns of a fixed point for each pipe.
__global__ void pipe_flow(const float *diameters, const float *drops, float *out) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float diameter = diameters[i], drop = drops[i], flow = 0.5f;
    for (int k = 0; k < TURNS; k++) {
        float lost = 0.2f * flow * flow / fifth(diameter) + 0.05f * cube(flow) / fourth(diameter);
        flow += 0.1f * (drop - lost) / (1.0f + lost);
    }
    out[i] = flow;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "pipe_flow");
    int n = p.small ? 1 << 13 : 1 << 21;
    std::vector<float> diameters = random_floats(n, 0.8f, 1.5f, 1), drops = random_floats(n, 0.1f, 1, 2);
    float *d_diameters = device_copy_of(diameters.data(), n), *d_drops = device_copy_of(drops.data(), n),
          *d_out = device_array<float>(n);
    pair_time(&p, [&] { pipe_flow<<<n / BLOCK, BLOCK>>>(d_diameters, d_drops, d_out); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 499) {
        double flow = 0.5;
        for (int k = 0; k < TURNS; k++) {
            double lost = 0.2 * flow * flow / pow(diameters[i], 5) + 0.05 * pow(flow, 3) / pow(diameters[i], 4);
            flow += 0.1 * (drops[i] - lost) / (1 + lost);
        }
        pair_near(&p, "flow", i, flow, out[i], 1e-4);
    }
    return pair_end(&p);
}

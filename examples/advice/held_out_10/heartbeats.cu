// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernel-merge
// Change: one kernel does all three steps for each sample.
// Why: three kernels one after the other each load and store all samples.
#include "../common.h"

enum { BLOCK = 256 };

static __host__ __device__ inline float without_offset(float v) { return v - 0.37f; }
static __host__ __device__ inline float amplified(float v) { return 2.5f * v + 0.01f * v * v; }
static __host__ __device__ inline float rectified(float v) { return v > 0 ? v : -0.2f * v; }

#ifdef AFTER
__global__ void all_steps(const float *in, float *out) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    out[i] = rectified(amplified(without_offset(in[i])));
}
#else
__global__ void take_offset(const float *in, float *out) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    out[i] = without_offset(in[i]);
}

__global__ void amplify(const float *in, float *out) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    out[i] = amplified(in[i]);
}

__global__ void rectify(const float *in, float *out) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    out[i] = rectified(in[i]);
}
#endif

// Prepares recordings of hearts.
int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "heartbeats");
    int n = p.small ? 1 << 15 : 1 << 24;
    std::vector<float> in = random_floats(n, -1, 1, 1);
    float *d_in = device_copy_of(in.data(), n), *d_out = device_array<float>(n);
#ifdef AFTER
    pair_time(&p, [&] { all_steps<<<n / BLOCK, BLOCK>>>(d_in, d_out); });
#else
    float *d_one = device_array<float>(n), *d_two = device_array<float>(n);
    pair_time(&p, [&] {
        take_offset<<<n / BLOCK, BLOCK>>>(d_in, d_one);
        amplify<<<n / BLOCK, BLOCK>>>(d_one, d_two);
        rectify<<<n / BLOCK, BLOCK>>>(d_two, d_out);
    });
#endif
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 499)
        pair_near(&p, "sample", i, rectified(amplified(without_offset(in[i]))), out[i], 1e-5);
    return pair_end(&p);
}

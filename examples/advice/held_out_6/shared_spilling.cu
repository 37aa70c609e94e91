// SPDX-License-Identifier: Apache-2.0
//
// Rule: spills
// Change: registers are spilled to shared memory.
// Why: the bound on registers has values spilled to local memory.
// Post: How to Improve CUDA Kernel Performance with Shared Memory Register Spilling
#include "../common.h"

enum { BLOCK = 256, VALUES = 88, ROUNDS = 12 };

// A thread's own 88 values, each changed with another one in turn.
__global__ void __launch_bounds__(BLOCK, 4) mix_values(const float *in, float *out, int n) {
#ifdef AFTER
    asm volatile(".pragma \"enable_smem_spilling\";");
#endif
    int t = blockIdx.x * BLOCK + threadIdx.x;
    float v[VALUES];
#pragma unroll
    for (int i = 0; i < VALUES; i++)
        v[i] = in[i * n + t];
#pragma unroll 1
    for (int round = 0; round < ROUNDS; round++) {
#pragma unroll
        for (int i = 0; i < VALUES; i++)
            v[i] = v[i] * 0.7f + v[(i * 37 + 11) % VALUES] * v[(i + 1) % VALUES];
    }
    float sum = 0;
#pragma unroll
    for (int i = 0; i < VALUES; i++)
        sum += v[i] * (i + 1);
    out[t] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "shared_spilling");
    int n = p.small ? 1 << 14 : 1 << 20;
    std::vector<float> in = random_floats((size_t)n * VALUES, -0.3f, 0.3f, 1);
    float *d_in = device_copy_of(in.data(), in.size()), *d_out = device_array<float>(n);
    pair_time(&p, [&] { mix_values<<<n / BLOCK, BLOCK>>>(d_in, d_out, n); });
    std::vector<float> out = host_copy_of(d_out, n);
    for (int t = 0; t < n; t += 10007) {
        float v[VALUES], sum = 0;
        for (int i = 0; i < VALUES; i++)
            v[i] = in[(size_t)i * n + t];
        for (int round = 0; round < ROUNDS; round++)
            for (int i = 0; i < VALUES; i++)
                v[i] = v[i] * 0.7f + v[(i * 37 + 11) % VALUES] * v[(i + 1) % VALUES];
        for (int i = 0; i < VALUES; i++)
            sum += v[i] * (i + 1);
        pair_near(&p, "out", t, sum, out[t], 1e-3);
    }
    return pair_end(&p);
}

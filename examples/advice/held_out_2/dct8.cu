// SPDX-License-Identifier: Apache-2.0
//
// Rule: register-reuse
// Also: loop-unrolling
// Change: the loops of the transform are unrolled, so that the eight values stay in registers.
// Why: an array that is indexed by a loop's variable lies in local memory.
#include "../common.h"

enum { BLOCK = 128, N = 8 };

__constant__ float c_cosine[N][N];

#ifdef AFTER
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("unroll 1")
#endif

// Cosine transforms of eight samples, one a thread; the k-th samples of all lie side by side.
__global__ void dct8(const float *in, float *out, int n) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    float v[N];
    UNROLL
    for (int k = 0; k < N; k++)
        v[k] = in[(size_t)k * n + i];
    UNROLL
    for (int f = 0; f < N; f++) {
        float sum = 0;
        UNROLL
        for (int k = 0; k < N; k++)
            sum += v[k] * c_cosine[f][k];
        out[(size_t)f * n + i] = sum;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "dct8");
    int n = p.small ? 1 << 15 : 1 << 21;
    float cosine[N][N];
    for (int f = 0; f < N; f++)
        for (int k = 0; k < N; k++)
            cosine[f][k] = (float)cos(M_PI * f * (2 * k + 1) / 16) * (f ? 0.5f : 0.35355339f);
    std::vector<float> in = random_floats((size_t)n * N, -1, 1, 1);
    float *d_in = device_copy_of(in.data(), in.size()), *d_out = device_array<float>(in.size());
    CUDA_CHECK(cudaMemcpyToSymbol(c_cosine, cosine, sizeof cosine));
    pair_time(&p, [&] { dct8<<<n / BLOCK, BLOCK>>>(d_in, d_out, n); });
    std::vector<float> out = host_copy_of(d_out, in.size());
    for (int i = 0; i < n; i += 71)
        for (int f = 0; f < N; f++) {
            double sum = 0;
            for (int k = 0; k < N; k++)
                sum += in[(size_t)k * n + i] * (double)cosine[f][k];
            pair_near(&p, "out", (size_t)f * n + i, sum, out[(size_t)f * n + i], 1e-5);
        }
    return pair_end(&p);
}

// SPDX-License-Identifier: Apache-2.0
//
// Rule: spills
// Also: register-reuse
// Change: the launch bounds ask for 4 resident blocks of 128 threads instead of 16.
// Why: 32 registers for each thread do not hold a system of six equations.
#include "../common.h"

enum { BLOCK = 128, N = 6 };
#ifdef AFTER
enum { RESIDENT = 4 };
#else
enum { RESIDENT = 16 };
#endif

// A system of six equations for each orbit, by elimination.
__global__ void __launch_bounds__(BLOCK, RESIDENT) orbit_fit(const float *in, float *out, int n) {
    int t = blockIdx.x * BLOCK + threadIdx.x;
    float a[N][N + 1];
#pragma unroll
    for (int i = 0; i < N; i++)
#pragma unroll
        for (int j = 0; j <= N; j++)
            a[i][j] = in[(size_t)(i * (N + 1) + j) * n + t];
#pragma unroll
    for (int k = 0; k < N; k++) {
        float by = 1 / a[k][k];
#pragma unroll
        for (int i = 0; i < N; i++)
#pragma unroll
            for (int j = N; j >= 0; j--)
                if (i != k && j >= k)
                    a[i][j] -= a[i][k] * by * a[k][j];
    }
#pragma unroll
    for (int i = 0; i < N; i++)
        out[(size_t)i * n + t] = a[i][N] / a[i][i];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "orbit_fit");
    int n = p.small ? 1 << 11 : 1 << 19, each = N * (N + 1);
    std::vector<float> in = random_floats((size_t)n * each, -1, 1, 1);
    for (int i = 0; i < N; i++)
        for (int t = 0; t < n; t++)
            in[(size_t)(i * (N + 1) + i) * n + t] += 8;
    float *d_in = device_copy_of(in.data(), in.size()), *d_out = device_array<float>((size_t)n * N);
    pair_time(&p, [&] { orbit_fit<<<n / BLOCK, BLOCK>>>(d_in, d_out, n); });
    std::vector<float> out = host_copy_of(d_out, (size_t)n * N);
    for (int t = 0; t < n; t += 1009)
        for (int i = 0; i < N; i++) {
            double sum = 0;
            for (int j = 0; j < N; j++)
                sum += (double)in[(size_t)(i * (N + 1) + j) * n + t] * out[(size_t)j * n + t];
            pair_near(&p, "equation", t, in[(size_t)(i * (N + 1) + N) * n + t], sum, 1e-3);
        }
    return pair_end(&p);
}

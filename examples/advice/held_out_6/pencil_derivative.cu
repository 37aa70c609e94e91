// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: a CTA takes 32 neighbouring columns instead of 4.
// Why: a warp loads pieces of 16 bytes from eight rows.
// Post: Finite Difference Methods in CUDA C++, Part 2
#include "../common.h"

enum { MY = 64, ROWS = 8 };
#ifdef AFTER
enum { PENCILS = 32, THREADS_Y = ROWS };
#else
enum { PENCILS = 4, THREADS_Y = MY };
#endif
__constant__ float c_a, c_b, c_c, c_d;

// Derivative along y of eighth order; y is periodic.
__global__ void derivative_y(const float *f, float *df, int mx) {
    __shared__ float s_f[MY + 8][PENCILS];
    int i = blockIdx.x * PENCILS + threadIdx.x, k = blockIdx.y, si = threadIdx.x;
    for (int j = threadIdx.y; j < MY; j += THREADS_Y)
        s_f[j + 4][si] = f[(k * MY + j) * mx + i];
    __syncthreads();
    if (threadIdx.y < 4) {
        int sj = threadIdx.y + 4;
        s_f[sj - 4][si] = s_f[sj + MY - 5][si];
        s_f[sj + MY][si] = s_f[sj + 1][si];
    }
    __syncthreads();
    for (int j = threadIdx.y; j < MY; j += THREADS_Y) {
        int sj = j + 4;
        df[(k * MY + j) * mx + i] =
            c_a * (s_f[sj + 1][si] - s_f[sj - 1][si]) + c_b * (s_f[sj + 2][si] - s_f[sj - 2][si]) +
            c_c * (s_f[sj + 3][si] - s_f[sj - 3][si]) + c_d * (s_f[sj + 4][si] - s_f[sj - 4][si]);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "pencil_derivative");
    int mx = 64, mz = p.small ? 16 : 2048, n = mx * MY * mz;
    float c[4] = {51.2f, -12.8f, 2.4381f, -0.22857f};
    CUDA_CHECK(cudaMemcpyToSymbol(c_a, &c[0], sizeof(float)));
    CUDA_CHECK(cudaMemcpyToSymbol(c_b, &c[1], sizeof(float)));
    CUDA_CHECK(cudaMemcpyToSymbol(c_c, &c[2], sizeof(float)));
    CUDA_CHECK(cudaMemcpyToSymbol(c_d, &c[3], sizeof(float)));
    std::vector<float> f = random_floats(n, -1, 1, 1);
    float *d_f = device_copy_of(f.data(), n), *d_df = device_array<float>(n);
    pair_time(&p, [&] { derivative_y<<<dim3(mx / PENCILS, mz), dim3(PENCILS, THREADS_Y)>>>(d_f, d_df, mx); });
    std::vector<float> df = host_copy_of(d_df, n);
    for (int i = 0; i < n; i += 1013) {
        int x = i % mx, y = i / mx % MY, z = i / mx / MY;
        if (y < 4 || y >= MY - 4)
            continue;
        double sum = 0;
        for (int d = 1; d <= 4; d++)
            sum += c[d - 1] * (f[(z * MY + y + d) * mx + x] - f[(z * MY + y - d) * mx + x]);
        pair_near(&p, "df", i, sum, df[i], 1e-3);
    }
    return pair_end(&p);
}

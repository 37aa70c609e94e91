// SPDX-License-Identifier: Apache-2.0
//
// Rule: spills
// Also: register-reuse
// Change: the launch bounds ask for two resident blocks instead of five.
// Why: sixteen complex sums for each thread do not fit 48 registers.
#include "../common.h"

enum { SIDE = 64, DEPTH = 16, EACH = 4, BLOCK = SIDE / EACH * SIDE / EACH };

#ifdef AFTER
#define BLOCKS_AT_LEAST 2
#else
#define BLOCKS_AT_LEAST 5
#endif

// Product of two complex matrices, the first one by columns: a block has 64 x 64 sums, a thread 4 x 4.
__global__ void __launch_bounds__(BLOCK, BLOCKS_AT_LEAST)
    complex_tiles(const float2 *a, const float2 *b, float2 *out, int n) {
    __shared__ float2 left[DEPTH][SIDE], up[DEPTH][SIDE];
    int tx = threadIdx.x % (SIDE / EACH), ty = threadIdx.x / (SIDE / EACH);
    float2 sums[EACH][EACH] = {};
    for (int k0 = 0; k0 < n; k0 += DEPTH) {
        for (int i = threadIdx.x; i < DEPTH * SIDE; i += BLOCK) {
            left[i / SIDE][i % SIDE] = a[(size_t)(k0 + i / SIDE) * n + blockIdx.y * SIDE + i % SIDE];
            up[i / SIDE][i % SIDE] = b[(size_t)(k0 + i / SIDE) * n + blockIdx.x * SIDE + i % SIDE];
        }
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < DEPTH; k++) {
            float2 l[EACH], u[EACH];
#pragma unroll
            for (int e = 0; e < EACH; e++) {
                l[e] = left[k][ty * EACH + e];
                u[e] = up[k][tx + e * (SIDE / EACH)];
            }
#pragma unroll
            for (int r = 0; r < EACH; r++)
#pragma unroll
                for (int c = 0; c < EACH; c++) {
                    sums[r][c].x += l[r].x * u[c].x - l[r].y * u[c].y;
                    sums[r][c].y += l[r].x * u[c].y + l[r].y * u[c].x;
                }
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < EACH; r++)
#pragma unroll
        for (int c = 0; c < EACH; c++)
            out[(size_t)(blockIdx.y * SIDE + ty * EACH + r) * n + blockIdx.x * SIDE + tx + c * (SIDE / EACH)] =
                sums[r][c];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "complex_tiles");
    int n = p.small ? 192 : 1536;
    std::vector<float> a = random_floats((size_t)n * n * 2, -1, 1, 1), b = random_floats((size_t)n * n * 2, -1, 1, 2);
    float2 *d_a = (float2 *)device_copy_of(a.data(), a.size()), *d_b = (float2 *)device_copy_of(b.data(), b.size()),
           *d_out = device_array<float2>((size_t)n * n);
    pair_time(&p, [&] { complex_tiles<<<dim3(n / SIDE, n / SIDE), BLOCK>>>(d_a, d_b, d_out, n); });
    std::vector<float2> out = host_copy_of(d_out, (size_t)n * n);
    for (size_t i = 0; i < out.size(); i += 9973) {
        double x = 0, y = 0;
        for (int k = 0; k < n; k++) {
            const float *l = &a[2 * ((size_t)k * n + i / n)], *u = &b[2 * ((size_t)k * n + i % n)];
            x += (double)l[0] * u[0] - (double)l[1] * u[1];
            y += (double)l[0] * u[1] + (double)l[1] * u[0];
        }
        pair_near(&p, "real", i, x, out[i].x, 1e-3);
        pair_near(&p, "imaginary", i, y, out[i].y, 1e-3);
    }
    return pair_end(&p);
}

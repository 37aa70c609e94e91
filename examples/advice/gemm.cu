// SPDX-License-Identifier: Apache-2.0
//
// Rule: async-copy
// Change: tiles come into shared memory by asynchronous copies, the next one while the current one is used.
// Why: before, every tile is fetched into registers, stored, and waited for while no warp of the block multiplies.
#include "common.h"

#include <cuda_pipeline.h>

enum { TILE = 64, DEEP = 16, PER = 4, SIDE = TILE / PER, BLOCK = SIDE * SIDE };

// Fetches the float4 of each matrix's tile that is this thread's.
static __device__ void fetch(const float *a, const float *b, float (*ta)[DEEP], float (*tb)[TILE], int n, int depth,
                             int k) {
    int t = threadIdx.x, ar = t / 4, ac = t % 4 * 4, br = t / 16, bc = t % 16 * 4;
    const float *from_a = a + (size_t)(blockIdx.y * TILE + ar) * depth + k + ac,
                *from_b = b + (size_t)(k + br) * n + blockIdx.x * TILE + bc;
#ifdef AFTER
    __pipeline_memcpy_async(&ta[ar][ac], from_a, 16);
    __pipeline_memcpy_async(&tb[br][bc], from_b, 16);
    __pipeline_commit();
#else
    *(float4 *)&ta[ar][ac] = *(const float4 *)from_a;
    *(float4 *)&tb[br][bc] = *(const float4 *)from_b;
#endif
}

// C = A B, A being n x depth: a 64 x 64 tile per block, 4 x 4 sums per thread.
__global__ void __launch_bounds__(BLOCK) gemm(const float *a, const float *b, float *c, int n, int depth) {
    __shared__ __align__(16) float ta[2][TILE][DEEP], tb[2][DEEP][TILE];
    int tx = threadIdx.x % SIDE, ty = threadIdx.x / SIDE;
    float sum[PER][PER] = {};
#ifdef AFTER
    fetch(a, b, ta[0], tb[0], n, depth, 0);
#endif
    for (int k = 0; k < depth; k += DEEP) {
        int now = k / DEEP % 2;
#ifdef AFTER
        __pipeline_wait_prior(0);
        __syncthreads();
        if (k + DEEP < depth)
            fetch(a, b, ta[1 - now], tb[1 - now], n, depth, k + DEEP);
#else
        fetch(a, b, ta[now], tb[now], n, depth, k);
        __syncthreads();
#endif
#pragma unroll
        for (int j = 0; j < DEEP; j++) {
            float4 row = *(const float4 *)&tb[now][j][tx * PER];
#pragma unroll
            for (int i = 0; i < PER; i++) {
                float left = ta[now][ty * PER + i][j];
                sum[i][0] += left * row.x;
                sum[i][1] += left * row.y;
                sum[i][2] += left * row.z;
                sum[i][3] += left * row.w;
            }
        }
    }
    for (int i = 0; i < PER; i++)
        *(float4 *)&c[(size_t)(blockIdx.y * TILE + ty * PER + i) * n + blockIdx.x * TILE + tx * PER] =
            make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "gemm");
    int n = p.small ? 768 : 1536, depth = p.small ? 128 : n;
    std::vector<float> a = random_floats((size_t)n * depth, -1, 1, 1), b = random_floats((size_t)depth * n, -1, 1, 2);
    float *d_a = device_copy_of(a.data(), a.size()), *d_b = device_copy_of(b.data(), b.size()),
          *d_c = device_array<float>((size_t)n * n);
    pair_time(&p, [&] { gemm<<<dim3(n / TILE, n / TILE), BLOCK>>>(d_a, d_b, d_c, n, depth); });
    std::vector<float> c = host_copy_of(d_c, (size_t)n * n);
    for (int y = 0; y < n; y += n / 19)
        for (int x = 0; x < n; x += n / 23) {
            double sum = 0;
            for (int k = 0; k < depth; k++)
                sum += (double)a[(size_t)y * depth + k] * b[(size_t)k * n + x];
            pair_near(&p, "c", (size_t)y * n + x, sum, c[(size_t)y * n + x], 1e-3);
        }
    return pair_end(&p);
}

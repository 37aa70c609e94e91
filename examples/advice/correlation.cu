// SPDX-License-Identifier: Apache-2.0
//
// Rule: shared-conflicts
// Change: rows of both tiles in shared memory are 20 words long instead of 16.
// Why: sixteen lanes read four words each of the tile of B, 16 words apart, so all of them meet in eight banks.
#include "common.h"

enum { TILE = 16 };
#ifdef AFTER
enum { PITCH = TILE + 4 };
#else
enum { PITCH = TILE };
#endif

// C = A B^T: how much every row of A is like every row of B.
__global__ void correlation(const float *a, const float *b, float *c, int n, int length) {
    __shared__ __align__(16) float ta[TILE][PITCH], tb[TILE][PITCH];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * TILE + tx, y = blockIdx.y * TILE + ty;
    float sum = 0;
    for (int k = 0; k < length; k += TILE) {
        ta[ty][tx] = a[(size_t)y * length + k + tx];
        tb[ty][tx] = b[(size_t)(blockIdx.x * TILE + ty) * length + k + tx];
        __syncthreads();
        for (int j = 0; j < TILE; j++)
            sum += ta[ty][j] * tb[tx][j];
        __syncthreads();
    }
    c[(size_t)y * n + x] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "correlation");
    int n = p.small ? 256 : 2048, length = p.small ? 64 : 512;
    std::vector<float> a = random_floats((size_t)n * length, -1, 1, 1), b = random_floats((size_t)n * length, -1, 1, 2);
    float *d_a = device_copy_of(a.data(), a.size()), *d_b = device_copy_of(b.data(), b.size()),
          *d_c = device_array<float>((size_t)n * n);
    pair_time(&p, [&] { correlation<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(d_a, d_b, d_c, n, length); });
    std::vector<float> c = host_copy_of(d_c, (size_t)n * n);
    for (int y = 0; y < n; y += n / 23)
        for (int x = 0; x < n; x += n / 31) {
            double sum = 0;
            for (int k = 0; k < length; k++)
                sum += (double)a[(size_t)y * length + k] * b[(size_t)x * length + k];
            pair_near(&p, "c", (size_t)y * n + x, sum, c[(size_t)y * n + x], 1e-3);
        }
    return pair_end(&p);
}

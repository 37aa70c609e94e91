// SPDX-License-Identifier: Apache-2.0
//
// Rule: async-copy
// Change: the next tile of the codebook comes into shared memory by asynchronous copies while the current one is used.
// Why: all warps of an SM belong to one CTA and wait for the tile of each turn.
#include "../common.h"

#include <cuda_pipeline.h>

enum { BLOCK = 512, CODES = 256, DIM = 8, TILE = CODES * DIM };

// The nearest code of a thread's vector among those of a tile that begins with code `first`.
static __device__ __forceinline__ void look_through(const float *tile, const float *x, int first, float *least,
                                                    int *nearest) {
    for (int c = 0; c < CODES; c++) {
        float4 a = *(const float4 *)&tile[c * DIM], b = *(const float4 *)&tile[c * DIM + 4];
        float d0 = x[0] - a.x, d1 = x[1] - a.y, d2 = x[2] - a.z, d3 = x[3] - a.w;
        float d4 = x[4] - b.x, d5 = x[5] - b.y, d6 = x[6] - b.z, d7 = x[7] - b.w;
        float far = d0 * d0 + d1 * d1 + d2 * d2 + d3 * d3 + d4 * d4 + d5 * d5 + d6 * d6 + d7 * d7;
        if (far < *least) {
            *least = far;
            *nearest = first + c;
        }
    }
}

// Vector quantisation: the nearest code of each vector; there is one CTA for each SM.
__global__ void codebook(const float *vectors, const float *codes, int *nearest, int count) {
    int i = blockIdx.x * BLOCK + threadIdx.x, best = 0;
    float x[DIM], least = 1e30f;
#pragma unroll
    for (int k = 0; k < DIM; k++)
        x[k] = vectors[k * gridDim.x * BLOCK + i];
#ifdef AFTER
    __shared__ __align__(16) float tile[2][TILE];
    __pipeline_memcpy_async(&tile[0][4 * threadIdx.x], &codes[4 * threadIdx.x], 16);
    __pipeline_commit();
    for (int first = 0; first < count; first += CODES) {
        int now = first / CODES % 2;
        if (first + CODES < count)
            __pipeline_memcpy_async(&tile[!now][4 * threadIdx.x], &codes[(first + CODES) * DIM + 4 * threadIdx.x], 16);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        look_through(tile[now], x, first, &least, &best);
        __syncthreads();
    }
#else
    __shared__ __align__(16) float tile[TILE];
    for (int first = 0; first < count; first += CODES) {
        *(float4 *)&tile[4 * threadIdx.x] = *(const float4 *)&codes[first * DIM + 4 * threadIdx.x];
        __syncthreads();
        look_through(tile, x, first, &least, &best);
        __syncthreads();
    }
#endif
    nearest[i] = best;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "codebook");
    int blocks = p.small ? 8 : 132, n = blocks * BLOCK, count = p.small ? 1 << 11 : 1 << 14;
    std::vector<float> vectors = random_floats((size_t)n * DIM, 0, 1, 1),
                       codes = random_floats((size_t)count * DIM, 0, 1, 2);
    float *d_vectors = device_copy_of(vectors.data(), vectors.size()),
          *d_codes = device_copy_of(codes.data(), codes.size());
    int *d_nearest = device_array<int>(n);
    pair_time(&p, [&] { codebook<<<blocks, BLOCK>>>(d_vectors, d_codes, d_nearest, count); });
    std::vector<int> nearest = host_copy_of(d_nearest, n);
    for (int i = 0; i < n; i += 997) {
        double least = 1e30, got = 0;
        for (int c = 0; c < count; c++) {
            double far = 0;
            for (int k = 0; k < DIM; k++)
                far += pow(vectors[(size_t)k * n + i] - codes[(size_t)c * DIM + k], 2);
            least = std::min(least, far);
            got = c == nearest[i] ? far : got;
        }
        pair_near(&p, "distance", i, least, got, 1e-5);
    }
    return pair_end(&p);
}

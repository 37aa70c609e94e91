// SPDX-License-Identifier: Apache-2.0
//
// Rule: async-copy
// Change: the next samples are copied to shared memory by cp.async while the present ones are used.
// Why: there is about one block on each SM, so that all its warps wait whenever new samples come.
#include "../common.h"

#include <cuda_pipeline.h>

enum { BLOCK = 256, SIDE = 64, TIMES = 8, OWN = 4, COPIES = SIDE * TIMES / 2 };  // OWN x OWN pairs are a thread's

// Correlates the signals of all antennas of a radio telescope with each other; a block has SIDE x SIDE pairs.
__global__ void visibilities(const float4 *samples, float2 *sums, int antennas, int times) {
#ifdef AFTER
    __shared__ float4 left[2][COPIES], right[2][COPIES];
#else
    __shared__ float4 left[1][COPIES], right[1][COPIES];
#endif
    int me = threadIdx.x, x = me % 16, y = me / 16;
    int time_of_copy = me / (SIDE / 2), place = me % (SIDE / 2), row = antennas / 2;
    const float4 *from_left = samples + time_of_copy * row + blockIdx.y * (SIDE / 2) + place;
    const float4 *from_right = samples + time_of_copy * row + blockIdx.x * (SIDE / 2) + place;
    float2 sum[OWN][OWN] = {};
#ifdef AFTER
    __pipeline_memcpy_async(&left[0][me], from_left, sizeof(float4));
    __pipeline_memcpy_async(&right[0][me], from_right, sizeof(float4));
    __pipeline_commit();
#endif
    for (int t = 0; t < times; t += TIMES) {
#ifdef AFTER
        int now = t / TIMES % 2;
        if (t + TIMES < times) {
            __pipeline_memcpy_async(&left[!now][me], from_left + (t + TIMES) * row, sizeof(float4));
            __pipeline_memcpy_async(&right[!now][me], from_right + (t + TIMES) * row, sizeof(float4));
        }
        __pipeline_commit();
        __pipeline_wait_prior(1);
#else
        const int now = 0;
        left[now][me] = from_left[t * row];
        right[now][me] = from_right[t * row];
#endif
        __syncthreads();
        const float2 *a = (const float2 *)left[now], *b = (const float2 *)right[now];
#pragma unroll
        for (int k = 0; k < TIMES; k++)
#pragma unroll
            for (int i = 0; i < OWN; i++)
#pragma unroll
                for (int j = 0; j < OWN; j++) {
                    float2 p = a[k * SIDE + y + 16 * i], q = b[k * SIDE + x + 16 * j];
                    sum[i][j].x += p.x * q.x + p.y * q.y;
                    sum[i][j].y += p.y * q.x - p.x * q.y;
                }
        __syncthreads();
    }
    for (int i = 0; i < OWN; i++)
        for (int j = 0; j < OWN; j++)
            sums[(blockIdx.y * SIDE + y + 16 * i) * antennas + blockIdx.x * SIDE + x + 16 * j] = sum[i][j];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "visibilities");
    int antennas = p.small ? 2 * SIDE : 11 * SIDE, times = p.small ? 2 * TIMES : 64 * TIMES;
    size_t n = (size_t)antennas * antennas;
    std::vector<float> samples = random_floats((size_t)antennas * times * 2, -1, 1, 1);
    float4 *d_samples = (float4 *)device_copy_of(samples.data(), samples.size());
    float2 *d_sums = device_array<float2>(n);
    dim3 grid(antennas / SIDE, antennas / SIDE);
    pair_time(&p, [&] { visibilities<<<grid, BLOCK>>>(d_samples, d_sums, antennas, times); });
    std::vector<float2> sums = host_copy_of(d_sums, n);
    for (size_t i = 0; i < n; i += 331) {
        double x = 0, y = 0;
        for (int t = 0; t < times; t++) {
            const float *a = &samples[((size_t)t * antennas + i / antennas) * 2];
            const float *b = &samples[((size_t)t * antennas + i % antennas) * 2];
            x += (double)a[0] * b[0] + (double)a[1] * b[1];
            y += (double)a[1] * b[0] - (double)a[0] * b[1];
        }
        pair_near(&p, "real", i, x, sums[i].x, 1e-4);
        pair_near(&p, "imaginary", i, y, sums[i].y, 1e-4);
    }
    return pair_end(&p);
}

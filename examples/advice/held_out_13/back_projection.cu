// SPDX-License-Identifier: Apache-2.0
//
// Rule: async-copy
// Also: code-reordering
// Change: the next row of the sinogram is copied asynchronously to a second buffer while this one is used.
// Why: the only block of an SM waits at each angle until the row came from global memory.
#include "../common.h"

#include <cuda_pipeline.h>

enum { BLOCK = 256, PIXELS = 8, DETECTORS = 768, MAX_ANGLES = 360 };

__constant__ float2 d_directions[MAX_ANGLES];

// Smears each row of a (filtered) sinogram back over the image along the direction in which it was taken.
__global__ void back_projection(const float *sinogram, float *image, int width, int height, int angles) {
    int first = blockIdx.x * BLOCK * PIXELS + threadIdx.x;
    float sums[PIXELS] = {0};
#ifdef AFTER
    __shared__ float rows[2][DETECTORS];
    for (int d = threadIdx.x; d < DETECTORS; d += BLOCK)
        __pipeline_memcpy_async(&rows[0][d], &sinogram[d], sizeof(float));
    __pipeline_commit();
#else
    __shared__ float row[DETECTORS];
#endif
    for (int angle = 0; angle < angles; angle++) {
#ifdef AFTER
        const float *row = rows[angle % 2];
        if (angle + 1 < angles)
            for (int d = threadIdx.x; d < DETECTORS; d += BLOCK)
                __pipeline_memcpy_async(&rows[(angle + 1) % 2][d], &sinogram[(angle + 1) * DETECTORS + d],
                                        sizeof(float));
        __pipeline_commit();
        __pipeline_wait_prior(1);
#else
        for (int d = threadIdx.x; d < DETECTORS; d += BLOCK)
            row[d] = sinogram[angle * DETECTORS + d];
#endif
        __syncthreads();
        float2 direction = d_directions[angle];
#pragma unroll
        for (int k = 0; k < PIXELS; k++) {
            int pixel = first + k * BLOCK;
            float x = (float)(pixel % width - width / 2), y = (float)(pixel / width - height / 2);
            float at = x * direction.x + y * direction.y + DETECTORS / 2, whole = floorf(at);
            int d = (int)whole;
            sums[k] += row[d] + (at - whole) * (row[d + 1] - row[d]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int k = 0; k < PIXELS; k++)
        image[first + k * BLOCK] = sums[k];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "back_projection");
    int width = p.small ? 64 : 512, height = p.small ? 96 : 512, angles = p.small ? 4 : 240;
    std::vector<float> sinogram = random_floats((size_t)angles * DETECTORS, -1, 1, 1);
    std::vector<float2> directions(angles);
    for (int a = 0; a < angles; a++)
        directions[a] = {cosf(3.14159265f * a / angles), sinf(3.14159265f * a / angles)};
    float *d_sinogram = device_copy_of(sinogram.data(), sinogram.size()),
          *d_image = device_array<float>(width * height);
    CUDA_CHECK(cudaMemcpyToSymbol(d_directions, directions.data(), angles * sizeof(float2)));
    int blocks = width * height / (BLOCK * PIXELS);
    pair_time(&p, [&] { back_projection<<<blocks, BLOCK>>>(d_sinogram, d_image, width, height, angles); });
    std::vector<float> image = host_copy_of(d_image, width * height);
    for (int pixel = 0; pixel < width * height; pixel += 331) {
        double sum = 0;
        for (int a = 0; a < angles; a++) {
            double at = (pixel % width - width / 2) * (double)directions[a].x +
                        (pixel / width - height / 2) * (double)directions[a].y + DETECTORS / 2;
            const float *value = &sinogram[a * DETECTORS + (int)at];
            sum += value[0] + (at - floor(at)) * (value[1] - value[0]);
        }
        pair_near(&p, "pixel", pixel, sum, image[pixel], 2e-3);
    }
    return pair_end(&p);
}

// SPDX-License-Identifier: Apache-2.0
//
// Rule: tail-effect
// Change: a block has 32 rows of the image instead of 256.
// Why: 144 large blocks, of which an SM holds one, need two rounds on 132 SMs, and the second has twelve of them.
#include "../common.h"

enum { BLOCK = 1024, COLUMNS = 64, STRIDE = BLOCK / COLUMNS, BATCH = 128 };

#ifdef AFTER
enum { OWN = 2 };
#else
enum { OWN = 16 };
#endif

// Image of the sky from what a radio interferometer measured: a Fourier sum over its baselines for each pixel.
__global__ void __launch_bounds__(BLOCK, 1)
    dirty_image(const float4 *measured, float *image, int width, int count, float scale) {
    __shared__ float4 batch[BATCH];
    int x = blockIdx.x * COLUMNS + threadIdx.x % COLUMNS, y = blockIdx.y * STRIDE * OWN + threadIdx.x / COLUMNS;
    float l = (float)(x - width / 2), sum[OWN] = {};
    for (int base = 0; base < count; base += BATCH) {
        __syncthreads();
        int size = min(BATCH, count - base);
        if (threadIdx.x < size)
            batch[threadIdx.x] = measured[base + threadIdx.x];
        __syncthreads();
        for (int b = 0; b < size; b++) {
            float4 v = batch[b];  // u, v, real and imaginary part
            float along = v.x * l;
#pragma unroll
            for (int k = 0; k < OWN; k++) {
                float phase = along + v.y * (float)(y + k * STRIDE - width / 2), s, c;
                __sincosf(phase, &s, &c);
                sum[k] += v.z * c - v.w * s;
            }
        }
    }
#pragma unroll
    for (int k = 0; k < OWN; k++)
        image[(y + k * STRIDE) * width + x] = sum[k] * scale;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "dirty_image");
    int width = p.small ? 4 * COLUMNS : 24 * COLUMNS, count = p.small ? 4 : 2 * BATCH;
    std::vector<float> measured = random_floats((size_t)count * 4, -1, 1, 1);
    for (int b = 0; b < count; b++)
        for (int k = 0; k < 2; k++)
            measured[4 * b + k] *= 6.0f / (float)width;
    float scale = 1.0f / (float)count;
    float4 *d_measured = (float4 *)device_copy_of(measured.data(), measured.size());
    float *d_image = device_array<float>((size_t)width * width);
    dim3 grid(width / COLUMNS, width / (STRIDE * OWN));
    pair_time(&p, [&] { dirty_image<<<grid, BLOCK>>>(d_measured, d_image, width, count, scale); });
    std::vector<float> image = host_copy_of(d_image, (size_t)width * width);
    for (int i = 0; i < width * width; i += 1009) {
        double sum = 0;
        for (int b = 0; b < count; b++) {
            const float *v = &measured[4 * b];
            double phase = (double)v[0] * (i % width - width / 2) + (double)v[1] * (i / width - width / 2);
            sum += v[2] * cos(phase) - v[3] * sin(phase);
        }
        pair_near(&p, "image", i, sum * scale, image[i], 1e-4);
    }
    return pair_end(&p);
}

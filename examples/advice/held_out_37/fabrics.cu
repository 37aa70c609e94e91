// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernel-merge
// Change: the kernel that averages gradients computes them itself; no kernel writes them to memory before.
// Why: the gradients took 8 bytes written and 8 read for every byte of the image; merged, they never leave the
// registers, and there is one launch instead of two.
#include "../common.h"

// Inspection of woven fabric: the direction of the threads in every patch of 16 x 16 pixels, from the structure
// tensor of the camera's grey values. Per patch: the angle of the threads (radians, along the threads) and
// the coherence (0: no direction, 1: all gradients parallel), which drops where the weave is faulty.
constexpr int PATCH = 16;
constexpr int WARPS = PATCH * PATCH / 32;

struct Tensor {
    float xx, yy, xy;
};

// Sobel gradient; beyond its edge the image goes on with its last pixels.
__device__ inline float2 gradient_at(const unsigned char *__restrict__ image, int x, int y, int width, int height) {
    int west = max(x - 1, 0), east = min(x + 1, width - 1);
    const unsigned char *north = image + (size_t)max(y - 1, 0) * width;
    const unsigned char *here = image + (size_t)y * width;
    const unsigned char *south = image + (size_t)min(y + 1, height - 1) * width;
    int gx = north[east] + 2 * here[east] + south[east] - north[west] - 2 * here[west] - south[west];
    int gy = south[west] + 2 * south[x] + south[east] - north[west] - 2 * north[x] - north[east];
    return make_float2(gx / 8.0f, gy / 8.0f);
}

#ifndef AFTER
__global__ void __launch_bounds__(PATCH *PATCH) gradients(const unsigned char *__restrict__ image,
                                                          float *__restrict__ gx, float *__restrict__ gy, int width,
                                                          int height) {
    int x = blockIdx.x * PATCH + threadIdx.x, y = blockIdx.y * PATCH + threadIdx.y;
    float2 g = gradient_at(image, x, y, width, height);
    gx[(size_t)y * width + x] = g.x;
    gy[(size_t)y * width + x] = g.y;
}
#endif

__global__ void __launch_bounds__(PATCH *PATCH) directions(const unsigned char *__restrict__ image,
                                                           const float *__restrict__ gx,
                                                           const float *__restrict__ gy, float *__restrict__ angle,
                                                           float *__restrict__ coherence, int width, int height) {
    __shared__ Tensor parts[WARPS];
    int x = blockIdx.x * PATCH + threadIdx.x, y = blockIdx.y * PATCH + threadIdx.y;
#ifdef AFTER
    float2 g = gradient_at(image, x, y, width, height);
#else
    float2 g = make_float2(gx[(size_t)y * width + x], gy[(size_t)y * width + x]);
#endif
    Tensor t = {g.x * g.x, g.y * g.y, g.x * g.y};
    for (int offset = 16; offset > 0; offset /= 2) {
        t.xx += __shfl_xor_sync(~0u, t.xx, offset);
        t.yy += __shfl_xor_sync(~0u, t.yy, offset);
        t.xy += __shfl_xor_sync(~0u, t.xy, offset);
    }
    int thread = threadIdx.y * PATCH + threadIdx.x;
    if (thread % 32 == 0)
        parts[thread / 32] = t;
    __syncthreads();
    if (thread == 0) {
        Tensor sum = {0, 0, 0};
        for (int w = 0; w < WARPS; w++) {
            sum.xx += parts[w].xx;
            sum.yy += parts[w].yy;
            sum.xy += parts[w].xy;
        }
        float difference = sum.xx - sum.yy, twice = 2.0f * sum.xy;
        int patch = blockIdx.y * gridDim.x + blockIdx.x;
        angle[patch] = 0.5f * atan2f(twice, difference) + 1.57079633f;
        coherence[patch] = sqrtf(difference * difference + twice * twice) / (sum.xx + sum.yy + 1e-3f);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "fabrics");
    int width = p.small ? 64 : 6144, height = p.small ? 32 : 4096;
    size_t pixels = (size_t)width * height;

    // Twill: diagonal ribs whose slope drifts over the image, with noise.
    std::vector<unsigned char> image(pixels);
    unsigned seed = 17;
    for (int y = 0; y < height; y++) {
        int slope = 2 + y / 512;
        for (int x = 0; x < width; x++) {
            int rib = (5 * x + slope * y) & 63;
            image[(size_t)y * width + x] = (unsigned char)(60 + 3 * abs(rib - 32) + lcg_next(&seed, 32));
        }
    }
    dim3 block(PATCH, PATCH), grid(width / PATCH, height / PATCH);
    size_t patches = (size_t)grid.x * grid.y;
    unsigned char *d_image = device_copy_of(image.data(), pixels);
    float *d_gx = device_array<float>(pixels);
    float *d_gy = device_array<float>(pixels);
    float *d_angle = device_array<float>(patches);
    float *d_coherence = device_array<float>(patches);

    pair_time(&p, [&] {
#ifndef AFTER
        gradients<<<grid, block>>>(d_image, d_gx, d_gy, width, height);
#endif
        directions<<<grid, block>>>(d_image, d_gx, d_gy, d_angle, d_coherence, width, height);
    });

    std::vector<float> angle = host_copy_of(d_angle, patches), coherence = host_copy_of(d_coherence, patches);
    auto pixel = [&](int x, int y) {
        x = std::min(std::max(x, 0), width - 1);
        y = std::min(std::max(y, 0), height - 1);
        return (int)image[(size_t)y * width + x];
    };
    for (size_t patch = 0; patch < patches; patch += p.small ? 1 : 53) {
        int left = patch % grid.x * PATCH, top = patch / grid.x * PATCH;
        double xx = 0, yy = 0, xy = 0;
        for (int y = top; y < top + PATCH; y++) {
            for (int x = left; x < left + PATCH; x++) {
                double gx = 0, gy = 0;
                for (int d = -1; d <= 1; d++) {
                    gx += (2 - abs(d)) * (pixel(x + 1, y + d) - pixel(x - 1, y + d)) / 8.0;
                    gy += (2 - abs(d)) * (pixel(x + d, y + 1) - pixel(x + d, y - 1)) / 8.0;
                }
                xx += gx * gx;
                yy += gy * gy;
                xy += gx * gy;
            }
        }
        double length = hypot(xx - yy, 2 * xy);
        pair_near(&p, "coherence", patch, length / (xx + yy + 1e-3), coherence[patch], 1e-4);
        // The double angle as a vector: angles near 0 and pi are neighbours.
        pair_near(&p, "cosine", patch, (yy - xx) / length, cos(2.0 * angle[patch]), 1e-3);
        pair_near(&p, "sine", patch, -2 * xy / length, sin(2.0 * angle[patch]), 1e-3);
    }
    for (float *array : {d_gx, d_gy, d_angle, d_coherence})
        CUDA_CHECK(cudaFree(array));
    CUDA_CHECK(cudaFree(d_image));
    return pair_end(&p);
}

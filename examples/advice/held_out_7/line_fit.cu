// SPDX-License-Identifier: Apache-2.0
//
// Rule: redundant-loads
// Change: the five sums of a fit are kept in registers and stored once, instead of being added to in global memory.
// Why: each sample loads and stores the five sums again.
#include "../common.h"

enum { BLOCK = 256, SAMPLES = 64, SUMS = 5 };

// The sums of weighted least squares for each pixel of a stack of images: w, wx, wxx, wy, wxy.
__global__ void line_fit(const float *image, const float *weight, float *sums, int pixels) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
#ifdef AFTER
    float s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0;
#else
    for (int k = 0; k < SUMS; k++)
        sums[k * pixels + i] = 0;
#endif
    for (int s = 0; s < SAMPLES; s++) {
        float y = image[s * pixels + i], w = weight[s * pixels + i], x = 0.125f * s;
#ifdef AFTER
        s0 += w;
        s1 += w * x;
        s2 += w * x * x;
        s3 += w * y;
        s4 += w * x * y;
#else
        sums[i] += w;
        sums[pixels + i] += w * x;
        sums[2 * pixels + i] += w * x * x;
        sums[3 * pixels + i] += w * y;
        sums[4 * pixels + i] += w * x * y;
#endif
    }
#ifdef AFTER
    sums[i] = s0;
    sums[pixels + i] = s1;
    sums[2 * pixels + i] = s2;
    sums[3 * pixels + i] = s3;
    sums[4 * pixels + i] = s4;
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "line_fit");
    int pixels = p.small ? 1 << 13 : 1 << 19;
    size_t n = (size_t)pixels * SAMPLES;
    std::vector<float> image = random_floats(n, 0, 4, 1), weight = random_floats(n, 0.5f, 1, 2);
    float *d_image = device_copy_of(image.data(), n), *d_weight = device_copy_of(weight.data(), n),
          *d_sums = device_array<float>((size_t)SUMS * pixels);
    pair_time(&p, [&] { line_fit<<<pixels / BLOCK, BLOCK>>>(d_image, d_weight, d_sums, pixels); });
    std::vector<float> sums = host_copy_of(d_sums, (size_t)SUMS * pixels);
    for (int i = 0; i < pixels; i += 997) {
        double expected[SUMS] = {};
        for (int s = 0; s < SAMPLES; s++) {
            double y = image[(size_t)s * pixels + i], w = weight[(size_t)s * pixels + i], x = 0.125 * s;
            double all[SUMS] = {w, w * x, w * x * x, w * y, w * x * y};
            for (int k = 0; k < SUMS; k++)
                expected[k] += all[k];
        }
        for (int k = 0; k < SUMS; k++)
            pair_near(&p, "sum", (size_t)k * pixels + i, expected[k], sums[(size_t)k * pixels + i], 1e-4);
    }
    return pair_end(&p);
}

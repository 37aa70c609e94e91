// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernel-merge
// Change: one kernel subtracts, divides and clips.
// Why: each of three kernels loads and stores the image.
#include "../common.h"

enum { BLOCK = 256 };

#ifdef AFTER
__global__ void normalise(float *image, const float *mean, const float *deviation, float most) {
    size_t i = (size_t)blockIdx.x * BLOCK + threadIdx.x;
    float v = __fdividef(image[i] - mean[i], deviation[i]);
    image[i] = fminf(fmaxf(v, -most), most);
}
#else
__global__ void subtract(float *image, const float *mean) {
    size_t i = (size_t)blockIdx.x * BLOCK + threadIdx.x;
    image[i] -= mean[i];
}

__global__ void divide(float *image, const float *deviation) {
    size_t i = (size_t)blockIdx.x * BLOCK + threadIdx.x;
    image[i] = __fdividef(image[i], deviation[i]);
}

__global__ void clip(float *image, float most) {
    size_t i = (size_t)blockIdx.x * BLOCK + threadIdx.x;
    image[i] = fminf(fmaxf(image[i], -most), most);
}
#endif

static void launch(float *image, const float *mean, const float *deviation, float most, int blocks) {
#ifdef AFTER
    normalise<<<blocks, BLOCK>>>(image, mean, deviation, most);
#else
    subtract<<<blocks, BLOCK>>>(image, mean);
    divide<<<blocks, BLOCK>>>(image, deviation);
    clip<<<blocks, BLOCK>>>(image, most);
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "normalise_clip");
    int n = p.small ? 1 << 16 : 1 << 25;
    std::vector<float> image = random_floats(n, 0, 1, 1), mean = random_floats(n, 0.4f, 0.6f, 2),
                       deviation = random_floats(n, 0.1f, 0.2f, 3);
    float *d_image = device_copy_of(image.data(), n), *d_mean = device_copy_of(mean.data(), n),
          *d_deviation = device_copy_of(deviation.data(), n);
    pair_time(&p, [&] { launch(d_image, d_mean, d_deviation, 3, n / BLOCK); });
    CUDA_CHECK(cudaMemcpy(d_image, image.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    launch(d_image, d_mean, d_deviation, 3, n / BLOCK);
    std::vector<float> out = host_copy_of(d_image, n);
    for (int i = 0; i < n; i += 1009)
        pair_near(&p, "image", i, std::min(std::max((image[i] - mean[i]) / deviation[i], -3.0f), 3.0f), out[i], 1e-4);
    return pair_end(&p);
}

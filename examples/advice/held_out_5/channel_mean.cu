// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: the image is stored with its channels last.
// Why: neighbouring threads have neighbouring channels, whose planes lie far apart.
#include "../common.h"

enum { BLOCK = 128, CHANNELS = 256, PIXELS = 14 * 14 };

#ifdef AFTER
#define AT(image, pixel, channel) (((image)*PIXELS + (pixel)) * CHANNELS + (channel))
#else
#define AT(image, pixel, channel) (((image)*CHANNELS + (channel)) * PIXELS + (pixel))
#endif

// Mean over the pixels, for each channel of each image.
__global__ void channel_mean(const float *in, float *mean, int images) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    int image = i / CHANNELS, channel = i % CHANNELS;
    float sum = 0;
    for (int pixel = 0; pixel < PIXELS; pixel++)
        sum += in[AT((size_t)image, pixel, channel)];
    mean[i] = sum / PIXELS;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "channel_mean");
    int images = p.small ? 8 : 1024;
    size_t all = (size_t)images * CHANNELS * PIXELS;
    std::vector<float> in = random_floats(all, 0, 1, 1);
    float *d_in = device_copy_of(in.data(), all), *d_mean = device_array<float>((size_t)images * CHANNELS);
    pair_time(&p, [&] { channel_mean<<<images * CHANNELS / BLOCK, BLOCK>>>(d_in, d_mean, images); });
    std::vector<float> mean = host_copy_of(d_mean, (size_t)images * CHANNELS);
    for (int i = 0; i < images * CHANNELS; i += 89) {
        double sum = 0;
        for (int pixel = 0; pixel < PIXELS; pixel++)
            sum += in[AT((size_t)(i / CHANNELS), pixel, i % CHANNELS)];
        pair_near(&p, "mean", i, sum / PIXELS, mean[i], 1e-4);
    }
    return pair_end(&p);
}

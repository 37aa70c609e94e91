// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Change: the four bytes of a pixel are loaded at once.
// Why: each pixel takes three loads of one byte.
#include "../common.h"

enum { BLOCK = 256, CHANNELS = 4 };

static __host__ __device__ inline float skin_of(float r, float g, float b) {
    float sum = r + g + b + 1.0f, red = r / sum - 0.44f, green = g / sum - 0.31f;
    return red * red * 90.0f + green * green * 210.0f + red * green * 60.0f;
}

// How far the colour of each pixel is from that of skin.
__global__ void skin_tone(const unsigned char *pixels, unsigned char *out) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
#ifdef AFTER
    uchar4 pixel = ((const uchar4 *)pixels)[i];
    float r = pixel.x, g = pixel.y, b = pixel.z;
#else
    float r = pixels[i * CHANNELS], g = pixels[i * CHANNELS + 1], b = pixels[i * CHANNELS + 2];
#endif
    out[i] = (unsigned char)fminf(255.0f * skin_of(r, g, b), 255.0f);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "skin_tone");
    int n = p.small ? 1 << 15 : 1 << 23;
    std::vector<unsigned char> pixels((size_t)n * CHANNELS);
    unsigned seed = 1;
    for (unsigned char &c : pixels)
        c = (unsigned char)lcg_next(&seed, 256);
    unsigned char *d_pixels = device_copy_of(pixels.data(), pixels.size()), *d_out = device_array<unsigned char>(n);
    pair_time(&p, [&] { skin_tone<<<n / BLOCK, BLOCK>>>(d_pixels, d_out); });
    std::vector<unsigned char> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 499) {
        const unsigned char *at = &pixels[(size_t)i * CHANNELS];
        double expected = std::min(255.0 * skin_of(at[0], at[1], at[2]), 255.0);
        if (fabs(expected - out[i]) > 1.01)
            pair_near(&p, "skin", i, expected, out[i], 0);
    }
    return pair_end(&p);
}

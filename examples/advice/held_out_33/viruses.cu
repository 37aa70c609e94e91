// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Change: a thread has four pixels side by side, and loads and stores them as one uchar4 and one float4.
// Why: a warp asks for 32 bytes with each load of single bytes, so there are four times as many loads, addresses and
// tests of the weight; issuing them sets the pace and not the memory.
#include "../common.h"

enum { BLOCK = 256, MAX_FRAMES = 64 };

struct Exposure {
    int frames;
    float scale;                  // of the sum, for the fixed point and the dose
    unsigned weight[MAX_FRAMES];  // of each frame by the damage done so far, in 1/256; 0 if the sample moved
};

static __device__ float corrected(unsigned sum, float gain, float dark, float scale) {
    return fmaxf((sum * scale - dark) * gain, 0.0f);
}

// The dose-weighted sum of an electron microscope's movie, corrected by the detector's gain and dark current.
__global__ void sum_movie(const unsigned char *movie, const float *gain, const float *dark, float *image,
                          const __grid_constant__ Exposure exposure, int pixels) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
#ifdef AFTER
    int groups = pixels / 4;
    if (i >= groups)
        return;
    uint4 sum = {0, 0, 0, 0};
    for (int f = 0; f < exposure.frames; f++) {
        unsigned weight = exposure.weight[f];
        if (weight == 0)
            continue;
        uchar4 counts = reinterpret_cast<const uchar4 *>(movie)[(size_t)f * groups + i];
        sum.x += weight * counts.x;
        sum.y += weight * counts.y;
        sum.z += weight * counts.z;
        sum.w += weight * counts.w;
    }
    float4 g = reinterpret_cast<const float4 *>(gain)[i], d = reinterpret_cast<const float4 *>(dark)[i];
    reinterpret_cast<float4 *>(image)[i] =
        make_float4(corrected(sum.x, g.x, d.x, exposure.scale), corrected(sum.y, g.y, d.y, exposure.scale),
                    corrected(sum.z, g.z, d.z, exposure.scale), corrected(sum.w, g.w, d.w, exposure.scale));
#else
    if (i >= pixels)
        return;
    unsigned sum = 0;
    for (int f = 0; f < exposure.frames; f++) {
        unsigned weight = exposure.weight[f];
        if (weight == 0)
            continue;
        sum += weight * movie[(size_t)f * pixels + i];
    }
    image[i] = corrected(sum, gain[i], dark[i], exposure.scale);
#endif
}

#ifdef AFTER
enum { PIXELS_PER_THREAD = 4 };
#else
enum { PIXELS_PER_THREAD = 1 };
#endif

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "viruses");
    int width = p.small ? 512 : 2048, height = p.small ? 516 : 1860, pixels = width * height;
    Exposure exposure = {p.small ? 20 : 50, 0.0f, {}};
    unsigned all = 0;
    for (int f = 0; f < exposure.frames; f++)
        all += exposure.weight[f] = f % 11 == 1 ? 0 : (unsigned)(256 * exp(-0.03 * f));
    exposure.scale = 1.0f / all;
    std::vector<unsigned char> movie((size_t)pixels * exposure.frames);
    unsigned state = 12;
    for (size_t k = 0; k + 3 < movie.size(); k += 4) {
        state = state * 1664525u + 1013904223u;
        unsigned counts = state >> 4 & 0x1f1f1f1f;
        memcpy(&movie[k], &counts, 4);
    }
    std::vector<float> gain = random_floats(pixels, 0.8f, 1.2f, 1), dark = random_floats(pixels, 0, 4, 2);
    unsigned char *d_movie = device_copy_of(movie.data(), movie.size());
    float *d_gain = device_copy_of(gain.data(), pixels), *d_dark = device_copy_of(dark.data(), pixels),
          *d_image = device_array<float>(pixels);
    int threads = pixels / PIXELS_PER_THREAD;
    pair_time(&p, [&] {
        sum_movie<<<(threads + BLOCK - 1) / BLOCK, BLOCK>>>(d_movie, d_gain, d_dark, d_image, exposure, pixels);
    });
    std::vector<float> image = host_copy_of(d_image, pixels);
    for (int i = 0; i < pixels; i += pixels / 1999) {
        double sum = 0;
        for (int f = 0; f < exposure.frames; f++)
            sum += exposure.weight[f] * (double)movie[(size_t)f * pixels + i];
        pair_near(&p, "image", i, std::max((sum / all - dark[i]) * gain[i], 0.0), image[i], 1e-4);
    }
    return pair_end(&p);
}

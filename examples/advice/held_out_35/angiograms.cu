// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Change: a thread takes eight neighbouring pixels: it reads 16 bytes of the frame at once and writes 8, not 2 and 1.
// Why: with two bytes a load of the frame, the warps that fit on an SM have too few bytes under way to keep the memory
// busy, and every pixel pays for its own address and its own memory instructions.
#include "../common.h"

#ifdef AFTER
constexpr int WIDE = 8;
#else
constexpr int WIDE = 1;
#endif
constexpr int THREADS = 256;

// The detector delivers 12 of 16 bits; the monitor shows 8.
struct alignas(2 * WIDE) Raw {
    unsigned short at[WIDE];
};
struct alignas(4 * WIDE) Logarithm {
    float at[WIDE];
};
struct alignas(WIDE) Shown {
    unsigned char at[WIDE];
};

// Contrast of the monitor: grey level of "no vessel", and grey levels for a doubling of the attenuation.
struct Window {
    float level, gain;
};

// Digital subtraction angiography. `mask` is the picture before the contrast agent is injected, as logarithms to base 2
// once and for all, `live` the frames after it. X-rays are attenuated exponentially, so the vessels are what is left of
// the difference of the logarithms.
// `exposure` is how much brighter the tube was for a frame than for the mask, as a logarithm to base 2.
__global__ void subtract(const Logarithm *__restrict__ mask, const Raw *__restrict__ live,
                         const float *__restrict__ exposure, Shown *__restrict__ shown, int groups, Window window) {
    const int group = blockIdx.x * THREADS + threadIdx.x, frame = blockIdx.y;
    if (group >= groups)
        return;
    const size_t place = (size_t)frame * groups + group;
    const Logarithm before = mask[group];
    const Raw now = live[place];
    const float offset = exposure[frame];
    Shown out;
#pragma unroll
    for (int k = 0; k < WIDE; k++) {
        float vessel = before.at[k] - __log2f((float)(now.at[k] + 1)) + offset;
        float grey = window.level - window.gain * vessel;
        out.at[k] = (unsigned char)__float2uint_rn(fminf(fmaxf(grey, 0.0f), 255.0f));
    }
    shown[place] = out;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "angiograms");
    const int width = p.small ? 128 : 2048, height = p.small ? 96 : 2048, frames = p.small ? 5 : 24;
    const int pixels = width * height, groups = pixels / WIDE;
    const Window window = {200.0f, 180.0f};

    // The patient: brighter to the side where less tissue is in the way, with the noise of the quanta.
    std::vector<unsigned short> mask(pixels), live((size_t)pixels * frames);
    unsigned seed = 1927;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            mask[y * width + x] = (unsigned short)(700 + 2600 * x / width + lcg_next(&seed, 64));

    // One artery winds down the picture and fills from the top; the tube drifts a little from frame to frame.
    std::vector<float> exposure(frames), centre(height);
    for (int y = 0; y < height; y++)
        centre[y] = width * (0.5f + 0.2f * sinf(9.0f * y / height) + 0.05f * sinf(31.0f * y / height));
    for (int f = 0; f < frames; f++) {
        const float tube = 1 + 0.02f * sinf(0.9f * f), radius = width * 0.03f;
        const int filled = height * (f + 1) / frames;
        exposure[f] = log2f(tube);
        for (int y = 0; y < height; y++) {
            const unsigned short *from = &mask[(size_t)y * width];
            unsigned short *to = &live[(size_t)f * pixels + (size_t)y * width];
            for (int x = 0; x < width; x++)
                to[x] = (unsigned short)(tube * from[x] + (lcg_next(&seed, 256) >> 3));
            for (int x = 0; x < width; x++) {
                float away = (x - centre[y]) / radius;
                if (y < filled && away * away < 1)
                    to[x] = (unsigned short)(to[x] * (1 - 0.45f * sqrtf(1 - away * away)));
            }
        }
    }

    std::vector<float> log_mask(pixels);
    for (int i = 0; i < pixels; i++)
        log_mask[i] = log2f(mask[i] + 1.0f);
    Logarithm *d_mask = (Logarithm *)device_copy_of(log_mask.data(), log_mask.size());
    Raw *d_live = (Raw *)device_copy_of(live.data(), live.size());
    float *d_exposure = device_copy_of(exposure.data(), frames);
    Shown *d_shown = (Shown *)device_array<unsigned char>(live.size());
    const dim3 grid((groups + THREADS - 1) / THREADS, frames);
    pair_time(&p, [&] { subtract<<<grid, THREADS>>>(d_mask, d_live, d_exposure, d_shown, groups, window); });

    std::vector<unsigned char> shown = host_copy_of((const unsigned char *)d_shown, live.size());
    for (size_t i = 0; i < live.size(); i += p.small ? 17 : 4999) {
        double vessel = log2(mask[i % pixels] + 1.0) - log2(live[i] + 1.0) + exposure[i / pixels];
        double grey = std::min(std::max(window.level - window.gain * vessel, 0.0), 255.0);
        // Half a grey level is what rounding may do.
        pair_near(&p, "grey + 999", i, 999 + grey, 999.0 + shown[i], 0.6e-3);
    }
    return pair_end(&p);
}

// SPDX-License-Identifier: Apache-2.0
//
// Rule: vectorised-access
// Change: a thread loads its 16 bytes of samples in one access of 16 bytes, not byte by byte.
// Why: the lanes' bytes are 16 apart, so that each of the 16 loads of a warp touches the same four lines for 32 bytes.
#include "../common.h"

#include <cstdint>

enum { BLOCK = 256, PAIRS = 8, BYTES = 2 * PAIRS };

struct Level {
    int centre;  // twice the mean of the samples of a radio
    int gain;    // of its power, in 256ths
};

struct Totals {
    int power, clipped;
};

static __device__ void add_sample(Totals &t, int sample, int centre) {
    int value = 2 * sample - centre;
    t.power += value * value;
    t.clipped += sample == 0 || sample == 255;
}

#ifdef AFTER
static __device__ void add_word(Totals &t, unsigned word, int centre) {
#pragma unroll
    for (int k = 0; k < 4; k++)
        add_sample(t, word >> 8 * k & 255, centre);
}
#endif

// Power of the signal of USB radios in bins of PAIRS samples, of which each is one unsigned byte in phase and one in
// quadrature; a flag where the converter clipped. Radios are blockIdx.y.
__global__ void dongles(const uint8_t *__restrict__ samples, const Level *__restrict__ levels, int *__restrict__ power,
                        uint8_t *__restrict__ clipped, int bins) {
    int bin = blockIdx.x * BLOCK + threadIdx.x, radio = blockIdx.y;
    if (bin >= bins)
        return;
    size_t at = (size_t)radio * bins + bin;
    Level level = levels[radio];
    Totals t = {0, 0};
#ifdef AFTER
    uint4 words = reinterpret_cast<const uint4 *>(samples)[at];
    add_word(t, words.x, level.centre);
    add_word(t, words.y, level.centre);
    add_word(t, words.z, level.centre);
    add_word(t, words.w, level.centre);
#else
    const uint8_t *mine = samples + at * BYTES;
#pragma unroll
    for (int k = 0; k < BYTES; k++)
        add_sample(t, mine[k], level.centre);
#endif
    power[at] = (t.power >> 8) * level.gain;
    clipped[at] = t.clipped > 1;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "dongles");
    int radios = p.small ? 3 : 12, bins = p.small ? 100000 : 550000;
    size_t all = (size_t)radios * bins;
    std::vector<uint8_t> samples(all * BYTES);
    lcg_fill(samples.data(), samples.size(), 1, 256);
    std::vector<Level> levels;
    for (int r = 0; r < radios; r++)
        levels.push_back({255 + r % 5 - 2, 200 + 9 * r});
    uint8_t *d_samples = device_copy_of(samples.data(), samples.size()), *d_clipped = device_array<uint8_t>(all);
    Level *d_levels = device_copy_of(levels.data(), radios);
    int *d_power = device_array<int>(all);
    dim3 grid((bins + BLOCK - 1) / BLOCK, radios);
    pair_time(&p, [&] { dongles<<<grid, BLOCK>>>(d_samples, d_levels, d_power, d_clipped, bins); });
    std::vector<int> power = host_copy_of(d_power, all);
    std::vector<uint8_t> clipped = host_copy_of(d_clipped, all);
    for (size_t at = 0; at < all; at += 61) {
        const Level &level = levels[at / bins];
        int sum = 0, clips = 0;
        for (int k = 0; k < BYTES; k++) {
            int sample = samples[at * BYTES + k], value = 2 * sample - level.centre;
            sum += value * value;
            clips += sample == 0 || sample == 255;
        }
        pair_near(&p, "power", at, (sum >> 8) * level.gain, power[at], 0);
        pair_near(&p, "clipped", at, clips > 1, clipped[at], 0);
    }
    return pair_end(&p);
}

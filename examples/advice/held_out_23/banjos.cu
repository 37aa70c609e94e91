// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Change: the lanes of a warp take samples of one banjo, four apart, instead of neighbouring samples.
// Why: the four banjos' samples are interleaved and each has an effect of its own; a warp that takes neighbours goes
// through all four effects with a quarter of its lanes.
#include "../common.h"

enum { BLOCK = 256, BANJOS = 4, RATE = 48000 };

__host__ __device__ inline float fuzz(float x) {
    for (int k = 0; k < 8; k++)
        x = 0.2f * x + tanhf(1.2f * x + 0.02f * k);
    return 0.6f * x;
}

__host__ __device__ inline float warble(float x, float when) {
    float sum = 0;
    for (int k = 1; k <= 8; k++)
        sum += sinf(k * (x + 0.7f * when)) / k;
    return 0.5f * sum;
}

__host__ __device__ inline float squeeze(float x) {
    float loud = fabsf(x);
    for (int k = 0; k < 4; k++)
        loud = 0.9f * powf(loud + 0.01f, 0.8f - 0.05f * k);
    return copysignf(loud, x);
}

__host__ __device__ inline float swell(float x, float when) {
    float low = 0, band = 0;
    for (int k = 0; k < 14; k++) {
        low += 0.25f * band;
        band += 0.25f * (x - low - band * expf(-when * band * band));
    }
    return 0.7f * low;
}

// A track of four banjos, sample by sample in turn, gets the effect of each.
__global__ void play(const short *raw, short *played, float volume) {
#ifdef AFTER
    int mine = threadIdx.x % (BLOCK / BANJOS) * BANJOS + threadIdx.x / (BLOCK / BANJOS);
#else
    int mine = threadIdx.x;
#endif
    int i = blockIdx.x * BLOCK + mine;
    float x = raw[i] * (1.0f / 32768), when = i / BANJOS % RATE * (1.0f / RATE);
    switch (mine % BANJOS) {
    case 0:
        x = fuzz(x);
        break;
    case 1:
        x = warble(x, when);
        break;
    case 2:
        x = squeeze(x);
        break;
    default:
        x = swell(x, when);
    }
    played[i] = (short)(fminf(fmaxf(x * volume, -1), 1) * 32767);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "banjos");
    int n = p.small ? 32 * BLOCK : 132 * 256 * BLOCK;
    std::vector<short> raw(n);
    unsigned seed = 1;
    for (short &s : raw)
        s = (short)((int)lcg_next(&seed, 60001) - 30000);
    short *d_raw = device_copy_of(raw.data(), n), *d_played = device_array<short>(n);
    float volume = 0.85f;
    pair_time(&p, [&] { play<<<n / BLOCK, BLOCK>>>(d_raw, d_played, volume); });
    std::vector<short> played = host_copy_of(d_played, n);
    for (int i = 0; i < n; i += p.small ? 1 : 33) {
        float x = raw[i] * (1.0f / 32768), when = i / BANJOS % RATE * (1.0f / RATE);
        int banjo = i % BANJOS;
        float y = banjo == 0 ? fuzz(x) : banjo == 1 ? warble(x, when) : banjo == 2 ? squeeze(x) : swell(x, when);
        pair_near(&p, "played", i, std::min(std::max(y * volume, -1.0f), 1.0f), played[i] / 32767.0, 1e-3);
    }
    return pair_end(&p);
}

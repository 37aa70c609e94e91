// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Change: which thread of the block takes which sample: a warp now has one voice of 32 frames, not four voices of 8.
// Why: each voice has its own effect, and a warp with all four voices goes through the four effects one after another.
#include "../common.h"

enum { BLOCK = 256, VOICES = 4, FRAMES = BLOCK / VOICES };

// Violin: a warm distortion, valve after valve; each is a tanh.
__host__ __device__ inline float violin(float x, float amount) {
    for (int valve = 0; valve < 4; valve++)
        x = 0.2f * x + 1.0f - 2.0f / (1.0f + expf((1.0f + amount) * x));
    return x;
}

// Viola: compressed by its own loudness, again and again.
__host__ __device__ inline float viola(float x, float amount) {
    for (int round = 0; round < 6; round++)
        x = x * (1.0f + 0.2f * amount) / sqrtf(1.0f + amount * x * x);
    return x;
}

// Cello: logarithmic stages, softer the louder it gets.
__host__ __device__ inline float cello(float x, float amount) {
    for (int round = 0; round < 4; round++) {
        float loud = logf(1.0f + (2.0f + amount) * fabsf(x));
        x = copysignf(0.8f * loud, x) + 0.05f * x;
    }
    return x;
}

// Double bass: a resonance of the body, as a sum of bells.
__host__ __device__ inline float bass(float x, float amount) {
    float sum = x;
    for (int bell = 0; bell < 5; bell++) {
        float away = x - 0.4f * (bell - 2);
        sum += 0.1f * amount * expf(-8.0f * away * away);
    }
    return sum;
}

__host__ __device__ inline float played(int voice, float x, float amount) {
    switch (voice) {
    case 0:
        return violin(x, amount);
    case 1:
        return viola(x, amount);
    case 2:
        return cello(x, amount);
    default:
        return bass(x, amount);
    }
}

// The four voices are interleaved: frame by frame a sample of each.
__global__ void effects(const float *__restrict__ in, float *__restrict__ out, const float *__restrict__ amounts,
                        int frames) {
#ifdef AFTER
    int voice = threadIdx.x / FRAMES, frame = blockIdx.x * FRAMES + threadIdx.x % FRAMES;
#else
    int voice = threadIdx.x % VOICES, frame = blockIdx.x * FRAMES + threadIdx.x / VOICES;
#endif
    if (frame >= frames)
        return;
    size_t at = (size_t)frame * VOICES + voice;
    out[at] = played(voice, in[at], amounts[voice]);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "quartets");
    int frames = p.small ? 500 : 3000 * 1000;
    size_t count = (size_t)frames * VOICES;
    const float amounts[VOICES] = {0.9f, 1.4f, 0.7f, 1.1f};
    std::vector<float> in = random_floats(count, -1, 1, 7);
    float *d_in = device_copy_of(in.data(), count), *d_out = device_array<float>(count);
    float *d_amounts = device_copy_of(amounts, VOICES);
    pair_time(&p, [&] { effects<<<(frames + FRAMES - 1) / FRAMES, BLOCK>>>(d_in, d_out, d_amounts, frames); });
    std::vector<float> out = host_copy_of(d_out, count);
    for (size_t i = 0; i < count; i += p.small ? 1 : 43)
        pair_near(&p, "out", i, played(i % VOICES, in[i], amounts[i % VOICES]), out[i], 1e-4);
    return pair_end(&p);
}

// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: sines and powers are computed with the intrinsics of the hardware.
// Why: sinf and powf are exact to the last bits, which nobody hears, and take most of the instructions.
#include "../common.h"

enum { PARTIALS = 20, BLOCK = 128 };

#ifdef AFTER
#define SIN __sinf
#define POW __powf
#else
#define SIN sinf
#define POW powf
#endif

struct Reed {
    float pitch, beating, softness;  // Hz; of the second reed against the first; how fast partials fade
};

// A chord played on two reeds a note: the harder the bellows are pulled, the more partials are heard.
__global__ void play(const Reed *reeds, const float *bellows, float *sound, int samples, float rate) {
    int i = blockIdx.x * BLOCK + threadIdx.x, note = blockIdx.y;
    if (i >= samples)
        return;
    Reed reed = reeds[note];
    float time = i * rate, pressure = bellows[i], other = reed.pitch * reed.beating, sum = 0;
    for (int h = 1; h <= PARTIALS; h++) {
        float strength = POW(pressure, reed.softness * h);
        float first = __fmul_rn(reed.pitch * h, time), second = __fmul_rn(other * h, time);  // in turns
        first -= rintf(first);
        second -= rintf(second);
        sum += strength * (SIN(6.2831853f * first) + 0.7f * SIN(6.2831853f * second));
    }
    sound[(size_t)note * samples + i] = 0.2f * sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "accordions");
    int notes = p.small ? 1 : 66, samples = p.small ? 128 : 16384;
    float rate = 1.0f / 48000;
    std::vector<Reed> reeds(notes);
    unsigned seed = 1;
    for (Reed &r : reeds)
        r = {110.0f + lcg_next(&seed, 770), 1.001f + 0.0001f * lcg_next(&seed, 80),
             0.3f + 0.01f * lcg_next(&seed, 50)};
    std::vector<float> bellows = random_floats(samples, 0.4f, 0.95f, 2);
    Reed *d_reeds = device_copy_of(reeds.data(), notes);
    size_t n = (size_t)notes * samples;
    float *d_bellows = device_copy_of(bellows.data(), samples), *d_sound = device_array<float>(n);
    pair_time(&p, [&] {
        play<<<dim3((samples + BLOCK - 1) / BLOCK, notes), BLOCK>>>(d_reeds, d_bellows, d_sound, samples, rate);
    });
    std::vector<float> sound = host_copy_of(d_sound, n);
    for (size_t at = 0; at < n; at += p.small ? 1 : 97) {
        Reed reed = reeds[at / samples];
        int i = (int)(at % samples);
        float time = i * rate, other = reed.pitch * reed.beating;
        double sum = 0;
        for (int h = 1; h <= PARTIALS; h++) {
            float first = reed.pitch * h * time, second = other * h * time;  // rounded as on the device
            sum += pow((double)bellows[i], (double)reed.softness * h) *
                   (sin(6.283185307179586 * (first - rintf(first))) +
                    0.7 * sin(6.283185307179586 * (second - rintf(second))));
        }
        pair_near(&p, "sound", at, 0.2 * sum, sound[at], 1e-3);
    }
    return pair_end(&p);
}

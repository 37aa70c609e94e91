// SPDX-License-Identifier: Apache-2.0
//
// Rule: block-increase
// Change: the trial frequencies of a telescope are dealt to twelve CTAs instead of one.
// Why: one CTA for each telescope occupies only a third of the SMs.
#include "../common.h"

enum { BLOCK = 256, NIGHTS = 180 };

#ifdef AFTER
enum { PARTS = 12 };
#else
enum { PARTS = 1 };
#endif

struct Observation {
    float time;        // days
    float brightness;  // mean is zero
};

// The power of the star's light at each trial frequency, as each telescope has seen it.
__global__ void telescopes(const Observation *observations, float *power, int frequencies, float step) {
    __shared__ Observation seen[NIGHTS];
    for (int i = threadIdx.x; i < NIGHTS; i += BLOCK)
        seen[i] = observations[blockIdx.x * NIGHTS + i];
    __syncthreads();
    for (int f = blockIdx.y * BLOCK + threadIdx.x; f < frequencies; f += PARTS * BLOCK) {
        float omega = 6.2831853f * step * (f + 1);
        float real = 0, imaginary = 0;
        for (int i = 0; i < NIGHTS; i++) {
            float s, c;
            __sincosf(omega * seen[i].time, &s, &c);
            real += seen[i].brightness * c;
            imaginary += seen[i].brightness * s;
        }
        power[blockIdx.x * frequencies + f] = (real * real + imaginary * imaginary) / NIGHTS;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "telescopes");
    int count = p.small ? 3 : 44, frequencies = p.small ? 700 : 12000;
    float step = 1.0f / 12000;
    std::vector<Observation> observations(count * NIGHTS);
    unsigned seed = 4;
    for (int t = 0; t < count; t++)
        for (int i = 0; i < NIGHTS; i++) {
            Observation &o = observations[t * NIGHTS + i];
            o.time = i * 0.1f + 0.05f * lcg_next(&seed, 1000) / 1000;
            o.brightness = sinf(o.time * (1 + 0.05f * t)) + 0.3f * lcg_next(&seed, 1000) / 1000 - 0.15f;
        }
    Observation *d_observations = device_copy_of(observations.data(), observations.size());
    float *d_power = device_array<float>((size_t)count * frequencies);
    pair_time(&p, [&] { telescopes<<<dim3(count, PARTS), BLOCK>>>(d_observations, d_power, frequencies, step); });
    std::vector<float> power = host_copy_of(d_power, (size_t)count * frequencies);
    for (size_t k = 0; k < power.size(); k += 211) {
        int t = (int)(k / frequencies), f = (int)(k % frequencies);
        double omega = 6.2831853 * step * (f + 1), real = 0, imaginary = 0;
        for (int i = 0; i < NIGHTS; i++) {
            const Observation &o = observations[t * NIGHTS + i];
            real += o.brightness * cos(omega * o.time);
            imaginary += o.brightness * sin(omega * o.time);
        }
        pair_near(&p, "power", k, (real * real + imaginary * imaginary) / NIGHTS, power[k], 5e-3);
    }
    return pair_end(&p);
}

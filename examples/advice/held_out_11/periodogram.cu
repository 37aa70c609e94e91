// SPDX-License-Identifier: Apache-2.0
//
// Rule: block-increase
// Change: four blocks share the frequencies of a star.
// Why: one block for each of 48 stars leaves most SMs without work.
#include "../common.h"

enum { BLOCK = 256, STARS = 48, FREQUENCIES = 1024, SAMPLES = 512 };

#ifdef AFTER
enum { SHARES = 4 };
#else
enum { SHARES = 1 };
#endif

// Power of each frequency in the brightness of each star; samples lie at odd times.
__global__ void periodogram(const float *times, const float *brightness, float *power, int samples) {
    __shared__ float own_times[SAMPLES], own_brightness[SAMPLES];
    int star = blockIdx.x / SHARES, share = blockIdx.x % SHARES;
    for (int s = threadIdx.x; s < samples; s += BLOCK) {
        own_times[s] = times[star * samples + s];
        own_brightness[s] = brightness[star * samples + s];
    }
    __syncthreads();
    for (int f = share * BLOCK + threadIdx.x; f < FREQUENCIES; f += SHARES * BLOCK) {
        float omega = 0.01f * (float)(f + 1), cosines = 0, sines = 0;
        for (int s = 0; s < samples; s++) {
            float phase = omega * own_times[s];
            cosines += own_brightness[s] * __cosf(phase);
            sines += own_brightness[s] * __sinf(phase);
        }
        power[star * FREQUENCIES + f] = (cosines * cosines + sines * sines) / (float)samples;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "periodogram");
    int samples = p.small ? 32 : SAMPLES;
    std::vector<float> times = random_floats((size_t)STARS * samples, 0, 6, 1),
                       brightness = random_floats((size_t)STARS * samples, -1, 1, 2);
    float *d_times = device_copy_of(times.data(), times.size()),
          *d_brightness = device_copy_of(brightness.data(), brightness.size()),
          *d_power = device_array<float>(STARS * FREQUENCIES);
    pair_time(&p, [&] { periodogram<<<STARS * SHARES, BLOCK>>>(d_times, d_brightness, d_power, samples); });
    std::vector<float> power = host_copy_of(d_power, STARS * FREQUENCIES);
    for (int i = 0; i < STARS * FREQUENCIES; i += 97) {
        double omega = 0.01 * (i % FREQUENCIES + 1), cosines = 0, sines = 0;
        for (int s = 0; s < samples; s++) {
            size_t at = (size_t)(i / FREQUENCIES) * samples + s;
            cosines += brightness[at] * cos(omega * times[at]);
            sines += brightness[at] * sin(omega * times[at]);
        }
        pair_near(&p, "power", i, (cosines * cosines + sines * sines) / samples, power[i], 2e-3);
    }
    return pair_end(&p);
}

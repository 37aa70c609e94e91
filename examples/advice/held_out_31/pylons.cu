// SPDX-License-Identifier: Apache-2.0
//
// Rule: kernel-merge
// Change: the kernel for the conductors' temperatures and the one for their clearances become one kernel.
// Why: the temperatures need not go to memory and back, and a launch goes.
#include "../common.h"

struct Span {
    float length, sag, height;  // metres; the sag is that at 20 degrees Celsius
    float ohms;                 // per metre, at 20 degrees
};

struct Weather {
    const float *air;   // kelvin
    const float *wind;  // metres a second
};

// The temperature at which the heat of the current and of the sun equals what wind and radiation take away.
__host__ __device__ static float conductor_kelvin(const Span &span, float air, float wind, float ampere) {
    const float radiated = 0.6f * 3.14159f * 0.028f * 5.67e-8f, sun = 14.0f;
    const float cooled = 0.9f + 1.15f * sqrtf(wind), joule = ampere * ampere * span.ohms;
    const float air2 = air * air;
    float t = air + 10;
    for (int step = 0; step < 3; step++) {
        float t2 = t * t;
        float gain = joule * (1 + 0.004f * (t - 293.15f)) + sun;
        float loss = cooled * (t - air) + radiated * (t2 * t2 - air2 * air2);
        float slope = joule * 0.004f - cooled - 4 * radiated * t2 * t;
        t -= (gain - loss) / slope;
    }
    return t;
}

__host__ __device__ static float clearance_at(const Span &span, float kelvin) {
    float longer = 1.9e-5f * (kelvin - 293.15f);
    float sag2 = span.sag * span.sag + 0.375f * span.length * span.length * longer;
    return span.height - sqrtf(fmaxf(sag2, 0.01f));
}

#ifdef AFTER
__global__ void clearances(const Span *spans, Weather weather, const float *ampere, float *metres, int count) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= count)
        return;
    size_t i = (size_t)blockIdx.y * count + s;
    Span span = spans[s];
    metres[i] = clearance_at(span, conductor_kelvin(span, weather.air[i], weather.wind[i], ampere[blockIdx.y]));
}
#else
__global__ void conductors(const Span *spans, Weather weather, const float *ampere, float *kelvin, int count) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= count)
        return;
    size_t i = (size_t)blockIdx.y * count + s;
    kelvin[i] = conductor_kelvin(spans[s], weather.air[i], weather.wind[i], ampere[blockIdx.y]);
}

__global__ void clearances(const Span *spans, const float *kelvin, float *metres, int count) {
    int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= count)
        return;
    size_t i = (size_t)blockIdx.y * count + s;
    metres[i] = clearance_at(spans[s], kelvin[i]);
}
#endif

// How far above the ground the lines between pylons hang, for all hours of some months.
int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "pylons");
    int count = p.small ? 700 : 5300, hours = p.small ? 11 : 2900;
    size_t all = (size_t)count * hours;
    std::vector<float> air = random_floats(all, 263, 308, 1), wind = random_floats(all, 0.2f, 14, 2);
    std::vector<float> ampere = random_floats(hours, 100, 900, 3), draws = random_floats(4 * (size_t)count, 0, 1, 4);
    std::vector<Span> spans(count);
    for (int s = 0; s < count; s++) {
        const float *d = &draws[4 * (size_t)s];
        spans[s] = {250 + 150 * d[0], 7 + 4 * d[1], 21 + 6 * d[2], 6e-5f + 3e-5f * d[3]};
    }
    Span *d_spans = device_copy_of(spans.data(), count);
    Weather weather = {device_copy_of(air.data(), all), device_copy_of(wind.data(), all)};
    float *d_ampere = device_copy_of(ampere.data(), hours), *d_metres = device_array<float>(all);
    dim3 block(128), grid((count + 127) / 128, hours);
#ifdef AFTER
    pair_time(&p, [&] { clearances<<<grid, block>>>(d_spans, weather, d_ampere, d_metres, count); });
#else
    float *d_kelvin = device_array<float>(all);
    pair_time(&p, [&] {
        conductors<<<grid, block>>>(d_spans, weather, d_ampere, d_kelvin, count);
        clearances<<<grid, block>>>(d_spans, d_kelvin, d_metres, count);
    });
#endif
    std::vector<float> metres = host_copy_of(d_metres, all);
    for (size_t i = 0; i < all; i += p.small ? 1 : 1009) {
        const Span &span = spans[i % count];
        float t = conductor_kelvin(span, air[i], wind[i], ampere[i / count]);
        pair_near(&p, "metres", i, clearance_at(span, t), metres[i], 1e-4);
    }
    return pair_end(&p);
}

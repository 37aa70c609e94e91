// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Change: the samples are stored driver by driver, not interleaved, so that all threads of a warp protect one driver.
// Why: with the four drivers' samples taking turns, every warp runs the code of all four, a quarter of its lanes at a
//      time.
#include "../common.h"

enum { BLOCK = 256, DRIVERS = 4 };
enum Driver { WOOFER, MIDRANGE, TWEETER, HORN };

struct Limits {
    float excursion, threshold, ratio, heat, throat, drive;
};

// Where the sample of a driver is; the frames are a multiple of BLOCK.
__host__ __device__ static inline size_t slot(int frame, int driver, int frames) {
#ifdef AFTER
    return (size_t)driver * frames + frame;
#else
    return (size_t)frame * DRIVERS + driver;
#endif
}

// The cone must not leave the gap: softly limited, with the even harmonics of a real cone.
__host__ __device__ static inline float limit_excursion(float x, const Limits &l) {
    float soft = tanhf(l.drive * x / l.excursion);
    return l.excursion * (soft + 0.08f * soft * soft - 0.02f * tanhf(3 * soft));
}

// Compression above a threshold, in decibels.
__host__ __device__ static inline float compress(float x, const Limits &l) {
    float level = 20 * log10f(fabsf(x) + 1e-5f), over = fmaxf(level - l.threshold, 0.f);
    float knee = over * over / (over + 6);
    return x * powf(10.f, (knee / l.ratio - knee) / 20);
}

// A hot voice coil has a higher resistance.
__host__ __device__ static inline float cool(float x, const Limits &l) {
    float power = x * x * l.heat, temperature = 20 + 180 * (1 - expf(-power));
    float resistance = 1 + 0.0039f * (temperature - 20);
    return x / sqrtf(resistance) * (1 - 0.1f * expf(-0.5f * power) / resistance);
}

// The air in the throat steepens the wave; undone to second order.
__host__ __device__ static inline float flatten(float x, const Limits &l) {
    float phase = l.throat * x;
    for (int i = 0; i < 3; i++)
        phase -= (phase - l.throat * x + 0.3f * sinf(phase)) / (1 + 0.3f * cosf(phase));
    return phase / l.throat;
}

__host__ __device__ static inline float protect(float x, int driver, const Limits &l) {
    switch (driver) {
    case WOOFER: return limit_excursion(x, l);
    case MIDRANGE: return compress(x, l);
    case TWEETER: return cool(x, l);
    default: return flatten(x, l);
    }
}

__global__ void __launch_bounds__(BLOCK) protect_all(const float *in, float *out, int frames, Limits limits) {
#ifdef AFTER
    int driver = blockIdx.x % DRIVERS, frame = blockIdx.x / DRIVERS * BLOCK + threadIdx.x;
#else
    int driver = threadIdx.x % DRIVERS, frame = (blockIdx.x * BLOCK + threadIdx.x) / DRIVERS;
#endif
    size_t at = slot(frame, driver, frames);
    out[at] = protect(in[at], driver, limits);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "loudspeakers");
    int frames = p.small ? BLOCK * 4 : BLOCK * 132 * 256, blocks = frames / BLOCK * DRIVERS;
    Limits limits = {0.8f, -18, 3, 0.7f, 1.5f, 1.2f};
    std::vector<float> in(frames * (size_t)DRIVERS);
    unsigned seed = 3;
    for (int d = 0; d < DRIVERS; d++)
        for (int f = 0; f < frames; f++)
            in[slot(f, d, frames)] = lcg_next(&seed, 20001) / 10000.f - 1;
    float *d_in = device_copy_of(in.data(), in.size()), *d_out = device_array<float>(in.size());
    pair_time(&p, [&] { protect_all<<<blocks, BLOCK>>>(d_in, d_out, frames, limits); });
    std::vector<float> out = host_copy_of(d_out, in.size());
    for (int d = 0; d < DRIVERS; d++)
        for (int f = 0; f < frames; f += p.small ? 1 : 83) {
            size_t at = slot(f, d, frames);
            pair_near(&p, "out", at, protect(in[at], d, limits), out[at], 1e-4);
        }
    return pair_end(&p);
}

// SPDX-License-Identifier: Apache-2.0
//
// Rule: spills
// Change: the launch bounds ask for 8 blocks on an SM instead of 16.
// Why: 16 blocks leave 32 registers to a thread, so that most of the sums of the normal equations were spilled.
#include "../common.h"

enum { BLOCK = 128, TERMS = 7, PAIRS = TERMS * (TERMS + 1) / 2 };

#ifdef AFTER
enum { BLOCKS_PER_SM = 8 };
#else
enum { BLOCKS_PER_SM = 16 };
#endif

struct Races {  // [race][sprinter]
    const float *wind, *warmth, *rest, *season, *speed;
};

template <typename Real> static __host__ __device__ inline void terms_of(const Races &r, size_t at, Real *x) {
    Real wind = r.wind[at], season = r.season[at];
    x[0] = 1;
    x[1] = wind;
    x[2] = wind * wind;
    x[3] = r.warmth[at];
    x[4] = r.rest[at];
    x[5] = season;
    x[6] = season * season;
}

// In place: solves a x = b for a symmetric matrix, of which the lower triangle is given row by row.
template <typename Real> static __host__ __device__ inline void solve(Real *a, Real *b) {
#pragma unroll
    for (int i = 0; i < TERMS; i++) {
#pragma unroll
        for (int j = 0; j <= i; j++) {
            Real sum = a[i * (i + 1) / 2 + j];
#pragma unroll
            for (int k = 0; k < j; k++)
                sum -= a[i * (i + 1) / 2 + k] * a[j * (j + 1) / 2 + k];
            a[i * (i + 1) / 2 + j] = i == j ? 1 / sqrt(sum) : sum * a[j * (j + 1) / 2 + j];
        }
    }
#pragma unroll
    for (int i = 0; i < TERMS; i++) {
#pragma unroll
        for (int k = 0; k < i; k++)
            b[i] -= a[i * (i + 1) / 2 + k] * b[k];
        b[i] *= a[i * (i + 1) / 2 + i];
    }
#pragma unroll
    for (int i = TERMS - 1; i >= 0; i--) {
#pragma unroll
        for (int k = i + 1; k < TERMS; k++)
            b[i] -= a[k * (k + 1) / 2 + i] * b[k];
        b[i] *= a[i * (i + 1) / 2 + i];
    }
}

template <typename Real>
static __host__ __device__ inline void fit(const Races &r, size_t sprinter, size_t sprinters, int races, Real *b) {
    Real a[PAIRS], x[TERMS];
#pragma unroll
    for (int i = 0; i < PAIRS; i++)
        a[i] = 0;
#pragma unroll
    for (int i = 0; i < TERMS; i++)
        b[i] = 0;
    for (int race = 0; race < races; race++) {
        size_t at = race * sprinters + sprinter;
        terms_of(r, at, x);
        Real speed = r.speed[at];
#pragma unroll
        for (int i = 0; i < TERMS; i++) {
            b[i] += x[i] * speed;
#pragma unroll
            for (int j = 0; j <= i; j++)
                a[i * (i + 1) / 2 + j] += x[i] * x[j];
        }
    }
    solve(a, b);
}

// What wind, warmth, rest and season do to the speed of each sprinter: least squares, a thread per sprinter.
__global__ void __launch_bounds__(BLOCK, BLOCKS_PER_SM) fit_all(Races r, float *effects, int sprinters, int races) {
    int s = blockIdx.x * BLOCK + threadIdx.x;
    if (s >= sprinters)
        return;
    float b[TERMS];
    fit(r, s, sprinters, races, b);
#pragma unroll
    for (int i = 0; i < TERMS; i++)
        effects[(size_t)i * sprinters + s] = b[i];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "sprinters");
    int sprinters = p.small ? BLOCK : 132 * 8 * BLOCK, races = p.small ? 30 : 48;
    size_t count = (size_t)sprinters * races;
    std::vector<float> wind = random_floats(count, -1, 1, 1), warmth = random_floats(count, -1, 1, 2),
                       rest = random_floats(count, -1, 1, 3), season = random_floats(count, -1, 1, 4), speed(count);
    for (size_t i = 0; i < count; i++)
        speed[i] = 9.5f + 0.3f * wind[i] - 0.1f * wind[i] * wind[i] + 0.2f * warmth[i] + 0.1f * rest[i] * season[i];
    Races host = {wind.data(), warmth.data(), rest.data(), season.data(), speed.data()};
    Races device = {device_copy_of(host.wind, count), device_copy_of(host.warmth, count),
                    device_copy_of(host.rest, count), device_copy_of(host.season, count),
                    device_copy_of(host.speed, count)};
    float *d_effects = device_array<float>((size_t)sprinters * TERMS);
    int blocks = (sprinters + BLOCK - 1) / BLOCK;
    pair_time(&p, [&] { fit_all<<<blocks, BLOCK>>>(device, d_effects, sprinters, races); });
    std::vector<float> effects = host_copy_of(d_effects, (size_t)sprinters * TERMS);
    for (int s = 0; s < sprinters; s += p.small ? 1 : 101) {
        double b[TERMS];
        fit(host, s, sprinters, races, b);
        for (int i = 0; i < TERMS; i++)
            pair_near(&p, "effect", (size_t)i * sprinters + s, b[i], effects[(size_t)i * sprinters + s], 1e-3);
    }
    return pair_end(&p);
}

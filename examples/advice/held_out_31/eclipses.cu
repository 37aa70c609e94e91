// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Change: a block first collects its observations in eclipse, then its first threads integrate them.
// Why: a fifth of the observations needs the integral; scattered, they keep all warps at it with most lanes idle.
#include "../common.h"

constexpr float pi = 3.14159265f;

// A binary star. Lengths are in radii of the primary.
struct Binary {
    float distance, inclined, companion, dark1, dark2;
};

struct Observation {
    int star;
    float phase;
};

__host__ __device__ inline float separation(const Binary &b, float phase) {
    float s = sinpif(2 * phase), c = cospif(2 * phase);
    return c < 0 ? 1e3f : b.distance * sqrtf(s * s + b.inclined * b.inclined * c * c);
}

// Flux left: rings of the limb-darkened primary, each less the arc that the companion covers.
__host__ __device__ inline float eclipsed_flux(const Binary &b, float apart, int rings) {
    float width = 1.0f / rings, hidden = 0, total = 0;
    for (int k = 0; k < rings; k++) {
        float r = (k + 0.5f) * width;
        float mu = 1 - sqrtf(1 - r * r);
        float light = (1 - mu * (b.dark1 + b.dark2 * mu)) * r;
        float cosine = (apart * apart + r * r - b.companion * b.companion) / (2 * apart * r);
        hidden += light * acosf(fminf(fmaxf(cosine, -1.0f), 1.0f));
        total += light;
    }
    return 1 - hidden / (pi * total);
}

template <int BLOCK>
__global__ void light_curves(const Binary *stars, const Observation *observations, float *flux, int count, int rings) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
#ifdef AFTER
    __shared__ int queue[BLOCK], queued;
    __shared__ float queue_apart[BLOCK];
    if (threadIdx.x == 0)
        queued = 0;
    __syncthreads();
    if (i < count) {
        Binary b = stars[observations[i].star];
        float apart = separation(b, observations[i].phase);
        if (apart < 1 + b.companion) {
            int slot = atomicAdd(&queued, 1);
            queue[slot] = i;
            queue_apart[slot] = apart;
        } else {
            flux[i] = 1;
        }
    }
    __syncthreads();
    if ((int)threadIdx.x < queued) {
        int o = queue[threadIdx.x];
        flux[o] = eclipsed_flux(stars[observations[o].star], queue_apart[threadIdx.x], rings);
    }
#else
    if (i < count) {
        Binary b = stars[observations[i].star];
        float apart = separation(b, observations[i].phase);
        flux[i] = apart < 1 + b.companion ? eclipsed_flux(b, apart, rings) : 1;
    }
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "eclipses");
    int count = p.small ? 7000 : 5000000, rings = p.small ? 20 : 32, n_stars = p.small ? 50 : 2000;
    unsigned seed = 2024;
    std::vector<Binary> stars(n_stars);
    for (Binary &b : stars) {
        b.distance = 1.9f + 0.001f * lcg_next(&seed, 1400);
        b.inclined = 0.02f + 0.001f * lcg_next(&seed, 180);
        b.companion = 0.3f + 0.001f * lcg_next(&seed, 500);
        b.dark1 = 0.2f + 0.001f * lcg_next(&seed, 300);
        b.dark2 = 0.1f + 0.001f * lcg_next(&seed, 200);
    }
    // A survey that looks at each star once in a while: no order in the phases.
    std::vector<Observation> observations(count);
    for (Observation &o : observations) {
        o.star = (int)lcg_next(&seed, n_stars);
        o.phase = lcg_next(&seed, 1 << 20) / (float)(1 << 20);
    }
    Binary *d_stars = device_copy_of(stars.data(), n_stars);
    Observation *d_observations = device_copy_of(observations.data(), count);
    float *d_flux = device_array<float>(count);
    pair_time(&p, [&] {
        light_curves<256><<<(count + 255) / 256, 256>>>(d_stars, d_observations, d_flux, count, rings);
    });
    std::vector<float> flux = host_copy_of(d_flux, count);
    for (int i = 0; i < count; i += p.small ? 3 : 499) {
        const Binary &b = stars[observations[i].star];
        float apart = separation(b, observations[i].phase);
        pair_near(&p, "flux", i, apart < 1 + b.companion ? eclipsed_flux(b, apart, rings) : 1, flux[i], 2e-3);
    }
    return pair_end(&p);
}

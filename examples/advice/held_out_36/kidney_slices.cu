// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Change: one flat loop, in which a lane whose photon has ended starts its next one at once, replaces the loop over
// photons around the loop over a photon's steps.
// Why: in the nested loops the lanes whose photon ended wait until the longest path of the warp has ended, for every
// photon again.
#include "../common.h"

// Monte Carlo transport of near-infrared light in a voxel model of a kidney: photons hop from voxel to voxel, are
// scattered, and leave part of their weight in each; the weight absorbed by every tissue is wanted.
constexpr int kThreads = 128;
constexpr int kTissues = 4;  // capsule, cortex, medulla, pelvis
constexpr int kSide = 64;    // voxels along each axis

struct Optics {
    float absorbed[kTissues];    // fraction of the weight that a hop leaves
    float passed[kTissues];      // 1 - absorbed
    unsigned forward[kTissues];  // of 256 hops, so many keep their direction
};

struct Photon {
    int x, y, z, direction;
    float weight;  // 0: ended
    unsigned random;
};

__host__ __device__ static inline unsigned next_random(unsigned *r) {
    *r ^= *r << 13;
    *r ^= *r >> 17;
    *r ^= *r << 5;
    return *r;
}

__host__ __device__ static inline Photon emitted(unsigned number) {
    unsigned h = number * 2654435761u + 0x9e3779b9u;
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    Photon p = {kSide / 2, kSide / 2, 0, 4, 1.0f, (h ^ (h >> 16)) | 1u};
    p.x += (int)(next_random(&p.random) >> 29) - 4;  // the fibre's tip is 8 voxels wide
    p.y += (int)(next_random(&p.random) >> 29) - 4;
    return p;
}

// One hop: absorption, roulette for weak photons, scattering, movement; leaving the model ends a photon.
__host__ __device__ static inline void hop(Photon *p, const unsigned char *tissue, const Optics *o, float *tally) {
    int kind = tissue[(p->z * kSide + p->y) * kSide + p->x];
    float left = p->weight * o->absorbed[kind];
    for (int k = 0; k < kTissues; k++)
        tally[k] += k == kind ? left : 0.0f;
    p->weight *= o->passed[kind];
    if (p->weight < 0.02f)
        p->weight = next_random(&p->random) >> 29 ? 0.0f : p->weight * 8.0f;

    unsigned r = next_random(&p->random);
    if ((r & 255u) >= o->forward[kind])
        p->direction = (int)((r >> 8) % 6u);
    int step = p->direction & 1 ? -1 : 1;
    int axis = p->direction >> 1;
    p->x += axis == 0 ? step : 0;
    p->y += axis == 1 ? step : 0;
    p->z += axis == 2 ? step : 0;
    if ((unsigned)p->x >= kSide || (unsigned)p->y >= kSide || (unsigned)p->z >= kSide)
        p->weight = 0.0f;
}

__global__ void __launch_bounds__(kThreads)
    illuminate(const unsigned char *__restrict__ tissue, Optics optics, int photons, float4 *__restrict__ tallies) {
    const int thread = blockIdx.x * kThreads + threadIdx.x;
    unsigned number = thread * photons;
    const unsigned end = number + photons;
    float tally[kTissues] = {};

#ifdef AFTER
    Photon p = emitted(number);
    while (true) {
        hop(&p, tissue, &optics, tally);
        if (p.weight == 0.0f) {
            if (++number == end)
                break;
            p = emitted(number);
        }
    }
#else
    for (; number < end; number++) {
        Photon p = emitted(number);
        while (p.weight != 0.0f)
            hop(&p, tissue, &optics, tally);
    }
#endif
    tallies[thread] = make_float4(tally[0], tally[1], tally[2], tally[3]);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "kidney_slices");
    const int blocks = p.small ? 2 : 1056;
    const int photons = p.small ? 6 : 24;  // of a thread
    const int threads = blocks * kThreads;
    const Optics optics = {{0.02f, 0.012f, 0.035f, 0.004f}, {0.98f, 0.988f, 0.965f, 0.996f}, {170, 200, 190, 230}};

    // shells of tissue around the hilum, with a rough border
    std::vector<unsigned char> tissue(kSide * kSide * kSide);
    unsigned seed = 9;
    for (int i = 0; i < kSide * kSide * kSide; i++) {
        int x = i % kSide - kSide / 2, y = i / kSide % kSide - kSide / 2, z = i / kSide / kSide;
        int depth = z - (x * x + y * y) / 200 + (int)lcg_next(&seed, 3);
        tissue[i] = depth < 3 ? 0 : depth < 14 ? 1 : depth < 34 ? 2 : 3;
    }
    unsigned char *d_tissue = device_copy_of(tissue.data(), tissue.size());
    float4 *d_tallies = device_array<float4>(threads);

    pair_time(&p, [&] { illuminate<<<blocks, kThreads>>>(d_tissue, optics, photons, d_tallies); });

    std::vector<float4> tallies = host_copy_of(d_tallies, threads);
    for (int t = 0; t < threads; t += p.small ? 1 : 251) {
        float tally[kTissues] = {};
        for (int i = 0; i < photons; i++) {
            Photon photon = emitted((unsigned)(t * photons + i));
            while (photon.weight != 0.0f)
                hop(&photon, tissue.data(), &optics, tally);
        }
        const float got[kTissues] = {tallies[t].x, tallies[t].y, tallies[t].z, tallies[t].w};
        for (int k = 0; k < kTissues; k++)
            pair_near(&p, "tally", t * kTissues + k, tally[k], got[k], 1e-4);
    }

    CUDA_CHECK(cudaFree(d_tissue));
    CUDA_CHECK(cudaFree(d_tallies));
    return pair_end(&p);
}

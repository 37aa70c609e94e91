// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Change: a lane whose photon has ended starts its next photon at once; the two loops (over photons, over a photon's
// steps) have become one loop over steps.
// Why: with a loop for each photon, all lanes of a warp wait for the one whose photon scatters longest; now lanes only
// differ in the sum of all their photons' steps.
#include "../common.h"

// A badge worn behind a shield: photons are followed one by one through three layers, in fixed-point numbers so that
// the tallies can be reproduced to the bit.

constexpr int THREADS = 256;
constexpr int LAYERS = 3;
constexpr int TALLIES = LAYERS + 2;  // energy left in each layer, sent back, passed through
constexpr int LENGTHS = 256;

struct Shield {
    int bottom[LAYERS];            // depth of a layer's end
    unsigned stretch[LAYERS];      // mean free path as a share of the longest one, 16 bits
    unsigned absorb[LAYERS];       // probability that a collision absorbs, 32 bits
    unsigned loss[LAYERS];         // largest share of the energy lost in a collision, 8 bits
    unsigned least;                // energy below which a photon is not followed
};

struct Photon {
    unsigned random;
    int depth;
    int cosine;  // of the direction, 14 bits and sign
    unsigned energy;
};

struct Tally {
    unsigned energy[TALLIES];
};

__host__ __device__ inline unsigned draw(unsigned *state) {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state * 0x9e3779b1u;
}

__host__ __device__ inline Photon emit(unsigned thread, unsigned number) {
    Photon p;
    p.random = (thread * 0x85ebca6bu ^ (number + 1) * 0xc2b2ae35u) | 1;
    draw(&p.random);
    draw(&p.random);
    p.depth = 0;
    p.cosine = 8192 + (draw(&p.random) >> 19);
    p.energy = 4000 + (draw(&p.random) >> 22);
    return p;
}

// Flies to the next collision. Returns whether the photon lives on.
__host__ __device__ inline bool fly(Photon *p, Tally *tally, const Shield &shield, const unsigned short *lengths) {
    int layer = p->depth < shield.bottom[0] ? 0 : p->depth < shield.bottom[1] ? 1 : 2;
    int length = (int)(lengths[draw(&p->random) >> 24] * shield.stretch[layer] >> 16);
    p->depth += length * p->cosine >> 14;

    int where = -1;  // the tally that gets what the photon loses
    unsigned lost = p->energy;
    if (p->depth < 0)
        where = LAYERS;
    else if (p->depth >= shield.bottom[LAYERS - 1])
        where = LAYERS + 1;
    else {
        where = p->depth < shield.bottom[0] ? 0 : p->depth < shield.bottom[1] ? 1 : 2;
        if (draw(&p->random) >= shield.absorb[where]) {
            unsigned turn = draw(&p->random);
            unsigned part = p->energy * ((turn & 255) * shield.loss[where] >> 8) >> 8;
            if (p->energy - part >= shield.least)
                lost = part;
            int cosine = (p->cosine >> 2) + (int)(turn >> 17) - 16384;
            p->cosine = cosine < -16384 ? -16384 : cosine > 16384 ? 16384 : cosine;
        }
    }
#pragma unroll
    for (int t = 0; t < TALLIES; t++)
        tally->energy[t] += t == where ? lost : 0;
    bool lives = lost < p->energy;
    p->energy -= lost;
    return lives;
}

// tallies: [tally][thread]
__global__ void __launch_bounds__(THREADS)
irradiate(Shield shield, const unsigned short *__restrict__ table, unsigned photons, unsigned *__restrict__ tallies) {
    __shared__ unsigned short lengths[LENGTHS];
    for (int i = threadIdx.x; i < LENGTHS; i += THREADS)
        lengths[i] = table[i];
    __syncthreads();

    unsigned thread = blockIdx.x * THREADS + threadIdx.x;
    Tally tally = {};
#ifdef AFTER
    unsigned number = 0;
    Photon photon = emit(thread, number);
    while (number < photons) {
        if (!fly(&photon, &tally, shield, lengths)) {
            number++;
            photon = emit(thread, number);
        }
    }
#else
    for (unsigned number = 0; number < photons; number++) {
        Photon photon = emit(thread, number);
        while (fly(&photon, &tally, shield, lengths)) {
        }
    }
#endif
#pragma unroll
    for (int t = 0; t < TALLIES; t++)
        tallies[(size_t)t * gridDim.x * THREADS + thread] = tally.energy[t];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "dosimeters");
    const int blocks = p.small ? 4 : 132 * 8, threads = blocks * THREADS;
    const unsigned photons = p.small ? 4 : 24;

    Shield shield = {{9000, 14000, 22000}, {52000, 20000, 65535}, {}, {40, 24, 56}, 60};
    const float absorbed[LAYERS] = {0.05f, 0.12f, 0.03f};
    for (int l = 0; l < LAYERS; l++)
        shield.absorb[l] = (unsigned)(absorbed[l] * 4294967296.0f);
    std::vector<unsigned short> lengths(LENGTHS);
    for (int i = 0; i < LENGTHS; i++)
        lengths[i] = (unsigned short)(-3500.0f * logf((i + 0.5f) / LENGTHS));

    unsigned short *d_lengths = device_copy_of(lengths.data(), LENGTHS);
    unsigned *d_tallies = device_array<unsigned>((size_t)TALLIES * threads);
    pair_time(&p, [&] { irradiate<<<blocks, THREADS>>>(shield, d_lengths, photons, d_tallies); });

    std::vector<unsigned> tallies = host_copy_of(d_tallies, (size_t)TALLIES * threads);
    for (int i = 0; i < threads; i += p.small ? 1 : 41) {
        Tally expected = {};
        for (unsigned number = 0; number < photons; number++) {
            Photon photon = emit(i, number);
            while (fly(&photon, &expected, shield, lengths.data())) {
            }
        }
        for (int t = 0; t < TALLIES; t++)
            pair_near(&p, "energy", (size_t)t * threads + i, expected.energy[t], tallies[(size_t)t * threads + i], 0);
    }
    CUDA_CHECK(cudaFree(d_lengths));
    CUDA_CHECK(cudaFree(d_tallies));
    return pair_end(&p);
}

// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: a CTA counts and weighs its beetles in shared memory, and adds each species to the totals once, at the end.
// Why: the atomics of all CTAs on the few words of the totals wait for each other in the L2 cache.
#include "../common.h"

enum { BLOCK = 512, SPECIES = 20 };

struct Sighting {
    float score;  // of the classifier
    unsigned char species;
    unsigned char tenths;  // body length in 0.1 mm
    unsigned short trap;
};

// Weight in 0.01 mg from the length, by the usual power law.
__host__ __device__ static inline unsigned weight(int tenths) {
    float mm = 0.1f * tenths;
    return (unsigned)(3.0f * mm * mm * sqrtf(mm) + 0.5f);
}

// How many of each species the camera traps have seen for certain, and what they weigh in all.
__global__ void census(const Sighting *sightings, unsigned *number, unsigned *mass, int count, float certain) {
#ifdef AFTER
    __shared__ unsigned own_number[SPECIES], own_mass[SPECIES];
    if (threadIdx.x < SPECIES)
        own_number[threadIdx.x] = own_mass[threadIdx.x] = 0;
    __syncthreads();
#endif
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < count; i += gridDim.x * BLOCK) {
        Sighting s = sightings[i];
        if (s.score < certain)
            continue;
#ifdef AFTER
        atomicAdd(&own_number[s.species], 1);
        atomicAdd(&own_mass[s.species], weight(s.tenths));
#else
        atomicAdd(&number[s.species], 1);
        atomicAdd(&mass[s.species], weight(s.tenths));
#endif
    }
#ifdef AFTER
    __syncthreads();
    if (threadIdx.x < SPECIES) {
        atomicAdd(&number[threadIdx.x], own_number[threadIdx.x]);
        atomicAdd(&mass[threadIdx.x], own_mass[threadIdx.x]);
    }
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "beetles");
    int count = p.small ? 50000 : 18000000;
    std::vector<Sighting> sightings(count);
    unsigned seed = 3;
    for (Sighting &s : sightings) {
        s.score = lcg_next(&seed, 1 << 20) / (float)(1 << 20);
        unsigned bits = lcg_next(&seed, SPECIES * 100);
        s.species = bits % SPECIES, s.tenths = 20 + bits / SPECIES, s.trap = bits;
    }
    const float certain = 0.99f;
    Sighting *d_sightings = device_copy_of(sightings.data(), count);
    unsigned *d_number = device_array<unsigned>(SPECIES), *d_mass = device_array<unsigned>(SPECIES);
    int blocks = p.small ? 12 : 132 * 4;
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_number, 0, SPECIES * sizeof(unsigned)));
        CUDA_CHECK(cudaMemsetAsync(d_mass, 0, SPECIES * sizeof(unsigned)));
        census<<<blocks, BLOCK>>>(d_sightings, d_number, d_mass, count, certain);
    });
    std::vector<unsigned> number = host_copy_of(d_number, SPECIES), mass = host_copy_of(d_mass, SPECIES);
    double numbers[SPECIES] = {0}, masses[SPECIES] = {0};
    for (const Sighting &s : sightings)
        if (s.score >= certain)
            numbers[s.species]++, masses[s.species] += weight(s.tenths);
    for (int s = 0; s < SPECIES; s++) {
        pair_near(&p, "number", s, numbers[s], number[s], 0);
        pair_near(&p, "mass", s, masses[s], mass[s], 1e-3);
    }
    return pair_end(&p);
}

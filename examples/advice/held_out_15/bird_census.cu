// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: each block counts in shared memory first and adds its totals to the common ones at its end.
// Why: eight million sightings go to 384 sums, most of them to those of the common birds.
#include "../common.h"

enum { BLOCK = 256, SPECIES = 32, MONTHS = 12, CELLS = SPECIES * MONTHS };

static __device__ int month_of(unsigned day) { return (int)min(day / 21u, 11u); }

// How often and in what numbers each kind of bird was seen in each month; doubtful sightings are left out.
__global__ void census(const unsigned char *species, const unsigned char *days, const unsigned char *sure,
                       const unsigned char *flocks, unsigned *seen, unsigned *birds, int count) {
#ifdef AFTER
    __shared__ unsigned own_seen[CELLS], own_birds[CELLS];
    for (int c = threadIdx.x; c < CELLS; c += BLOCK)
        own_seen[c] = own_birds[c] = 0;
    __syncthreads();
#else
    unsigned *own_seen = seen, *own_birds = birds;
#endif
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < count; i += gridDim.x * BLOCK) {
        if (sure[i] < 50)
            continue;
        int cell = species[i] * MONTHS + month_of(days[i]), flock = flocks[i];
        atomicAdd(&own_seen[cell], 1);
        if (flock > 1)
            atomicAdd(&own_birds[cell], flock - 1);
    }
#ifdef AFTER
    __syncthreads();
    for (int c = threadIdx.x; c < CELLS; c += BLOCK) {
        atomicAdd(&seen[c], own_seen[c]);
        atomicAdd(&birds[c], own_birds[c]);
    }
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "bird_census");
    int n = p.small ? 1 << 14 : 1 << 23, blocks = p.small ? 8 : 264;
    std::vector<unsigned char> species(n), days(n), sure(n), flocks(n);
    unsigned seed = 1;
    for (int i = 0; i < n; i++) {
        unsigned a = lcg_next(&seed, SPECIES), b = lcg_next(&seed, SPECIES), c = lcg_next(&seed, SPECIES);
        species[i] = (unsigned char)std::min(std::min(a, b), c);  // some are common, most are rare
        days[i] = (unsigned char)lcg_next(&seed, 256);
        sure[i] = (unsigned char)lcg_next(&seed, 101);
        flocks[i] = (unsigned char)(1 + lcg_next(&seed, 4) * lcg_next(&seed, 10));
    }
    unsigned char *d_species = device_copy_of(species.data(), n), *d_days = device_copy_of(days.data(), n),
                  *d_sure = device_copy_of(sure.data(), n), *d_flocks = device_copy_of(flocks.data(), n);
    unsigned *d_seen = device_array<unsigned>(CELLS), *d_birds = device_array<unsigned>(CELLS);
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_seen, 0, CELLS * sizeof *d_seen));
        CUDA_CHECK(cudaMemsetAsync(d_birds, 0, CELLS * sizeof *d_birds));
        census<<<blocks, BLOCK>>>(d_species, d_days, d_sure, d_flocks, d_seen, d_birds, n);
    });
    std::vector<unsigned> seen = host_copy_of(d_seen, CELLS), birds = host_copy_of(d_birds, CELLS), all_seen(CELLS, 0),
                          all_birds(CELLS, 0);
    for (int i = 0; i < n; i++) {
        if (sure[i] < 50)
            continue;
        int cell = species[i] * MONTHS + std::min(days[i] / 21, 11);
        all_seen[cell]++;
        all_birds[cell] += flocks[i] - 1;
    }
    for (int c = 0; c < CELLS; c++) {
        pair_near(&p, "seen", c, all_seen[c], seen[c], 0);
        pair_near(&p, "birds", c, all_birds[c], birds[c], 0);
    }
    return pair_end(&p);
}

// SPDX-License-Identifier: Apache-2.0
//
// Rule: tail-effect
// Change: the nomads are shared out evenly over a whole number of waves of CTAs, not by a fixed number a CTA.
// Why: a CTA has an SM for itself (its map fills the shared memory) and 137 of them were a full wave on 132 SMs and one
// of five CTAs, for which all other SMs waited; seventeen nomads a thread instead of sixteen make a single wave.
#include "../common.h"

// Agent model of herders in a dry land: in every season each family moves to the neighbouring place that it likes best
// (pasture, luck, and not back where it came from), grazes there and pays a toll for steep ground. Families do not
// meet, so that each thread follows one after the other over a map in shared memory.
constexpr int THREADS = 1024;
constexpr int WIDTH = 384, HEIGHT = 320;  // a torus
constexpr int CELLS = WIDTH * HEIGHT;
constexpr int PER_CTA = 16 * THREADS;

struct Family {
    unsigned short x, y;
    unsigned luck;
};

struct Fate {
    unsigned short x, y;
    int herd;
};

// Low six bits of a cell: pasture; high two bits: steepness.
__host__ __device__ inline Fate wander(const unsigned char *map, Family family, int seasons) {
    int x = family.x, y = family.y, came_from = 4, herd = 100;
    unsigned luck = family.luck;
    for (int season = 0; season < seasons; season++) {
        luck = luck * 1664525u + 1013904223u;
        int east = x + 1 < WIDTH ? x + 1 : 0, west = x > 0 ? x - 1 : WIDTH - 1;
        int south = y + 1 < HEIGHT ? y + 1 : 0, north = y > 0 ? y - 1 : HEIGHT - 1;
        int places[4] = {y * WIDTH + east, south * WIDTH + x, y * WIDTH + west, north * WIDTH + x};
        int best = -1000, heading = 0, ground = 0;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
        for (int d = 0; d < 4; d++) {
            int cell = map[places[d]];
            int liking = 2 * (cell & 63) + (int)(luck >> (8 + 6 * d) & 63) - (d == came_from ? 48 : 0);
            if (liking > best) {
                best = liking;
                heading = d;
                ground = cell;
            }
        }
        x = heading == 0 ? east : heading == 2 ? west : x;
        y = heading == 1 ? south : heading == 3 ? north : y;
        came_from = heading ^ 2;
        herd += (ground & 63) - 20 - 8 * (ground >> 6);
        herd = herd < 0 ? 0 : herd > 4000 ? 4000 : herd;
    }
    return {(unsigned short)x, (unsigned short)y, herd};
}

// Every CTA follows `share` families.
__global__ void __launch_bounds__(THREADS) follow(Fate *__restrict__ fates, const Family *__restrict__ families,
                                                  const uint4 *__restrict__ land, int count, int share, int seasons) {
    extern __shared__ uint4 map_rows[];
    for (int i = threadIdx.x; i < CELLS / 16; i += THREADS)
        map_rows[i] = land[i];
    __syncthreads();
    int end = min(count, (int)(blockIdx.x + 1) * share);
    for (int i = blockIdx.x * share + threadIdx.x; i < end; i += THREADS)
        fates[i] = wander((const unsigned char *)map_rows, families[i], seasons);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "nomads");
    const int count = p.small ? 2000 : 2240000, seasons = p.small ? 3 : 40;

    unsigned seed = 385;
    std::vector<unsigned char> land(CELLS);
    for (int i = 0; i < CELLS; i++) {
        int x = i % WIDTH, y = i / WIDTH;
        float green = 26.0f + 14.0f * sinf(x * 0.0491f) * sinf(y * 0.0785f);
        int pasture = (int)green + (int)lcg_next(&seed, 24) - 4;
        int steep = (x / 24 + y / 40) % 4;
        land[i] = (unsigned char)((pasture & 63) | steep << 6);
    }
    std::vector<Family> families(count);
    for (Family &f : families) {
        f.x = (unsigned short)lcg_next(&seed, WIDTH);
        f.y = (unsigned short)lcg_next(&seed, HEIGHT);
        f.luck = seed * 2654435761u;
    }

    unsigned char *d_land = device_copy_of(land.data(), land.size());
    Family *d_families = device_copy_of(families.data(), families.size());
    Fate *d_fates = device_array<Fate>(count);
    CUDA_CHECK(cudaFuncSetAttribute(follow, cudaFuncAttributeMaxDynamicSharedMemorySize, CELLS));

    int share = PER_CTA, blocks = (count + share - 1) / share;
#ifdef AFTER
    int sms = 0, fit = 0;
    CUDA_CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, follow, THREADS, CELLS));
    int wave = sms * fit;
    if (blocks > wave) {  // whole waves only
        blocks = blocks / wave * wave;
        share = (count + blocks - 1) / blocks;
    }
#endif
    pair_time(&p, [&] {
        follow<<<blocks, THREADS, CELLS>>>(d_fates, d_families, (const uint4 *)d_land, count, share, seasons);
    });

    std::vector<Fate> fates = host_copy_of(d_fates, count);
    for (int i = 0; i < count; i += p.small ? 1 : 37) {
        Fate expected = wander(land.data(), families[i], seasons);
        pair_near(&p, "x", i, expected.x, fates[i].x, 0);
        pair_near(&p, "y", i, expected.y, fates[i].y, 0);
        pair_near(&p, "herd", i, expected.herd, fates[i].herd, 0);
    }
    CUDA_CHECK(cudaFree(d_land));
    CUDA_CHECK(cudaFree(d_families));
    CUDA_CHECK(cudaFree(d_fates));
    return pair_end(&p);
}

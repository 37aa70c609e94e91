// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: each block keeps its own sums of the counties in shared memory and adds them to the totals at its end.
// Why: all hailstones of a storm go to the same few dozen words of the totals, where their atomic operations queue up.
#include "../common.h"

enum { BLOCK = 256, COUNTIES = 40, MAP = 64, CELL = 64 };

struct Stone {
    unsigned short x, y;        // where it fell, in units of 10 m
    unsigned short milligrams;
    unsigned short size;        // in units of 10 um
};

struct Tally {
    unsigned stones, milligrams, largest;
};

// How many stones fell in each county, what they weigh together, and the size of the largest.
__global__ void survey(const Stone *stones, const unsigned char *county, Tally *total, int count) {
#ifdef AFTER
    __shared__ Tally own[COUNTIES];
    for (int c = threadIdx.x; c < COUNTIES; c += BLOCK)
        own[c].stones = own[c].milligrams = own[c].largest = 0;
    __syncthreads();
    Tally *tally = own;
#else
    Tally *tally = total;
#endif
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < count; i += gridDim.x * BLOCK) {
        Stone s = stones[i];
        int c = county[s.y / CELL * MAP + s.x / CELL];
        atomicAdd(&tally[c].stones, 1u);
        atomicAdd(&tally[c].milligrams, (unsigned)s.milligrams);
        atomicMax(&tally[c].largest, (unsigned)s.size);
    }
#ifdef AFTER
    __syncthreads();
    for (int c = threadIdx.x; c < COUNTIES; c += BLOCK) {
        atomicAdd(&total[c].stones, own[c].stones);
        atomicAdd(&total[c].milligrams, own[c].milligrams);
        atomicMax(&total[c].largest, own[c].largest);
    }
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "hailstones");
    int n = p.small ? 20000 : 6500000, blocks = p.small ? 20 : 132 * 8;
    std::vector<float> seat = random_floats(2 * COUNTIES, 0, MAP, 1);
    std::vector<unsigned char> county(MAP * MAP);
    for (int m = 0; m < MAP * MAP; m++) {
        float nearest = 1e9f;
        for (int c = 0; c < COUNTIES; c++) {
            float dx = m % MAP - seat[2 * c], dy = m / MAP - seat[2 * c + 1], away = dx * dx + dy * dy;
            if (away < nearest) {
                nearest = away;
                county[m] = (unsigned char)c;
            }
        }
    }
    std::vector<Stone> stones(n);
    unsigned seed = 2, edge = MAP * CELL / 2;
    for (Stone &s : stones) {  // most fall where the storm is, in the middle of the map
        s.x = (unsigned short)(lcg_next(&seed, edge) + lcg_next(&seed, edge));
        s.y = (unsigned short)(lcg_next(&seed, edge) + lcg_next(&seed, edge));
        s.milligrams = (unsigned short)(20 + lcg_next(&seed, 4000));
        s.size = (unsigned short)(300 + lcg_next(&seed, 7000));
    }
    Stone *d_stones = device_copy_of(stones.data(), n);
    unsigned char *d_county = device_copy_of(county.data(), county.size());
    Tally *d_total = device_array<Tally>(COUNTIES);
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_total, 0, COUNTIES * sizeof(Tally)));
        survey<<<blocks, BLOCK>>>(d_stones, d_county, d_total, n);
    });
    std::vector<Tally> total = host_copy_of(d_total, COUNTIES), expected(COUNTIES, Tally{0, 0, 0});
    for (const Stone &s : stones) {
        Tally &t = expected[county[s.y / CELL * MAP + s.x / CELL]];
        t.stones++;
        t.milligrams += s.milligrams;
        t.largest = std::max(t.largest, (unsigned)s.size);
    }
    for (int c = 0; c < COUNTIES; c++) {
        pair_near(&p, "stones", c, expected[c].stones, total[c].stones, 0);
        pair_near(&p, "milligrams", c, expected[c].milligrams, total[c].milligrams, 0);
        pair_near(&p, "largest", c, expected[c].largest, total[c].largest, 0);
    }
    return pair_end(&p);
}

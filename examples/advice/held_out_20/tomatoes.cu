// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: a block counts in a table of its own in shared memory and adds it to the grower's at the end.
// Why: all threads add to the few grades of one grower in global memory and queue for the same addresses.
#include "../common.h"

enum { RIPENESS = 16, SIZES = 8, GRADES = RIPENESS * SIZES, BLOCK = 256 };

struct Grade {
    unsigned fruits, grams;
};

// Eight spots of a fruit, each red and green of one byte; what the packing station sees of it.
__host__ __device__ static inline int grade_of(uint4 spots, int grams) {
    unsigned words[4] = {spots.x, spots.y, spots.z, spots.w}, red = 0, green = 0;
    for (int w = 0; w < 4; w++) {
        red += (words[w] & 255) + (words[w] >> 16 & 255);
        green += (words[w] >> 8 & 255) + (words[w] >> 24);
    }
    int ripe = (int)(red * RIPENESS / (red + green + 1));
    int size = grams < 60 ? 0 : (grams - 60) / 20;
    return ripe * SIZES + (size < SIZES ? size : SIZES - 1);
}

// What each grower delivered: fruits and grams of each grade.
__global__ void sort_fruit(const uint4 *spots, const unsigned short *weights, Grade *growers, int per_block,
                           int blocks_per_grower) {
    Grade *grades = growers + blockIdx.x / blocks_per_grower * GRADES;
    size_t first = (size_t)blockIdx.x * per_block;
#ifdef AFTER
    __shared__ Grade own[GRADES];
    for (int g = threadIdx.x; g < GRADES; g += BLOCK)
        own[g].fruits = own[g].grams = 0;
    __syncthreads();
#endif
    for (int i = threadIdx.x; i < per_block; i += BLOCK) {
        int grams = weights[first + i];
        int grade = grade_of(spots[first + i], grams);
#ifdef AFTER
        atomicAdd(&own[grade].fruits, 1u);
        atomicAdd(&own[grade].grams, (unsigned)grams);
#else
        atomicAdd(&grades[grade].fruits, 1u);
        atomicAdd(&grades[grade].grams, (unsigned)grams);
#endif
    }
#ifdef AFTER
    __syncthreads();
    for (int g = threadIdx.x; g < GRADES; g += BLOCK)
        if (own[g].fruits) {
            atomicAdd(&grades[g].fruits, own[g].fruits);
            atomicAdd(&grades[g].grams, own[g].grams);
        }
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "tomatoes");
    int growers = p.small ? 1 : 132, per_block = p.small ? 1024 : 4096, blocks_per_grower = p.small ? 2 : 8;
    int blocks = growers * blocks_per_grower;
    size_t n = (size_t)blocks * per_block;
    std::vector<uint4> spots(n);
    std::vector<unsigned short> weights(n);
    unsigned seed = 1;
    for (size_t i = 0; i < n; i++) {
        unsigned words[4], green = 20 + lcg_next(&seed, 180);
        for (unsigned &w : words) {
            unsigned noise = lcg_next(&seed, 1 << 12);
            w = (120 + noise % 64) | green << 8 | (130 + noise / 64) << 16 | (green + noise % 16) << 24;
        }
        spots[i] = make_uint4(words[0], words[1], words[2], words[3]);
        weights[i] = (unsigned short)(45 + lcg_next(&seed, 100) + lcg_next(&seed, 100));
    }
    uint4 *d_spots = device_copy_of(spots.data(), n);
    unsigned short *d_weights = device_copy_of(weights.data(), n);
    size_t table = (size_t)growers * GRADES;
    Grade *d_growers = device_array<Grade>(table);
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_growers, 0, table * sizeof(Grade)));
        sort_fruit<<<blocks, BLOCK>>>(d_spots, d_weights, d_growers, per_block, blocks_per_grower);
    });
    std::vector<Grade> got = host_copy_of(d_growers, table), expected(table, Grade{0, 0});
    for (size_t i = 0; i < n; i++) {
        size_t grower = i / ((size_t)per_block * blocks_per_grower);
        Grade &g = expected[grower * GRADES + grade_of(spots[i], weights[i])];
        g.fruits++;
        g.grams += weights[i];
    }
    for (size_t g = 0; g < table; g++) {
        pair_near(&p, "fruits", g, expected[g].fruits, got[g].fruits, 1e-9);
        pair_near(&p, "grams", g, expected[g].grams, got[g].grams, 1e-9);
    }
    return pair_end(&p);
}

// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: each lane of a warp adds to a copy of its own; a block has 32 copies and adds them up at its end.
// Why: most leaves are of two or three sizes, so that nearly all lanes of a warp want the same few sums at once.
#include "../common.h"

enum { BLOCK = 256, SIZES = 16, GRADES = 4, CLASSES = SIZES * GRADES };

#ifdef AFTER
enum { COPIES = 32 };
#else
enum { COPIES = 1 };
#endif

static __host__ __device__ int class_of(ushort2 leaf, unsigned char shade) {
    int across = leaf.x > leaf.y ? leaf.x : leaf.y;
    int size = across >> 8 < SIZES ? across >> 8 : SIZES - 1;
    return size * GRADES + (shade >> 6);
}

static __host__ __device__ unsigned weight_of(ushort2 leaf) { return leaf.y >> 4; }

// The weight of the leaves of each size and shade that the camera above the belt has seen.
__global__ void weigh_leaves(const ushort2 *leaves, const unsigned char *shades, unsigned *totals, int n) {
    __shared__ unsigned own[CLASSES * COPIES];
    for (int i = threadIdx.x; i < CLASSES * COPIES; i += BLOCK)
        own[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
        atomicAdd(&own[class_of(leaves[i], shades[i]) * COPIES + threadIdx.x % COPIES], weight_of(leaves[i]));
    __syncthreads();
    if (threadIdx.x < CLASSES) {
        unsigned sum = 0;
        for (int k = 0; k < COPIES; k++)  // from the own lane on, so that the lanes read from different banks
            sum += own[threadIdx.x * COPIES + (threadIdx.x + k) % COPIES];
        atomicAdd(&totals[threadIdx.x], sum);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "tea_leaves");
    int n = p.small ? 1 << 14 : 1 << 25, blocks = p.small ? 8 : 1056;
    std::vector<ushort2> leaves(n);
    std::vector<unsigned char> shades(n);
    unsigned seed = 1;
    for (int i = 0; i < n; i++) {
        unsigned size = lcg_next(&seed, 16) ? 1280 + lcg_next(&seed, 300) : lcg_next(&seed, 4096);
        leaves[i] = make_ushort2((unsigned short)size, (unsigned short)(size / 2 + lcg_next(&seed, 100)));
        shades[i] = (unsigned char)(lcg_next(&seed, 12) ? 70 + lcg_next(&seed, 50) : lcg_next(&seed, 256));
    }
    ushort2 *d_leaves = device_copy_of(leaves.data(), n);
    unsigned char *d_shades = device_copy_of(shades.data(), n);
    unsigned *d_totals = device_array<unsigned>(CLASSES);
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_totals, 0, CLASSES * sizeof *d_totals));
        weigh_leaves<<<blocks, BLOCK>>>(d_leaves, d_shades, d_totals, n);
    });
    std::vector<unsigned> totals = host_copy_of(d_totals, CLASSES), expected(CLASSES, 0);
    for (int i = 0; i < n; i++)
        expected[class_of(leaves[i], shades[i])] += weight_of(leaves[i]);
    for (int c = 0; c < CLASSES; c++)
        pair_near(&p, "weight", c, expected[c], totals[c], 0);
    return pair_end(&p);
}

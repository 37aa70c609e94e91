// SPDX-License-Identifier: Apache-2.0
//
// Rule: block-increase
// Change: 1056 blocks share the picture instead of one for each SM.
// Why: eight warps on an SM keep too few loads on their way.
#include "../common.h"

enum { BLOCK = 256, SMS = 132 };

#ifdef AFTER
enum { BLOCKS = 8 * SMS };
#else
enum { BLOCKS = SMS };
#endif

// The 32 signs of a secret pattern at one place of a picture.
static __host__ __device__ inline unsigned signs_at(unsigned place, unsigned key) {
    unsigned h = place * 0x9e3779b1u ^ key;
    h = (h ^ h >> 15) * 0x85ebca77u;
    return (h ^ h >> 13) * 0xc2b2ae3du;
}

// How much of a hidden mark is in a picture: the sum of its pixels, four of them in a word, with the pattern's signs.
__global__ void watermark(const unsigned *picture, int *total, unsigned key, int words) {
    __shared__ int parts[BLOCK / 32];
    int sum = 0;
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < words; i += gridDim.x * BLOCK) {
        unsigned pixels = picture[i], signs = signs_at(i, key);
        for (int k = 0; k < 4; k++) {
            int pixel = pixels >> 8 * k & 255u;
            sum += signs >> (31 - k) & 1u ? -pixel : pixel;
        }
    }
    for (int away = 16; away; away /= 2)
        sum += __shfl_down_sync(~0u, sum, away);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < BLOCK / 32; w++)
            sum += parts[w];
        atomicAdd(total, sum);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "watermark");
    int words = p.small ? 1 << 18 : 12000000, blocks = BLOCKS;
    std::vector<unsigned> picture(words);
    lcg_fill(picture.data(), words, 1, 1 << 24);
    for (unsigned &word : picture)
        word *= 0x9e3779b1u;
    int *d_total = device_array<int>(1);
    unsigned *d_picture = device_copy_of(picture.data(), words), key = 20260704u;
    pair_time(&p, [&] {
        CUDA_CHECK(cudaMemsetAsync(d_total, 0, sizeof(int)));
        watermark<<<blocks, BLOCK>>>(d_picture, d_total, key, words);
    });
    std::vector<int> total = host_copy_of(d_total, 1);
    int expected = 0;
    for (int i = 0; i < words; i++)
        for (int k = 0; k < 4; k++) {
            int pixel = picture[i] >> 8 * k & 255u;
            expected += signs_at(i, key) >> (31 - k) & 1u ? -pixel : pixel;
        }
    pair_near(&p, "total", 0, expected, total[0], 0);
    return pair_end(&p);
}

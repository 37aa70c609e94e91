// SPDX-License-Identifier: Apache-2.0
//
// Rule: loop-unrolling
// Change: the loop over the stripes is unrolled eight times instead of being kept rolled.
// Why: each turn loads the stripes of the photo for all offsets anew, though all but one are those of the last turn,
// and only one load of the catalogue is under way at a time.
#include "../common.h"

enum { WORDS = 64, OFFSETS = 8, BLOCK = 256 };

// Which known zebra is on a photo: a flank is 256 stripe values of eight bits, four to a word; the best of the offsets
// counts.
__global__ void recognise(const int *catalogue, const int *photos, int2 *matches, int zebras) {
    __shared__ int photo[WORDS + OFFSETS];
    for (int i = threadIdx.x; i < WORDS + OFFSETS; i += BLOCK)
        photo[i] = photos[blockIdx.y * (WORDS + OFFSETS) + i];
    __syncthreads();
    int zebra = blockIdx.x * BLOCK + threadIdx.x;
    if (zebra >= zebras)
        return;
    int scores[OFFSETS] = {};
#ifdef AFTER
#pragma unroll 8
#else
#pragma unroll 1
#endif
    for (int w = 0; w < WORDS; w++) {
        int stripes = catalogue[w * zebras + zebra];
#pragma unroll
        for (int o = 0; o < OFFSETS; o++)
            scores[o] = __dp4a(stripes, photo[w + o], scores[o]);
    }
    int best = scores[0], at = 0;
#pragma unroll
    for (int o = 1; o < OFFSETS; o++)
        if (scores[o] > best) {
            best = scores[o];
            at = o;
        }
    matches[(size_t)blockIdx.y * zebras + zebra] = make_int2(best, at);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "zebras");
    int zebras = p.small ? 256 : 132 * 256, photos = p.small ? 1 : 32, length = WORDS + OFFSETS;
    std::vector<int> catalogue((size_t)WORDS * zebras), pictures((size_t)photos * length);
    unsigned seed = 1;
    for (int &word : catalogue)
        word = (int)(lcg_next(&seed, 1 << 16) | lcg_next(&seed, 1 << 16) << 16);
    for (int &word : pictures)
        word = (int)(lcg_next(&seed, 1 << 16) | lcg_next(&seed, 1 << 16) << 16);
    int *d_catalogue = device_copy_of(catalogue.data(), catalogue.size()),
        *d_pictures = device_copy_of(pictures.data(), pictures.size());
    int2 *d_matches = device_array<int2>((size_t)photos * zebras);
    dim3 grid((zebras + BLOCK - 1) / BLOCK, photos);
    pair_time(&p, [&] { recognise<<<grid, BLOCK>>>(d_catalogue, d_pictures, d_matches, zebras); });
    std::vector<int2> matches = host_copy_of(d_matches, (size_t)photos * zebras);
    for (size_t i = 0; i < matches.size(); i += p.small ? 3 : 997) {
        size_t photo = i / zebras, zebra = i % zebras;
        int best = 0, at = -1;
        for (int o = 0; o < OFFSETS; o++) {
            int score = 0;
            for (int w = 0; w < WORDS; w++)
                for (int b = 0; b < 32; b += 8)
                    score += (signed char)((unsigned)catalogue[w * zebras + zebra] >> b) *
                             (signed char)((unsigned)pictures[photo * length + w + o] >> b);
            if (at < 0 || score > best) {
                best = score;
                at = o;
            }
        }
        pair_near(&p, "score", i, best, matches[i].x, 0);
        pair_near(&p, "offset", i, at, matches[i].y, 0);
    }
    return pair_end(&p);
}

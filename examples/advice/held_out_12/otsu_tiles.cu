// SPDX-License-Identifier: Apache-2.0
//
// Rule: warp-balance
// Change: each thread weighs one grey level, after a scan, instead of one thread all of them.
// Why: all other warps wait at a barrier while one thread goes through 256 levels.
#include "../common.h"

enum { BLOCK = 256, SIDE = 64, LEVELS = 256, PIXELS = SIDE * SIDE };

// How well a threshold parts ink from paper, by Otsu: between-class variance.
static __host__ __device__ inline float parted(int dark, int dark_sum, int sum) {
    if (dark == 0 || dark == PIXELS)
        return 0;
    float dark_mean = (float)dark_sum / (float)dark, light_mean = (float)(sum - dark_sum) / (float)(PIXELS - dark);
    return (float)dark * (float)(PIXELS - dark) * (dark_mean - light_mean) * (dark_mean - light_mean);
}

// Makes each tile of a scanned page black and white.
__global__ void otsu_tiles(const unsigned char *page, unsigned char *ink, int *thresholds, int width) {
    __shared__ int histogram[LEVELS], threshold;
    int me = threadIdx.x, corner = blockIdx.y * SIDE * width + blockIdx.x * SIDE;
    histogram[me] = 0;
    __syncthreads();
    for (int k = me; k < PIXELS; k += BLOCK)
        atomicAdd(&histogram[page[corner + k / SIDE * width + k % SIDE]], 1);
    __syncthreads();
#ifdef AFTER
    __shared__ int2 scanned[2][LEVELS];
    __shared__ unsigned long long best;
    int2 own = make_int2(histogram[me], histogram[me] * me);
    scanned[0][me] = own;
    best = 0;
    __syncthreads();
    int from = 0;
    for (int step = 1; step < LEVELS; step *= 2, from = !from) {
        if (me >= step) {
            own.x += scanned[from][me - step].x;
            own.y += scanned[from][me - step].y;
        }
        scanned[!from][me] = own;
        __syncthreads();
    }
    float quality = parted(own.x, own.y, scanned[from][LEVELS - 1].y);
    unsigned long long key = (unsigned long long)__float_as_uint(quality) << 32 | (unsigned)(LEVELS - 1 - me);
    for (int lanes = 16; lanes > 0; lanes /= 2)
        key = max(key, __shfl_xor_sync(~0u, key, lanes));
    if (me % 32 == 0)
        atomicMax(&best, key);
    __syncthreads();
    if (me == 0)
        threshold = LEVELS - 1 - (int)(best & (LEVELS - 1));
#else
    if (me == 0) {
        int sum = 0, dark = 0, dark_sum = 0, chosen = 0;
        float best = 0;
        for (int level = 0; level < LEVELS; level++)
            sum += level * histogram[level];
        for (int level = 0; level < LEVELS; level++) {
            dark += histogram[level];
            dark_sum += level * histogram[level];
            float quality = parted(dark, dark_sum, sum);
            if (quality > best) {
                best = quality;
                chosen = level;
            }
        }
        threshold = chosen;
    }
#endif
    __syncthreads();
    for (int k = me; k < PIXELS; k += BLOCK) {
        int at = corner + k / SIDE * width + k % SIDE;
        ink[at] = page[at] > threshold ? 255 : 0;
    }
    if (me == 0)
        thresholds[blockIdx.y * gridDim.x + blockIdx.x] = threshold;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "otsu_tiles");
    int width = p.small ? 2 * SIDE : 64 * SIDE, tiles = width / SIDE;
    size_t n = (size_t)width * width;
    std::vector<unsigned char> page(n);
    unsigned seed = 1;
    for (unsigned char &c : page)
        c = (unsigned char)((lcg_next(&seed, 5) ? 150 : 30) + lcg_next(&seed, 80));
    unsigned char *d_page = device_copy_of(page.data(), n), *d_ink = device_array<unsigned char>(n);
    int *d_thresholds = device_array<int>(tiles * tiles);
    dim3 grid(tiles, tiles);
    pair_time(&p, [&] { otsu_tiles<<<grid, BLOCK>>>(d_page, d_ink, d_thresholds, width); });
    std::vector<unsigned char> ink = host_copy_of(d_ink, n);
    std::vector<int> thresholds = host_copy_of(d_thresholds, tiles * tiles);
    for (int tile = 0; tile < tiles * tiles; tile += p.small ? 1 : 61) {
        size_t corner = ((size_t)(tile / tiles) * width + tile % tiles) * SIDE;
        std::vector<int> histogram(LEVELS);
        int sum = 0, dark = 0, dark_sum = 0;
        for (int k = 0; k < PIXELS; k++) {
            size_t at = corner + (size_t)(k / SIDE) * width + k % SIDE;
            histogram[page[at]]++;
            sum += page[at];
            pair_near(&p, "ink", at, page[at] > thresholds[tile] ? 255 : 0, ink[at], 0);
        }
        float best = 0, taken = 0;  // levels between ink and paper part them equally well, but for rounding
        for (int level = 0; level < LEVELS; level++) {
            dark += histogram[level];
            dark_sum += level * histogram[level];
            best = std::max(best, parted(dark, dark_sum, sum));
            if (level == thresholds[tile])
                taken = parted(dark, dark_sum, sum);
        }
        pair_near(&p, "quality", tile, best, taken, 1e-5);
    }
    return pair_end(&p);
}

// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-up
// Change: the counts in shared memory are bytes, those of four levels in a word, instead of ints.
// Why: no count can pass 225, the pixels of a window; with a quarter of the shared memory many more blocks fit.
#include "../common.h"

enum { BLOCK = 128, LEVELS = 128, SIDE = 15, WINDOW = SIDE * SIDE, STEP = 4 };

// A thread's counts: in banks of its own, whatever the levels are.
#ifdef AFTER
typedef unsigned char Count;
static __device__ int place_of(int level) { return (level / 4 * BLOCK + threadIdx.x) * 4 + level % 4; }
#else
typedef int Count;
static __device__ int place_of(int level) { return level * BLOCK + threadIdx.x; }
#endif

// The entropy of the grey levels around every fourth pixel of a rock's thin section: crystals are calm, grains are not.
__global__ void texture(const unsigned char *image, const float *n_log_n, float *entropy, int pitch, int across) {
    extern __shared__ __align__(16) unsigned char memory[];
    Count *counts = (Count *)memory;
    int x = blockIdx.x * BLOCK + threadIdx.x, y = blockIdx.y;
    if (x >= across)
        return;
    for (int level = 0; level < LEVELS; level++)
        counts[place_of(level)] = 0;
    const unsigned char *corner = image + (size_t)y * STEP * pitch + x * STEP;
    for (int dy = 0; dy < SIDE; dy++)
        for (int dx = 0; dx < SIDE; dx++)
            counts[place_of(corner[dy * pitch + dx] >> 1)]++;
    float sum = 0;
    for (int level = 0; level < LEVELS; level++) {
        int count = counts[place_of(level)];
        if (count > 1)
            sum += n_log_n[count];
    }
    entropy[(size_t)y * across + x] = log2f((float)WINDOW) - sum / WINDOW;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "thin_sections");
    int across = p.small ? 128 : 512, down = p.small ? 4 : 2048;
    int pitch = across * STEP + SIDE + 1, height = down * STEP + SIDE;
    size_t n = (size_t)pitch * height, outs = (size_t)across * down;
    std::vector<unsigned char> image(n);
    unsigned seed = 1;
    for (size_t i = 0; i < n; i++) {
        int x = (int)(i % pitch), y = (int)(i / pitch), grain = (x / 24 * 7 + y / 20 * 13) % 11;
        image[i] = (unsigned char)(grain * 18 + lcg_next(&seed, 4 + 6 * grain));
    }
    std::vector<float> table(WINDOW + 1, 0.0f);
    for (int i = 1; i <= WINDOW; i++)
        table[i] = (float)(i * log2((double)i));
    unsigned char *d_image = device_copy_of(image.data(), n);
    float *d_table = device_copy_of(table.data(), table.size()), *d_entropy = device_array<float>(outs);
    size_t shared = (size_t)LEVELS * BLOCK * sizeof(Count);
    CUDA_CHECK(cudaFuncSetAttribute(texture, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared));
    dim3 grid((across + BLOCK - 1) / BLOCK, down);
    pair_time(&p, [&] { texture<<<grid, BLOCK, shared>>>(d_image, d_table, d_entropy, pitch, across); });
    std::vector<float> entropy = host_copy_of(d_entropy, outs);
    for (size_t i = 0; i < outs; i += p.small ? 3 : 397) {
        int counts[LEVELS] = {}, x = (int)(i % across) * STEP, y = (int)(i / across) * STEP;
        for (int dy = 0; dy < SIDE; dy++)
            for (int dx = 0; dx < SIDE; dx++)
                counts[image[(size_t)(y + dy) * pitch + x + dx] / 2]++;
        double sum = 0;
        for (int level = 0; level < LEVELS; level++)
            sum += counts[level] ? counts[level] * log2((double)counts[level]) : 0;
        pair_near(&p, "entropy", i, log2((double)WINDOW) - sum / WINDOW, entropy[i], 1e-4);
    }
    return pair_end(&p);
}

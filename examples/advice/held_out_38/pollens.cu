// SPDX-License-Identifier: Apache-2.0
//
// Rule: atomic-contention
// Change: every counter of the co-occurrence matrices exists eight times, side by side; a lane takes one by its number.
// Why: neighbouring pixels are alike, so that the lanes of a warp add to very few counters and queue up for them; the
// eight copies, added up at the end, split each queue.
#include "../common.h"

// Texture of pollen grains under the microscope: grey-level co-occurrence matrices in four directions, weighted with
// the soft mask of the grain, and from each matrix contrast, energy, homogeneity and entropy. One CTA a grain.
constexpr int THREADS = 256;
constexpr int SIDE = 128;  // pixels of a grain's picture, squared
constexpr int LEVELS = 8;  // of grey
constexpr int DIRECTIONS = 4;
constexpr int MATRIX = LEVELS * LEVELS;
#ifdef AFTER
constexpr int COPIES = 8;
#else
constexpr int COPIES = 1;
#endif

struct Pixel {
    unsigned char grey;
    unsigned char mask;  // 0: background, 255: certainly grain
};

struct Texture {
    float contrast, energy, homogeneity, entropy;
};

__device__ inline float warp_sum(float value) {
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_xor_sync(0xffffffff, value, distance);
    return value;
}

// Adds what one entry of a matrix (share of all weight) means for the texture.
__host__ __device__ inline void add_entry(Texture &t, int row, int column, float share) {
    float apart = (float)(row - column);
    t.contrast += share * apart * apart;
    t.energy += share * share;
    t.homogeneity += share / (1.0f + fabsf(apart));
    t.entropy -= share > 0.0f ? share * logf(share) : 0.0f;
}

__global__ void __launch_bounds__(THREADS)
    describe(Texture *__restrict__ textures, const Pixel *__restrict__ pictures) {
    __shared__ Pixel picture[SIDE * SIDE];
    __shared__ unsigned counters[DIRECTIONS * MATRIX * COPIES];
    const uint4 *source = (const uint4 *)(pictures + (size_t)blockIdx.x * SIDE * SIDE);
    for (int i = threadIdx.x; i < SIDE * SIDE / 8; i += THREADS)
        ((uint4 *)picture)[i] = source[i];
    for (int i = threadIdx.x; i < DIRECTIONS * MATRIX * COPIES; i += THREADS)
        counters[i] = 0;
    __syncthreads();

    const int neighbour[DIRECTIONS] = {1, SIDE + 1, SIDE, SIDE - 1};
    unsigned *mine = counters + threadIdx.x % COPIES;
    for (int i = threadIdx.x; i < SIDE * (SIDE - 1); i += THREADS) {
        int x = i % SIDE;
        Pixel here = picture[i];
        if (x == 0 || x == SIDE - 1 || here.mask == 0)
            continue;
#pragma unroll
        for (int d = 0; d < DIRECTIONS; d++) {
            Pixel there = picture[i + neighbour[d]];
            unsigned weight = here.mask * there.mask >> 8;
            int entry = d * MATRIX + (here.grey >> 5) * LEVELS + (there.grey >> 5);
            if (weight > 0)
                atomicAdd(mine + entry * COPIES, weight);
        }
    }
    __syncthreads();

    int d = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (d < DIRECTIONS) {
        float weight[MATRIX / 32], all = 0.0f;
#pragma unroll
        for (int k = 0; k < MATRIX / 32; k++) {
            unsigned sum = 0;
#pragma unroll
            for (int c = 0; c < COPIES; c++)
                sum += counters[(d * MATRIX + k * 32 + lane) * COPIES + c];
            weight[k] = (float)sum;
            all += weight[k];
        }
        float scale = 1.0f / fmaxf(warp_sum(all), 1.0f);
        Texture t = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll
        for (int k = 0; k < MATRIX / 32; k++)
            add_entry(t, (k * 32 + lane) / LEVELS, lane % LEVELS, weight[k] * scale);
        t = {warp_sum(t.contrast), warp_sum(t.energy), warp_sum(t.homogeneity), warp_sum(t.entropy)};
        if (lane == 0)
            textures[blockIdx.x * DIRECTIONS + d] = t;
    }
}

static Texture describe_on_cpu(const Pixel *picture, int neighbour) {
    std::vector<unsigned> counters(MATRIX, 0);
    double all = 0;
    for (int y = 0; y < SIDE - 1; y++)
        for (int x = 1; x < SIDE - 1; x++) {
            Pixel here = picture[y * SIDE + x], there = picture[y * SIDE + x + neighbour];
            unsigned weight = here.mask * there.mask >> 8;
            counters[(here.grey >> 5) * LEVELS + (there.grey >> 5)] += weight;
            all += weight;
        }
    Texture t = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int i = 0; i < MATRIX; i++)
        add_entry(t, i / LEVELS, i % LEVELS, (float)(counters[i] / std::max(all, 1.0)));
    return t;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "pollens");
    const int grains = p.small ? 2 : 2112;

    // A grain is a disc with a soft edge and a wavy pattern of its own on it.
    unsigned seed = 386;
    std::vector<Pixel> pictures((size_t)grains * SIDE * SIDE);
    std::vector<float> wave(1024);
    for (int i = 0; i < 1024; i++)
        wave[i] = 60.0f * sinf(6.2831853f * i / 1024);
    for (int g = 0; g < grains; g++) {
        int across = 8 + lcg_next(&seed, 24), down = 8 + lcg_next(&seed, 24), radius = 45 + lcg_next(&seed, 16);
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++) {
                seed = seed * 1664525u + 1013904223u;
                int inside = radius * radius - (x - SIDE / 2) * (x - SIDE / 2) - (y - SIDE / 2) * (y - SIDE / 2);
                float grey = 124.0f + wave[(x * across) & 1023] + wave[(y * down + x * x / 8) & 1023];
                grey += (float)(seed >> 29);
                Pixel pixel = {(unsigned char)std::min(std::max((int)grey, 0), 255),
                               (unsigned char)std::min(std::max(inside, 0), 255)};
                pictures[((size_t)g * SIDE + y) * SIDE + x] = pixel;
            }
    }

    Pixel *d_pictures = device_copy_of(pictures.data(), pictures.size());
    Texture *d_textures = device_array<Texture>((size_t)grains * DIRECTIONS);
    pair_time(&p, [&] { describe<<<grains, THREADS>>>(d_textures, d_pictures); });

    std::vector<Texture> textures = host_copy_of(d_textures, (size_t)grains * DIRECTIONS);
    const int neighbour[DIRECTIONS] = {1, SIDE + 1, SIDE, SIDE - 1};
    for (int i = 0; i < grains * DIRECTIONS; i += p.small ? 1 : 9) {
        Texture expected =
            describe_on_cpu(&pictures[(size_t)(i / DIRECTIONS) * SIDE * SIDE], neighbour[i % DIRECTIONS]);
        pair_near(&p, "contrast", i, expected.contrast, textures[i].contrast, 1e-4);
        pair_near(&p, "energy", i, expected.energy, textures[i].energy, 1e-4);
        pair_near(&p, "homogeneity", i, expected.homogeneity, textures[i].homogeneity, 1e-4);
        pair_near(&p, "entropy", i, expected.entropy, textures[i].entropy, 1e-4);
    }
    CUDA_CHECK(cudaFree(d_pictures));
    CUDA_CHECK(cudaFree(d_textures));
    return pair_end(&p);
}

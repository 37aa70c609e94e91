// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Change: a step over the edge of the sample is brought back with a comparison and an addition, not with a remainder.
// Why: a step is one voxel, so that the quotient is 0 or 1; the remainder is a dozen instructions nevertheless, three
//      times in every step.
#include "../common.h"

enum { BLOCK = 256 };

struct Walker {
    int x, y, z;     // the voxel
    int dx, dy, dz;  // how far from the start, turns around the sample counted
    unsigned bumps;  // into the fibres
};

// The sample repeats in all directions; by is -1, 0 or 1.
__host__ __device__ static inline int shifted(int at, int by, int n) {
#ifdef AFTER
    int to = at + by;
    if (to >= n)
        to -= n;
    if (to < 0)
        to += n;
    return to;
#else
    return (at + by + n) % n;
#endif
}

__host__ __device__ static inline unsigned next_random(unsigned state) {
    state ^= state << 13;
    state ^= state >> 17;
    return state ^ state << 5;
}

// 32 voxels of a row are the bits of a word; 1: fibre.
__host__ __device__ static inline bool is_fibre(const unsigned *sample, int x, int y, int z, int n) {
    int words = (n + 31) / 32;
    return sample[(z * n + y) * words + x / 32] >> (x % 32) & 1;
}

__host__ __device__ static inline void wander(Walker *w, const unsigned *sample, unsigned state, int n, int steps) {
    for (int s = 0; s < steps; s++) {
        state = next_random(state);
        int bx = (int)((state >> 8 & 255) * 3 >> 8) - 1;
        int by = (int)((state >> 16 & 255) * 3 >> 8) - 1;
        int bz = (int)((state >> 24) * 3 >> 8) - 1;
        int x = shifted(w->x, bx, n), y = shifted(w->y, by, n), z = shifted(w->z, bz, n);
        if (is_fibre(sample, x, y, z, n)) {
            w->bumps++;
        } else {
            w->x = x, w->y = y, w->z = z;
            w->dx += bx, w->dy += by, w->dz += bz;
        }
    }
}

// Diffusion of water in a sponge of n * n * n voxels by random walk; neighbours in a block start in one row.
__global__ void __launch_bounds__(BLOCK) diffuse(const unsigned *sample, const ushort4 *starts, float *square,
                                                 unsigned *bumps, int walkers, int n, int steps) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= walkers)
        return;
    ushort4 start = starts[i];
    Walker w = {start.x, start.y, start.z, 0, 0, 0, 0};
    wander(&w, sample, i * 2654435761u + 1, n, steps);
    square[i] = (float)(w.dx * w.dx + w.dy * w.dy + w.dz * w.dz);
    bumps[i] = w.bumps;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "loofahs");
    int n = p.small ? 50 : 200, walkers = p.small ? 1000 : 132 * 2048, steps = p.small ? 60 : 384,
        words = (n + 31) / 32;
    std::vector<unsigned> sample((size_t)n * n * words);
    std::vector<float> wave(2 * n);  // the surface is a gyroid
    for (int i = 0; i < n; i++)
        wave[i] = sinf(i * 4 * 6.2831853f / n), wave[n + i] = cosf(i * 4 * 6.2831853f / n);
    for (int z = 0; z < n; z++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++)
                if (wave[x] * wave[n + y] + wave[y] * wave[n + z] + wave[z] * wave[n + x] > 0.3f)
                    sample[((size_t)z * n + y) * words + x / 32] |= 1u << (x % 32);
    std::vector<ushort4> starts;
    for (int x = 0, y = 0, z = 0; (int)starts.size() < walkers; x++) {
        if (x == n)
            x = 0, y = (y + 3) % n, z = (z + 7) % n;
        if (!is_fibre(sample.data(), x, y, z, n))
            starts.push_back(make_ushort4(x, y, z, 0));
    }
    unsigned *d_sample = device_copy_of(sample.data(), sample.size()), *d_bumps = device_array<unsigned>(walkers);
    ushort4 *d_starts = device_copy_of(starts.data(), walkers);
    float *d_square = device_array<float>(walkers);
    int blocks = (walkers + BLOCK - 1) / BLOCK;
    pair_time(&p, [&] { diffuse<<<blocks, BLOCK>>>(d_sample, d_starts, d_square, d_bumps, walkers, n, steps); });
    std::vector<float> square = host_copy_of(d_square, walkers);
    std::vector<unsigned> bumps = host_copy_of(d_bumps, walkers);
    for (int i = 0; i < walkers; i += p.small ? 1 : 29) {
        Walker w = {starts[i].x, starts[i].y, starts[i].z, 0, 0, 0, 0};
        wander(&w, sample.data(), i * 2654435761u + 1, n, steps);
        pair_near(&p, "square", i, w.dx * w.dx + w.dy * w.dy + w.dz * w.dz, square[i], 1e-6);
        pair_near(&p, "bumps", i, w.bumps, bumps[i], 0);
    }
    return pair_end(&p);
}

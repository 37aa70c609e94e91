// SPDX-License-Identifier: Apache-2.0
//
// Rule: divergence
// Change: a thread takes one spin of the colour that is updated, two columns apart from its neighbour's, instead of
// looking whether its spin has that colour.
// Why: half of the lanes of every warp have nothing to do.
#include "../common.h"

enum { BLOCK = 128 };

static __host__ __device__ unsigned mix(unsigned x) {
    for (int i = 0; i < 4; i++) {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        x *= 0x9e3779b1u;
    }
    return x;
}

// New value of a spin among its neighbours' sum at inverse temperature beta (heat bath).
static __host__ __device__ int heat_bath(int around, float beta, unsigned seed) {
    float up = 1 / (1 + expf(-2 * beta * around));
    return (mix(seed) >> 8) * (1 / 16777216.0f) < up ? 1 : -1;
}

// Updates the spins of one colour of the checkerboard, in place; the board is periodic.
__global__ void ising(int *spins, int width, int height, int colour, float beta) {
#ifdef AFTER
    int y = blockIdx.y, x = 2 * (blockIdx.x * BLOCK + threadIdx.x) + ((y + colour) & 1);
#else
    int y = blockIdx.y, x = blockIdx.x * BLOCK + threadIdx.x;
    if (((x + y) & 1) == colour)
#endif
    {
        int left = x > 0 ? x - 1 : width - 1, right = x + 1 < width ? x + 1 : 0;
        int above = y > 0 ? y - 1 : height - 1, below = y + 1 < height ? y + 1 : 0;
        int around =
            spins[y * width + left] + spins[y * width + right] + spins[above * width + x] + spins[below * width + x];
        spins[y * width + x] = heat_bath(around, beta, (unsigned)(y * width + x));
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "ising");
    int width = p.small ? 512 : 4096, height = p.small ? 256 : 4096;
    std::vector<int> spins((size_t)width * height);
    lcg_fill(spins.data(), spins.size(), 1, 2);
    for (int &s : spins)
        s = 2 * s - 1;
    int *d_spins = device_copy_of(spins.data(), spins.size());
#ifdef AFTER
    dim3 grid(width / 2 / BLOCK, height);
#else
    dim3 grid(width / BLOCK, height);
#endif
    pair_time(&p, [&] { ising<<<grid, BLOCK>>>(d_spins, width, height, 0, 0.3f); });
    std::vector<int> out = host_copy_of(d_spins, spins.size());
    int wrong = 0, looked_at = 0;
    for (int y = 0; y < height; y += 3)
        for (int x = 0; x < width; x++) {
            size_t at = (size_t)y * width + x;
            int want = spins[at];
            if (((x + y) & 1) == 0)
                want = heat_bath(spins[at - x + (x + width - 1) % width] + spins[at - x + (x + 1) % width] +
                                     spins[(size_t)((y + height - 1) % height) * width + x] +
                                     spins[(size_t)((y + 1) % height) * width + x],
                                 0.3f, (unsigned)at);
            wrong += want != out[at];
            looked_at++;
        }
    pair_near(&p, "part of wrong spins", 0, 0, (double)wrong / looked_at, 1e-4);  // expf may differ in the last bit
    return pair_end(&p);
}

// SPDX-License-Identifier: Apache-2.0
//
// Rule: indirect-addressing
// Change: the six neighbours of a paving stone are computed instead of being looked up in a table.
// Why: the pavement is a regular honeycomb; each temperature waits for an index, and the indices are most of what is
// loaded.
// Also: memory-transactions
#include "../common.h"

enum { SIDES = 6, BLOCK = 256 };

// The stone on side `k` of that in column x of row y (odd rows lie half a stone to the right); itself at the edge.
__host__ __device__ inline int next_to(int x, int y, int k, int width, int height) {
    int across = k < 2 ? 2 * k - 1 : (k & 1) - 1 + (y & 1), down = k < 2 ? 0 : k < 4 ? -1 : 1;
    bool outside = x + across < 0 || x + across >= width || y + down < 0 || y + down >= height;
    return outside ? y * width + x : (y + down) * width + x + across;
}

// A square in the sun: one step of the temperatures of its hexagonal stones.
__global__ void warm_up(const float *now, const float *darkness, const int *table, float *later, int width, int height,
                        float sun, float air) {
    int x = blockIdx.x * BLOCK + threadIdx.x, y = blockIdx.y;
    if (x >= width)
        return;
    int i = y * width + x;
    float mine = now[i], flow = 0, hottest = mine;
#pragma unroll
    for (int k = 0; k < SIDES; k++) {
#ifdef AFTER
        float other = now[next_to(x, y, k, width, height)];
#else
        float other = now[table[(size_t)k * width * height + i]];
#endif
        flow += other - mine;
        hottest = fmaxf(hottest, other);
    }
    float gain = sun * darkness[i] - 0.02f * (mine - air);
    later[i] = fminf(mine + 0.08f * flow + gain, hottest + 1.0f);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "pavement");
    int width = p.small ? 256 : 3072, height = p.small ? 10 : 2048;
    size_t n = (size_t)width * height;
    std::vector<float> now = random_floats(n, 18, 40, 1), darkness = random_floats(n, 0.2f, 0.9f, 2);
    std::vector<int> table(SIDES * n);
    for (int k = 0; k < SIDES; k++)
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++)
                table[k * n + (size_t)y * width + x] = next_to(x, y, k, width, height);
    float *d_now = device_copy_of(now.data(), n), *d_darkness = device_copy_of(darkness.data(), n),
          *d_later = device_array<float>(n);
    int *d_table = device_copy_of(table.data(), SIDES * n);
    dim3 grid((width + BLOCK - 1) / BLOCK, height);
    pair_time(&p, [&] {
        warm_up<<<grid, BLOCK>>>(d_now, d_darkness, d_table, d_later, width, height, 3.0f, 22.0f);
    });
    std::vector<float> later = host_copy_of(d_later, n);
    for (size_t i = 0; i < n; i += p.small ? 1 : 37) {
        double mine = now[i], flow = 0, hottest = mine;
        for (int k = 0; k < SIDES; k++) {
            double other = now[table[k * n + i]];
            flow += other - mine;
            hottest = std::max(hottest, other);
        }
        double gain = 3.0 * darkness[i] - 0.02 * (mine - 22.0);
        pair_near(&p, "later", i, std::min(mine + 0.08 * flow + gain, hottest + 1), later[i], 1e-5);
    }
    return pair_end(&p);
}

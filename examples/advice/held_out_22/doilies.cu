// SPDX-License-Identifier: Apache-2.0
//
// Rule: loop-unrolling
// Change: the radius of the window is a constant of the program, so that both loops over the window are unrolled.
// Why: it comes as an argument; each of the few turns of the inner loop pays for the counter, the test and the address.
#include "../common.h"

enum { RADIUS = 2, WIDE = 32, HIGH = 8 };

__constant__ float pattern[(2 * RADIUS + 1) * (2 * RADIUS + 1)];

// How well the lace around each pixel follows a pattern of threads and holes, and how much of it is holes.
__global__ void match(const unsigned char *scan, float *score, unsigned char *holes, int width, int height, int pitch,
                      int asked) {
#ifdef AFTER
    const int radius = RADIUS;
#else
    const int radius = asked;
#endif
    int x = blockIdx.x * WIDE + threadIdx.x, y = blockIdx.y * HIGH + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float sum = 0, energy = 0;
    int empty = 0;
#pragma unroll
    for (int dy = 0; dy < 2 * radius + 1; dy++)
#pragma unroll
        for (int dx = 0; dx < 2 * radius + 1; dx++) {
            int level = scan[(y + dy) * pitch + x + dx];
            sum += pattern[dy * (2 * radius + 1) + dx] * level;
            energy += (float)(level * level);
            empty += level < 60;
        }
    score[y * width + x] = sum * rsqrtf(energy + 1);
    holes[y * width + x] = empty;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "doilies");
    int width = p.small ? 64 : 4096, height = p.small ? 48 : 2112, side = 2 * RADIUS + 1, pitch = width + 2 * RADIUS;
    size_t n = (size_t)width * height;
    std::vector<unsigned char> scan((size_t)pitch * (height + 2 * RADIUS));
    lcg_fill(scan.data(), scan.size(), 1, 256);
    std::vector<float> weights = random_floats(side * side, -1, 1, 2);
    CUDA_CHECK(cudaMemcpyToSymbol(pattern, weights.data(), weights.size() * sizeof(float)));
    unsigned char *d_scan = device_copy_of(scan.data(), scan.size()), *d_holes = device_array<unsigned char>(n);
    float *d_score = device_array<float>(n);
    dim3 block(WIDE, HIGH), grid(width / WIDE, height / HIGH);
    pair_time(&p, [&] { match<<<grid, block>>>(d_scan, d_score, d_holes, width, height, pitch, RADIUS); });
    std::vector<float> score = host_copy_of(d_score, n);
    std::vector<unsigned char> holes = host_copy_of(d_holes, n);
    for (size_t i = 0; i < n; i += p.small ? 1 : 41) {
        double sum = 0, energy = 1;
        int empty = 0;
        for (int k = 0; k < side * side; k++) {
            int level = scan[(i / width + k / side) * pitch + i % width + k % side];
            sum += (double)weights[k] * level;
            energy += level * level;
            empty += level < 60;
        }
        pair_near(&p, "score", i, sum / sqrt(energy), score[i], 1e-4);
        pair_near(&p, "holes", i, empty, holes[i], 0);
    }
    return pair_end(&p);
}

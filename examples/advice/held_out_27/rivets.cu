// SPDX-License-Identifier: Apache-2.0
//
// Rule: loop-unrolling
// Change: the radius of the drawing is a template parameter, so both loops over the drawing are unrolled completely.
// Why: with a radius known only at run time, the counters, tests and addresses cost more than the three operations of
// a turn; unrolled, all offsets are constants.
#include "../common.h"

enum { WIDE = 32, HIGH = 8, MOST = 4 };

__constant__ int drawing[(2 * MOST + 1) * (2 * MOST + 1)];

// How badly the photograph of a steel plate fits the drawing of a rivet at each pixel. The photograph has a margin of
// `radius` pixels on every side.
#ifdef AFTER
template <int radius>
__global__ void __launch_bounds__(WIDE *HIGH)
    compare_with_rivet(const unsigned char *plate, unsigned short *misfit, int width) {
#else
__global__ void __launch_bounds__(WIDE *HIGH)
    compare_with_rivet(const unsigned char *plate, unsigned short *misfit, int width, int radius) {
#endif
    __shared__ int seen[HIGH + 2 * MOST][WIDE + 2 * MOST];
    int left = blockIdx.x * WIDE, top = blockIdx.y * HIGH, pitch = width + 2 * radius;
#pragma unroll 1
    for (int y = threadIdx.y; y < HIGH + 2 * radius; y += HIGH)
#pragma unroll 1
        for (int x = threadIdx.x; x < WIDE + 2 * radius; x += WIDE)
            seen[y][x] = plate[(top + y) * pitch + left + x];
    __syncthreads();
    int sum = 0;
    for (int y = 0; y <= 2 * radius; y++)
        for (int x = 0; x <= 2 * radius; x++) {
            int value = seen[threadIdx.y + y][threadIdx.x + x];
            sum += abs(value - drawing[y * (2 * radius + 1) + x]);
        }
    misfit[(top + threadIdx.y) * width + left + threadIdx.x] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "rivets");
    const int radius = 4, side = 2 * radius + 1;
    int width = p.small ? 64 : 4096, height = p.small ? 16 : 2048, pitch = width + 2 * radius;
    std::vector<unsigned char> plate((size_t)pitch * (height + 2 * radius));
    lcg_fill(plate.data(), plate.size(), 1, 256);
    std::vector<int> rivet(side * side);
    for (int k = 0; k < side * side; k++) {
        int dx = k % side - radius, dy = k / side - radius, square = dx * dx + dy * dy;
        rivet[k] = square > radius * radius ? 90 : 220 - 6 * square + 4 * dx;
    }
    CUDA_CHECK(cudaMemcpyToSymbol(drawing, rivet.data(), rivet.size() * sizeof(int)));
    unsigned char *d_plate = device_copy_of(plate.data(), plate.size());
    unsigned short *d_misfit = device_array<unsigned short>((size_t)width * height);
    dim3 block(WIDE, HIGH), grid(width / WIDE, height / HIGH);
    pair_time(&p, [&] {
#ifdef AFTER
        compare_with_rivet<radius><<<grid, block>>>(d_plate, d_misfit, width);
#else
        compare_with_rivet<<<grid, block>>>(d_plate, d_misfit, width, radius);
#endif
    });
    std::vector<unsigned short> misfit = host_copy_of(d_misfit, (size_t)width * height);
    for (int i = 0; i < width * height; i += p.small ? 1 : 97) {
        int sum = 0;
        for (int k = 0; k < side * side; k++)
            sum += abs(plate[(size_t)(i / width + k / side) * pitch + i % width + k % side] - rivet[k]);
        pair_near(&p, "misfit", i, sum, misfit[i], 0);
    }
    return pair_end(&p);
}

// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: threadIdx.x counts columns instead of rows.
// Why: the lanes of a warp are in different rows, and each of their accesses is a sector of its own.
#include "../common.h"

enum { SIDE_X = 32, SIDE_Y = 8 };

static __host__ __device__ float step(float middle, float left, float right, float up, float down) {
    return middle + 0.2f * (left + right + up + down - 4 * middle);
}

__global__ void heat2d(const float *now, float *next, int n) {
#ifdef AFTER
    int column = blockIdx.x * SIDE_X + threadIdx.x, row = blockIdx.y * SIDE_Y + threadIdx.y;
#else
    int row = blockIdx.x * SIDE_X + threadIdx.x, column = blockIdx.y * SIDE_Y + threadIdx.y;
#endif
    if (row < 1 || column < 1 || row >= n - 1 || column >= n - 1)
        return;
    int i = row * n + column;
    next[i] = step(now[i], now[i - 1], now[i + 1], now[i - n], now[i + n]);
}

// A time step of heat conduction on a square.
int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "heat2d");
    int n = p.small ? 512 : 4096;
    std::vector<float> now = random_floats((size_t)n * n, 0, 1, 1);
    float *d_now = device_copy_of(now.data(), now.size()), *d_next = device_array<float>(now.size());
    pair_time(&p, [&] { heat2d<<<dim3(n / SIDE_X, n / SIDE_Y), dim3(SIDE_X, SIDE_Y)>>>(d_now, d_next, n); });
    std::vector<float> next = host_copy_of(d_next, now.size());
    for (int row = 1; row < n - 1; row += 31)
        for (int column = 1; column < n - 1; column += 29) {
            size_t i = (size_t)row * n + column;
            pair_near(&p, "next", i, step(now[i], now[i - 1], now[i + 1], now[i - n], now[i + n]), next[i], 1e-5);
        }
    return pair_end(&p);
}

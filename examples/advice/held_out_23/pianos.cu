// SPDX-License-Identifier: Apache-2.0
//
// Rule: indirect-addressing
// Change: where the twelve points round a point are is computed, not read from a table.
// Why: the soundboard is a plain rectangle of points; the table is four times as much memory to read as the deflections
// are, and each load waits for another one.
#include "../common.h"

enum { WIDE = 32, HIGH = 8, ROUND = 12 };

#ifdef AFTER
#define POINT(k, dx, dy) (min(max(y + (dy), 0), height - 1) * width + min(max(x + (dx), 0), width - 1))
#else
#define POINT(k, dx, dy) around[(k) * (size_t)(width * height) + i]
#endif

// One step of the vibration of a piano's soundboard: a stiff plate with losses.
__global__ void vibrate(const float *now, const float *last, const int *around, float *next, int width, int height,
                        float stiff, float loss) {
    int x = blockIdx.x * WIDE + threadIdx.x, y = blockIdx.y * HIGH + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int i = y * width + x;
    float sides = now[POINT(0, -1, 0)] + now[POINT(1, 1, 0)] + now[POINT(2, 0, -1)] + now[POINT(3, 0, 1)];
    float corners = now[POINT(4, -1, -1)] + now[POINT(5, 1, -1)] + now[POINT(6, -1, 1)] + now[POINT(7, 1, 1)];
    float beyond = now[POINT(8, -2, 0)] + now[POINT(9, 2, 0)] + now[POINT(10, 0, -2)] + now[POINT(11, 0, 2)];
    float bend = 20 * now[i] - 8 * sides + 2 * corners + beyond;
    next[i] = (2 - loss) * now[i] - (1 - loss) * last[i] - stiff * bend;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "pianos");
    int width = p.small ? 96 : 4096, height = p.small ? 64 : 3584;
    size_t n = (size_t)width * height;
    float stiff = 0.02f, loss = 0.001f;
    const int dx[ROUND] = {-1, 1, 0, 0, -1, 1, -1, 1, -2, 2, 0, 0};
    const int dy[ROUND] = {0, 0, -1, 1, -1, -1, 1, 1, 0, 0, -2, 2};
    std::vector<float> now = random_floats(n, -1, 1, 1), last = random_floats(n, -1, 1, 2);
    std::vector<int> around(ROUND * n);  // at the rim, the nearest point that there is
    for (int k = 0; k < ROUND; k++) {
        for (int y = 0; y < height; y++) {
            int row = std::min(std::max(y + dy[k], 0), height - 1) * width;
            int *to = &around[k * n + (size_t)y * width];
            for (int x = 0; x < width; x++)
                to[x] = row + std::min(std::max(x + dx[k], 0), width - 1);
        }
    }
    float *d_now = device_copy_of(now.data(), n), *d_last = device_copy_of(last.data(), n),
          *d_next = device_array<float>(n);
    int *d_around = device_copy_of(around.data(), ROUND * n);
    dim3 block(WIDE, HIGH), grid(width / WIDE, height / HIGH);
    pair_time(&p, [&] { vibrate<<<grid, block>>>(d_now, d_last, d_around, d_next, width, height, stiff, loss); });
    std::vector<float> next = host_copy_of(d_next, n);
    for (size_t i = 0; i < n; i += p.small ? 1 : 61) {
        double bend = 20.0 * now[i];
        for (int k = 0; k < ROUND; k++)
            bend += (k < 4 ? -8.0 : k < 8 ? 2.0 : 1.0) * now[around[k * n + i]];
        double expected = (2.0 - loss) * now[i] - (1.0 - loss) * last[i] - stiff * bend;
        pair_near(&p, "next", i, expected, next[i], 1e-4);
    }
    return pair_end(&p);
}

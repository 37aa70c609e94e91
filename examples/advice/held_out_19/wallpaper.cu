// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Change: the place in the pattern is counted on from tap to tap, and starts again at the edge of a repeat.
// Why: it is found by dividing by the size of a repeat, two or three times for each of the 25 taps.
#include "../common.h"

enum { TAPS = 5, BLOCK = 256 };
__constant__ float print[TAPS * TAPS];

// A wall as papered: the pattern repeats with a half drop (every second strip is half a repeat higher), and the print
// spreads the ink a little.
__global__ void paper(const float *pattern, float *wall, unsigned width, unsigned repeat_x, unsigned repeat_y) {
    unsigned x = blockIdx.x * BLOCK + threadIdx.x, y = blockIdx.y, drop = repeat_y / 2;
    if (x >= width)
        return;
    float ink = 0, darkest = 0;
#ifdef AFTER
    unsigned start = x % repeat_x, strip = x / repeat_x & 1;
    unsigned even = y % repeat_y, odd = (y + drop) % repeat_y;  // the row in even and in odd strips
#pragma unroll
    for (int dy = 0; dy < TAPS; dy++) {
        unsigned column = start, in_odd = strip;
#pragma unroll
        for (int dx = 0; dx < TAPS; dx++) {
            float dot = pattern[(in_odd ? odd : even) * repeat_x + column];
            ink += print[dy * TAPS + dx] * dot;
            darkest = fmaxf(darkest, dot);
            if (++column == repeat_x) {
                column = 0;
                in_odd ^= 1;
            }
        }
        even = even + 1 == repeat_y ? 0 : even + 1;
        odd = odd + 1 == repeat_y ? 0 : odd + 1;
    }
#else
#pragma unroll
    for (int dy = 0; dy < TAPS; dy++) {
#pragma unroll
        for (int dx = 0; dx < TAPS; dx++) {
            unsigned strip = (x + dx) / repeat_x & 1, column = (x + dx) % repeat_x;
            unsigned row = (y + dy + strip * drop) % repeat_y;
            float dot = pattern[row * repeat_x + column];
            ink += print[dy * TAPS + dx] * dot;
            darkest = fmaxf(darkest, dot);
        }
    }
#endif
    wall[(size_t)y * width + x] = fminf(ink + 0.1f * darkest, 1.0f);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "wallpaper");
    int width = p.small ? 128 : 3000, height = p.small ? 2 : 1600, repeat_x = p.small ? 30 : 530,
        repeat_y = p.small ? 4 : 641;
    std::vector<float> pattern = random_floats((size_t)repeat_x * repeat_y, 0, 1, 1), taps(TAPS * TAPS);
    for (int t = 0; t < TAPS * TAPS; t++)
        taps[t] = 0.16f / (1 + (t / TAPS - 2) * (t / TAPS - 2) + (t % TAPS - 2) * (t % TAPS - 2));
    CUDA_CHECK(cudaMemcpyToSymbol(print, taps.data(), taps.size() * sizeof(float)));
    float *d_pattern = device_copy_of(pattern.data(), pattern.size()),
          *d_wall = device_array<float>((size_t)width * height);
    dim3 grid((width + BLOCK - 1) / BLOCK, height);
    pair_time(&p, [&] { paper<<<grid, BLOCK>>>(d_pattern, d_wall, width, repeat_x, repeat_y); });
    std::vector<float> wall = host_copy_of(d_wall, (size_t)width * height);
    for (int i = 0; i < width * height; i += p.small ? 1 : 73) {
        int x = i % width, y = i / width;
        double ink = 0, darkest = 0;
        for (int t = 0; t < TAPS * TAPS; t++) {
            int u = x + t % TAPS, v = y + t / TAPS + (u / repeat_x % 2 ? repeat_y / 2 : 0);
            double dot = pattern[(size_t)(v % repeat_y) * repeat_x + u % repeat_x];
            ink += taps[t] * dot;
            darkest = std::max(darkest, dot);
        }
        pair_near(&p, "wall", i, std::min(ink + 0.1 * darkest, 1.0), wall[i], 1e-5);
    }
    return pair_end(&p);
}

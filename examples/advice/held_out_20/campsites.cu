// SPDX-License-Identifier: Apache-2.0
//
// Rule: loop-unrolling
// Change: the walk towards the sun is unrolled eight times.
// Why: rolled up it loads one height of the terrain, waits for it and only then goes for the next.
#include "../common.h"

enum { SUNS = 16, BLOCK = 128 };

// A position of the sun: the way towards it in 1/256 of a cell, and its slope in metres per step.
struct Sun {
    int dx, dy;
    float slope;
};

// Morning and evening sun on the pitches of campsites: how many positions of the sun are behind a hill, and how far
// the hills stand above the line of sight at the worst; one thread per pitch.
__global__ void shade(const float *terrain, const int2 *pitches, const Sun *suns, int *hidden, float *worst, int n,
                      int size, int steps) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    int2 at = pitches[i];
    float own = terrain[(size_t)at.y * size + at.x] + 1.5f, most = -1000.0f;
    int behind = 0;
    for (int s = 0; s < SUNS; s++) {
        Sun sun = suns[s];
        int x = at.x * 256 + 128, y = at.y * 256 + 128;
        float above = -1000.0f, sight = own;
#ifdef AFTER
#pragma unroll 8
#else
#pragma unroll 1
#endif
        for (int k = 0; k < steps; k++) {
            x += sun.dx;
            y += sun.dy;
            sight += sun.slope;
            int cx = min(max(x >> 8, 0), size - 1), cy = min(max(y >> 8, 0), size - 1);
            above = fmaxf(above, terrain[cy * size + cx] - sight);
        }
        behind += above > 0;
        most = fmaxf(most, above);
    }
    hidden[i] = behind;
    worst[i] = most;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "campsites");
    int n = p.small ? 128 : 132 * 256, size = p.small ? 128 : 2048, steps = p.small ? 8 : 64;
    std::vector<float> rough = random_floats((size_t)size * size, 0, 1, 1), terrain(rough.size());
    for (int y = 0; y < size; y++)
        for (int x = 0; x < size; x++)
            terrain[(size_t)y * size + x] = 40 * sinf(x * 0.031f) * cosf(y * 0.047f) + 6 * rough[(size_t)y * size + x];
    std::vector<int2> pitches(n);
    unsigned seed = 2;
    for (int i = 0; i < n; i += 32) {  // 32 pitches to a site, in rows of eight
        int x0 = lcg_next(&seed, size - 8), y0 = lcg_next(&seed, size - 4);
        for (int k = 0; k < 32 && i + k < n; k++)
            pitches[i + k] = make_int2(x0 + k % 8, y0 + k / 8);
    }
    std::vector<Sun> suns(SUNS);
    for (int s = 0; s < SUNS; s++) {
        double azimuth = 0.39269908 * s + 0.1, slope = 0.3 + 0.05 * s;
        suns[s] = {(int)(256 * cos(azimuth)), (int)(256 * sin(azimuth)), (float)slope};
    }
    float *d_terrain = device_copy_of(terrain.data(), terrain.size()), *d_worst = device_array<float>(n);
    int2 *d_pitches = device_copy_of(pitches.data(), n);
    Sun *d_suns = device_copy_of(suns.data(), SUNS);
    int *d_hidden = device_array<int>(n);
    pair_time(&p, [&] {
        shade<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(d_terrain, d_pitches, d_suns, d_hidden, d_worst, n, size, steps);
    });
    std::vector<int> hidden = host_copy_of(d_hidden, n);
    std::vector<float> worst = host_copy_of(d_worst, n);
    for (int i = 0; i < n; i += p.small ? 1 : 13) {
        float own = terrain[(size_t)pitches[i].y * size + pitches[i].x] + 1.5f, most = -1000;
        int behind = 0;
        for (const Sun &sun : suns) {
            int x = pitches[i].x * 256 + 128, y = pitches[i].y * 256 + 128;
            float above = -1000, sight = own;  // only sums, so the same numbers as on the device
            for (int k = 0; k < steps; k++) {
                x += sun.dx;
                y += sun.dy;
                sight += sun.slope;
                int cx = std::min(std::max(x >> 8, 0), size - 1), cy = std::min(std::max(y >> 8, 0), size - 1);
                above = std::max(above, terrain[(size_t)cy * size + cx] - sight);
            }
            behind += above > 0;
            most = std::max(most, above);
        }
        pair_near(&p, "hidden", i, behind, hidden[i], 1e-9);
        pair_near(&p, "worst", i, most, worst[i], 1e-5);
    }
    return pair_end(&p);
}

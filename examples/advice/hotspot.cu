// SPDX-License-Identifier: Apache-2.0
//
// Rule: wrong-type
// Change: 2.0 and 0.5 become 2.0f and 0.5f.
// Why: a constant without f is a double; the sums it takes part in are converted, computed in double and converted
// back.
#include "common.h"

#ifdef AFTER
#define C(x) x##f
#else
#define C(x) x
#endif

enum { TILE = 16, STEPS = 3, INNER = TILE - 2 * STEPS };

struct Chip {
    float rx, ry, rz, step, ambient;
};

// Temperatures of a chip (Rodinia's hotspot): a tile per block, several steps in shared memory over a shrinking part.
__global__ void hotspot(const float *heat, const float *power, float *out, int n, Chip chip) {
    __shared__ float t[2][TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * INNER + tx - STEPS, y = blockIdx.y * INNER + ty - STEPS;
    int cx = min(max(x, 0), n - 1), cy = min(max(y, 0), n - 1);
    float p = power[(size_t)cy * n + cx];
    t[0][ty][tx] = heat[(size_t)cy * n + cx];
    __syncthreads();
    int w = max(tx - 1, 0), e = min(tx + 1, TILE - 1), north = max(ty - 1, 0), south = min(ty + 1, TILE - 1);
    for (int s = 0; s < STEPS; s++) {
        float(*now)[TILE] = t[s % 2], here = now[ty][tx];
        t[1 - s % 2][ty][tx] = here + chip.step * (p + (now[south][tx] + now[north][tx] - C(2.0) * here) * chip.ry +
                                                   (now[ty][e] + now[ty][w] - C(2.0) * here) * chip.rx +
                                                   C(0.5) * (chip.ambient - here) * chip.rz);
        __syncthreads();
    }
    if (tx >= STEPS && tx < TILE - STEPS && ty >= STEPS && ty < TILE - STEPS && x < n && y < n)
        out[(size_t)y * n + x] = t[STEPS % 2][ty][tx];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "hotspot");
    int n = p.small ? 400 : 4000;
    std::vector<float> heat = random_floats((size_t)n * n, 60, 90, 1), power = random_floats((size_t)n * n, 0, 1, 2);
    float *d_heat = device_copy_of(heat.data(), heat.size()), *d_power = device_copy_of(power.data(), power.size()),
          *d_out = device_array<float>(heat.size());
    Chip chip = {0.1f, 0.12f, 0.05f, 0.5f, 80};
    dim3 grid((n + INNER - 1) / INNER, (n + INNER - 1) / INNER);
    pair_time(&p, [&] { hotspot<<<grid, dim3(TILE, TILE)>>>(d_heat, d_power, d_out, n, chip); });
    std::vector<float> out = host_copy_of(d_out, heat.size());
    for (int y = 6; y < n - 6; y += 41)  // away from the edges, where tiles clamp
        for (int x = 6; x < n - 6; x += 37) {
            double t[2][7][7];
            for (int i = 0; i < 49; i++)
                t[0][i / 7][i % 7] = heat[(size_t)(y + i / 7 - 3) * n + x + i % 7 - 3];
            for (int s = 0; s < 3; s++)
                for (int j = s + 1; j < 6 - s; j++)
                    for (int i = s + 1; i < 6 - s; i++) {
                        double(*now)[7] = t[s % 2], h = now[j][i];
                        t[1 - s % 2][j][i] =
                            h + 0.5 * (power[(size_t)(y + j - 3) * n + x + i - 3] +
                                       (now[j + 1][i] + now[j - 1][i] - 2 * h) * 0.12 +
                                       (now[j][i + 1] + now[j][i - 1] - 2 * h) * 0.1 + 0.5 * (80 - h) * 0.05);
                    }
            pair_near(&p, "out", (size_t)y * n + x, t[1][3][3], out[(size_t)y * n + x], 1e-4);
        }
    return pair_end(&p);
}

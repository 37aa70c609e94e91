// SPDX-License-Identifier: Apache-2.0
//
// Rule: fast-math
// Change: powf() and the division become __powf() and __fdividef().
// Why: the exact powf() is dozens of instructions for digits that a map of rates does not need.
#include "../common.h"

#ifdef AFTER
#define POWER(x, y) __powf(x, y)
#define DIVIDE(x, y) __fdividef(x, y)
#else
#define POWER(x, y) powf(x, y)
#define DIVIDE(x, y) ((x) / (y))
#endif

// x, y: kilometres; z: the squared size of the zone that broke; w: aftershocks per day still expected.
using Shock = float4;

// The map of the rate of aftershocks: each shock so far spreads its offspring around it by a power law.
__global__ void rate_map(const Shock *__restrict__ shocks, int count, float *__restrict__ rate, int columns, int rows,
                         float cell, float falloff) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= columns || row >= rows)
        return;
    const float x = (column + 0.5f) * cell, y = (row + 0.5f) * cell;
    float sum = 0;
    for (int s = 0; s < count; s++) {
        const Shock shock = shocks[s];
        const float dx = x - shock.x, dy = y - shock.y;
        sum += shock.w * POWER(1 + DIVIDE(dx * dx + dy * dy, shock.z), -falloff);
    }
    rate[row * columns + column] = sum;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "aftershocks");
    const int columns = p.small ? 60 : 420, rows = p.small ? 44 : 310, count = p.small ? 90 : 1300;
    const float cell = 0.5f, falloff = 1.53f;

    std::vector<Shock> shocks(count);
    unsigned seed = 1906;
    for (Shock &s : shocks) {
        float magnitude = 3 - log10f((1 + lcg_next(&seed, 10000)) / 10001.0f);
        s.x = cell * columns * lcg_next(&seed, 5000) / 5000.0f;
        s.y = cell * rows * (0.3f + 0.4f * lcg_next(&seed, 5000) / 5000.0f);
        s.z = 0.02f * powf(10, 0.9f * (magnitude - 3));
        s.w = 0.1f * powf(10, 0.8f * (magnitude - 3)) * powf(1.0f + lcg_next(&seed, 400), -1.1f);
    }

    Shock *d_shocks = device_copy_of(shocks.data(), count);
    float *d_rate = device_array<float>((size_t)columns * rows);
    const dim3 block(32, 4), grid((columns + 31) / 32, (rows + 3) / 4);
    pair_time(&p, [&] { rate_map<<<grid, block>>>(d_shocks, count, d_rate, columns, rows, cell, falloff); });

    std::vector<float> rate = host_copy_of(d_rate, (size_t)columns * rows);
    for (int i = 0; i < columns * rows; i += p.small ? 13 : 577) {
        double x = (i % columns + 0.5) * cell, y = (i / columns + 0.5) * cell, sum = 0;
        for (const Shock &s : shocks)
            sum += s.w * pow(1 + ((x - s.x) * (x - s.x) + (y - s.y) * (y - s.y)) / s.z, -falloff);
        // In thousandths, since most of the rates are small.
        pair_near(&p, "rate", i, 1000 * sum, 1000 * rate[i], 1e-3);
    }
    return pair_end(&p);
}

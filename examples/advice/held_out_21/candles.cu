// SPDX-License-Identifier: Apache-2.0
//
// Rule: sm-balance
// Change: the warps of a block take candles from all over the list instead of a run of it.
// Why: the list is sorted by length; the SM with the block of the longest candles works twice as long as the mean.
#include "../common.h"

enum { BLOCK = 1024 };

struct Candle {
    float length, radius, wick;  // mm
};

// How long candles burn: by 1 mm of wax at a time, with a pool that warms up and a flame that may drown in it. One
// thread per candle, one block per SM.
__global__ void burn(const Candle *candles, float *minutes, float *drips, int n, float draught) {
#ifdef AFTER
    int i = (threadIdx.x / 32 * gridDim.x + blockIdx.x) * 32 + threadIdx.x % 32;
#else
    int i = blockIdx.x * BLOCK + threadIdx.x;
#endif
    if (i >= n)
        return;
    Candle c = candles[i];
    float area = 3.1416f * c.radius * c.radius, pool = 0, time = 0, drip = 0, flame = c.wick;
    for (float left = c.length; left > 0; left -= 1.0f) {
        flame += 0.1f * (c.wick - 0.02f * pool - flame);
        float rate = fmaxf(0.5f, 12.0f * flame - draught * flame * flame);
        float melted = area * (0.6f + 0.3f * sqrtf(flame));
        pool += 0.001f * melted - 0.05f * pool;
        float over = fmaxf(0.0f, pool - 0.8f * c.radius);
        pool -= 0.5f * over;
        drip += over;
        time += __fdividef(area, 60.0f * rate);
    }
    minutes[i] = time;
    drips[i] = drip;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "candles");
    int blocks = p.small ? 3 : 132, n = blocks * BLOCK;
    std::vector<float> lengths = random_floats(n, p.small ? 2 : 10, p.small ? 30 : 900, 1),
                       radii = random_floats(n, 8, 40, 2), wicks = random_floats(n, 1, 3, 3);
    std::sort(lengths.begin(), lengths.end());
    std::vector<Candle> candles(n);
    for (int i = 0; i < n; i++)
        candles[i] = {rintf(lengths[i]), radii[i], wicks[i]};
    Candle *d_candles = device_copy_of(candles.data(), n);
    float *d_minutes = device_array<float>(n), *d_drips = device_array<float>(n), draught = 0.7f;
    pair_time(&p, [&] { burn<<<blocks, BLOCK>>>(d_candles, d_minutes, d_drips, n, draught); });
    std::vector<float> minutes = host_copy_of(d_minutes, n), drips = host_copy_of(d_drips, n);
    for (int i = 0; i < n; i += p.small ? 1 : 37) {
        Candle c = candles[i];
        double area = 3.1416 * c.radius * c.radius, pool = 0, time = 0, drip = 0, flame = c.wick;
        for (double left = c.length; left > 0; left -= 1) {
            flame += 0.1 * (c.wick - 0.02 * pool - flame);
            double rate = std::max(0.5, 12 * flame - draught * flame * flame);
            double melted = area * (0.6 + 0.3 * sqrt(flame));
            pool += 0.001 * melted - 0.05 * pool;
            double over = std::max(0.0, pool - 0.8 * c.radius);
            pool -= 0.5 * over;
            drip += over;
            time += area / (60 * rate);
        }
        pair_near(&p, "minutes", i, time, minutes[i], 2e-3);
        pair_near(&p, "drips", i, drip, drips[i], 5e-3);
    }
    return pair_end(&p);
}

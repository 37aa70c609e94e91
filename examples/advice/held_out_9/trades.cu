// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Also: vectorised-access
// Change: prices and volumes are arrays of their own instead of fields of a trade.
// Why: of 48 bytes of a trade eight are needed.
#include "../common.h"

enum { BLOCK = 256 };

struct Trade {
    double time;
    int venue, buyer, seller, flags;
    float price, volume, fee, tax;
    int id, order;
};

// Turnover of each trade, rounded to cents.
#ifdef AFTER
__global__ void turnover(const float *price, const float *volume, float *out) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    out[i] = rintf(price[i] * volume[i] * 100) / 100;
}
#else
__global__ void turnover(const Trade *trades, float *out) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    out[i] = rintf(trades[i].price * trades[i].volume * 100) / 100;
}
#endif

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "trades");
    int n = p.small ? 1 << 14 : 1 << 22;
    std::vector<float> price = random_floats(n, 1, 90, 1), volume = random_floats(n, 1, 20, 2);
    float *d_out = device_array<float>(n);
#ifdef AFTER
    float *d_price = device_copy_of(price.data(), n), *d_volume = device_copy_of(volume.data(), n);
    pair_time(&p, [&] { turnover<<<n / BLOCK, BLOCK>>>(d_price, d_volume, d_out); });
#else
    std::vector<Trade> trades(n);
    for (int i = 0; i < n; i++)
        trades[i].price = price[i], trades[i].volume = volume[i];
    Trade *d_trades = device_copy_of(trades.data(), n);
    pair_time(&p, [&] { turnover<<<n / BLOCK, BLOCK>>>(d_trades, d_out); });
#endif
    std::vector<float> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 1009)
        pair_near(&p, "turnover", i, price[i] * volume[i], out[i], 0.01);
    return pair_end(&p);
}

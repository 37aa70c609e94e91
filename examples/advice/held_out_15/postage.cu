// SPDX-License-Identifier: Apache-2.0
//
// Rule: thread-increase
// Also: occupancy-up
// Change: a block has 256 threads instead of 32.
// Why: an SM holds at most 32 blocks, so that only half of its warps can be there to hide the look-ups.
#include "../common.h"

#ifdef AFTER
enum { BLOCK = 256 };
#else
enum { BLOCK = 32 };
#endif

enum { REGIONS = 1000, ZONES = 10, BRACKETS = 12, ISLANDS = 8 };

// The postage of each parcel: by zone and weight, or by its size where that counts for more; islands cost extra.
__global__ void postage(const int *from, const int *to, const int *grams, const int *volumes,
                        const unsigned char *zones, const int *limits, const int *prices, int *cents, int *handling) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    int zone = zones[from[i] / 100 * REGIONS + to[i] / 100], weight = grams[i], volume = volumes[i];
    int counts = max(weight, volume / 5), bracket = 0;
    while (bracket < BRACKETS - 1 && counts > limits[bracket])
        bracket++;
    int price = prices[zone * BRACKETS + bracket];
    if (zone >= ISLANDS)
        price += 450 + counts / 1000 * 20;
    cents[i] = price;
    handling[i] = weight > 20000 ? 2 : volume > 60000 ? 1 : 0;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "postage");
    int n = p.small ? 4096 : 1 << 22;
    std::vector<int> from(n), to(n), grams(n), volumes(n), limits(BRACKETS), prices(ZONES * BRACKETS);
    std::vector<unsigned char> zones(REGIONS * REGIONS);
    lcg_fill(from.data(), n, 1, REGIONS * 100);
    lcg_fill(to.data(), n, 2, REGIONS * 100);
    lcg_fill(grams.data(), n, 3, 25000);
    lcg_fill(volumes.data(), n, 4, 80000);
    lcg_fill(zones.data(), zones.size(), 5, ZONES);
    for (int b = 0; b < BRACKETS; b++)
        limits[b] = 250 * (b + 1) * (b + 1);
    for (int z = 0; z < ZONES; z++)
        for (int b = 0; b < BRACKETS; b++)
            prices[z * BRACKETS + b] = 300 + 70 * z + (90 + 10 * z) * b;
    int *d_from = device_copy_of(from.data(), n), *d_to = device_copy_of(to.data(), n),
        *d_grams = device_copy_of(grams.data(), n), *d_volumes = device_copy_of(volumes.data(), n),
        *d_limits = device_copy_of(limits.data(), BRACKETS), *d_prices = device_copy_of(prices.data(), prices.size()),
        *d_cents = device_array<int>(n), *d_handling = device_array<int>(n);
    unsigned char *d_zones = device_copy_of(zones.data(), zones.size());
    pair_time(&p, [&] {
        postage<<<n / BLOCK, BLOCK>>>(d_from, d_to, d_grams, d_volumes, d_zones, d_limits, d_prices, d_cents,
                                      d_handling);
    });
    std::vector<int> cents = host_copy_of(d_cents, n), handling = host_copy_of(d_handling, n);
    for (int i = 0; i < n; i += 67) {
        int zone = zones[from[i] / 100 * REGIONS + to[i] / 100], counts = std::max(grams[i], volumes[i] / 5);
        int bracket = (int)(std::lower_bound(limits.begin(), limits.end() - 1, counts) - limits.begin());
        int price = prices[zone * BRACKETS + bracket] + (zone >= ISLANDS ? 450 + counts / 1000 * 20 : 0);
        pair_near(&p, "cents", i, price, cents[i], 0);
        pair_near(&p, "handling", i, grams[i] > 20000 ? 2 : volumes[i] > 60000 ? 1 : 0, handling[i], 0);
    }
    return pair_end(&p);
}

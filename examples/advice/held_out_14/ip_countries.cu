// SPDX-License-Identifier: Apache-2.0
//
// Rule: branch-elimination
// Also: divergence
// Change: the search takes as many steps for each address, and each step selects a half without a branch.
// Why: lanes leave the search at different steps and turn different ways in each of them.
#include "../common.h"

enum { BLOCK = 256, RANGES = 4096 };

// In which country each address of a log is: ranges of addresses are sorted by where they begin.
__global__ void ip_countries(const unsigned *addresses, const unsigned *begins, const unsigned char *countries,
                             unsigned char *out) {
    int i = blockIdx.x * BLOCK + threadIdx.x, found = 0;
    unsigned address = addresses[i];
#ifdef AFTER
    for (int step = RANGES / 2; step > 0; step /= 2)
        found += begins[found + step] <= address ? step : 0;
#else
    int low = 0, high = RANGES - 1;
    while (low <= high) {
        int middle = (low + high) / 2;
        if (begins[middle] > address) {
            high = middle - 1;
        } else if (middle + 1 < RANGES && begins[middle + 1] <= address) {
            low = middle + 1;
        } else {
            found = middle;
            break;
        }
    }
#endif
    out[i] = countries[found];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "ip_countries");
    int n = p.small ? 1 << 12 : 1 << 22;
    std::vector<unsigned> high(n), addresses(n), begins(RANGES);
    std::vector<unsigned char> countries(RANGES);
    lcg_fill(high.data(), n, 1, 1 << 16);
    lcg_fill(addresses.data(), n, 2, 1 << 16);
    for (int i = 0; i < n; i++)
        addresses[i] |= high[i] << 16;
    lcg_fill(begins.data(), RANGES, 3, 1 << 24);
    for (unsigned &begin : begins)
        begin <<= 8;
    begins[0] = 0;
    std::sort(begins.begin(), begins.end());
    lcg_fill(countries.data(), RANGES, 4, 195);
    unsigned *d_addresses = device_copy_of(addresses.data(), n), *d_begins = device_copy_of(begins.data(), RANGES);
    unsigned char *d_countries = device_copy_of(countries.data(), RANGES), *d_out = device_array<unsigned char>(n);
    pair_time(&p, [&] { ip_countries<<<n / BLOCK, BLOCK>>>(d_addresses, d_begins, d_countries, d_out); });
    std::vector<unsigned char> out = host_copy_of(d_out, n);
    for (int i = 0; i < n; i += 31) {
        size_t found = std::upper_bound(begins.begin(), begins.end(), addresses[i]) - begins.begin() - 1;
        pair_near(&p, "country", i, countries[found], out[i], 0);
    }
    return pair_end(&p);
}

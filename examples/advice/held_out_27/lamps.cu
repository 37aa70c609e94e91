// SPDX-License-Identifier: Apache-2.0
//
// Rule: branch-elimination
// Change: the overlap of two spans of time is one expression of minima and maxima, not five cases.
// Why: which case it is differs from lamp to lamp, so that a warp goes through most of the branches one by one.
#include "../common.h"

#define BANDS 18
#define WEEK 10080  // minutes

struct Band {
    int from, to, price;
};

__constant__ Band tariff[BANDS];

__device__ int overlap(int on, int off, int from, int to) {
#ifdef AFTER
    return max(0, min(off, to) - max(on, from));
#else
    if (off <= from)
        return 0;  // before the band
    if (on >= to)
        return 0;  // after it
    if (on >= from) {
        if (off <= to)
            return off - on;  // within
        return to - on;       // from within
    }
    if (off <= to)
        return off - from;  // into it
    return to - from;       // all of it
#endif
}

// The week's price of the electricity for every lamp of a city, and its longest time in one band; one thread each.
__global__ void bill(const ushort2 *spans, const unsigned char *counts, const unsigned char *watts, uint2 *bills,
                     int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned price = 0;
    int longest = 0, count = counts[i];
    for (int k = 0; k < count; k++) {
        ushort2 span = spans[(size_t)k * n + i];
        for (int b = 0; b < BANDS; b++) {
            int minutes = overlap(span.x, span.y, tariff[b].from, tariff[b].to);
            price += minutes * tariff[b].price;
            longest = max(longest, minutes);
        }
    }
    bills[i] = make_uint2(price * watts[i], longest);
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "lamps");
    int n = p.small ? 320 : 132 * 2000, most = p.small ? 5 : 24;
    unsigned seed = 7;
    Band bands[BANDS];
    for (int b = 0; b < BANDS; b++) {  // they overlap: the net, the tax and the energy have bands of their own
        int from = lcg_next(&seed, WEEK - 2000);
        bands[b] = {from, from + 60 + (int)lcg_next(&seed, 1900), 1 + (int)lcg_next(&seed, 9)};
    }
    CUDA_CHECK(cudaMemcpyToSymbol(tariff, bands, sizeof bands));
    std::vector<unsigned char> counts(n), watts(n);
    lcg_fill(counts.data(), n, 2, most + 1);
    lcg_fill(watts.data(), n, 3, 200);
    std::vector<ushort2> spans((size_t)n * most);
    for (ushort2 &span : spans) {
        span.x = (unsigned short)lcg_next(&seed, WEEK - 1500);
        span.y = (unsigned short)(span.x + 1 + lcg_next(&seed, 1500));
    }
    ushort2 *d_spans = device_copy_of(spans.data(), spans.size());
    unsigned char *d_counts = device_copy_of(counts.data(), n), *d_watts = device_copy_of(watts.data(), n);
    uint2 *d_bills = device_array<uint2>(n);
    pair_time(&p, [&] { bill<<<(n + 159) / 160, 160>>>(d_spans, d_counts, d_watts, d_bills, n); });
    std::vector<uint2> bills = host_copy_of(d_bills, n);
    for (int i = 0; i < n; i += p.small ? 1 : 23) {
        unsigned price = 0;
        int longest = 0;
        for (int k = 0; k < counts[i]; k++) {
            ushort2 span = spans[(size_t)k * n + i];
            for (const Band &band : bands) {
                int minutes = std::max(0, std::min<int>(span.y, band.to) - std::max<int>(span.x, band.from));
                price += minutes * band.price;
                longest = std::max(longest, minutes);
            }
        }
        pair_near(&p, "price", i, price * watts[i], bills[i].x, 0);
        pair_near(&p, "longest", i, longest, bills[i].y, 0);
    }
    return pair_end(&p);
}

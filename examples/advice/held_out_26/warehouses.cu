// SPDX-License-Identifier: Apache-2.0
//
// Rule: strength-reduction
// Change: dividing by the measures of the warehouse is a multiplication by a number found once, and a shift.
// Why: a GPU has no integer division; it takes some twenty instructions where the divisor is known only at run time.
#include "../common.h"

enum { BLOCK = 64 };

// Divides numbers below 2^31 by the same divisor over and over.
class Divider {
    unsigned divisor, factor, shift;

public:
    explicit Divider(unsigned d) : divisor(d), factor(0), shift(0) {
        while ((1ull << shift) < d)
            shift++;
        factor = (unsigned)(((1ull << 32) * ((1ull << shift) - d)) / d + 1);
    }
    __device__ unsigned divide(unsigned n, unsigned *rest) const {
#ifdef AFTER
        unsigned quotient = (__umulhi(n, factor) + n) >> shift;
#else
        unsigned quotient = n / divisor;
#endif
        *rest = n - quotient * divisor;
        return quotient;
    }
};

struct Place {
    int aisle, rack, level;
};

// Steps from one place to the next one: along the aisle, or out of it at its nearer end and into the other one.
static __host__ __device__ int steps(const Place &a, const Place &b, int racks) {
    int there = abs(a.rack - b.rack), ends = a.rack + b.rack, other_ends = 2 * racks - ends;
    int around = 4 * abs(a.aisle - b.aisle) + (ends < other_ends ? ends : other_ends);
    return (a.aisle == b.aisle ? there : around) + 2 * abs(a.level - b.level);
}

static __device__ Place place_of(unsigned bin, Divider by_levels, Divider by_racks) {
    unsigned level, rack, aisle = by_racks.divide(by_levels.divide(bin, &level), &rack);
    return {(int)aisle, (int)rack, (int)level};
}

// A warp per order: how far the picker goes for its items, taken in the order of the list.
__global__ void __launch_bounds__(BLOCK) picking_ways(const unsigned *bins, const int *first_of_order, int *ways,
                                                      int orders, int racks, Divider by_levels, Divider by_racks) {
    int order = (blockIdx.x * BLOCK + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (order >= orders)
        return;
    int end = first_of_order[order + 1], way = 0;
    for (int i = first_of_order[order] + lane; i + 1 < end; i += 32) {
        Place from = place_of(bins[i], by_levels, by_racks), to = place_of(bins[i + 1], by_levels, by_racks);
        way += steps(from, to, racks);
    }
    for (int d = 16; d > 0; d /= 2)
        way += __shfl_down_sync(~0u, way, d);
    if (lane == 0)
        ways[order] = way;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "warehouses");
    int orders = p.small ? 200 : 250000, longest = p.small ? 90 : 220;
    unsigned aisles = 57, racks = 83, levels = 7, seed = 9;
    std::vector<int> first(orders + 1);
    for (int o = 0; o < orders; o++)
        first[o + 1] = first[o] + 1 + lcg_next(&seed, longest);
    std::vector<unsigned> bins(first[orders]);
    lcg_fill(bins.data(), bins.size(), 10, aisles * racks * levels);
    unsigned *d_bins = device_copy_of(bins.data(), bins.size());
    int *d_first = device_copy_of(first.data(), first.size()), *d_ways = device_array<int>(orders);
    Divider by_levels(levels), by_racks(racks);
    int blocks = (orders + BLOCK / 32 - 1) / (BLOCK / 32);
    pair_time(&p, [&] {
        picking_ways<<<blocks, BLOCK>>>(d_bins, d_first, d_ways, orders, racks, by_levels, by_racks);
    });
    std::vector<int> ways = host_copy_of(d_ways, orders);
    for (int o = 0; o < orders; o += p.small ? 1 : 31) {
        int way = 0;
        Place last = {};
        for (int i = first[o]; i < first[o + 1]; i++) {
            unsigned bin = bins[i];
            Place next = {(int)(bin / levels / racks), (int)(bin / levels % racks), (int)(bin % levels)};
            way += i > first[o] ? steps(last, next, racks) : 0;
            last = next;
        }
        pair_near(&p, "ways", o, way, ways[o], 0);
    }
    return pair_end(&p);
}

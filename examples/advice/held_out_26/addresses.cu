// SPDX-License-Identifier: Apache-2.0
//
// Rule: memory-transactions
// Change: what is known of an address lies together in 16 bytes, no longer in four arrays.
// Why: the ends of an errand are anywhere in town, so that each of the eight values read is a transaction of its own.
#include "../common.h"

struct __align__(16) Address {
    float east, north;
    int floor, zone;
};

struct Town {
#ifdef AFTER
    const Address *all;
    __device__ Address look_up(int id) const { return all[id]; }
#else
    const float *east, *north;
    const int *floor, *zone;
    __device__ Address look_up(int id) const {
        Address a;
        a.east = east[id];
        a.north = north[id];
        a.floor = floor[id];
        a.zone = zone[id];
        return a;
    }
#endif
};

// Seconds that a courier needs from one address to another, and what it costs in cents.
static __host__ __device__ float errand_time(const Address &a, const Address &b) {
    return (fabsf(a.east - b.east) + fabsf(a.north - b.north)) * 0.25f + 18.0f * (float)(a.floor + b.floor);
}

static __host__ __device__ int errand_price(const Address &a, const Address &b, int express) {
    int apart = abs(a.zone - b.zone);
    return (390 + 110 * apart + (apart > 5 ? 250 : 0)) * (express ? 2 : 1);
}

__global__ void plan_errands(Town town, const int2 *errands, const unsigned char *express, float *times, int *prices,
                             int count) {
    int stride = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride) {
        int2 errand = errands[i];
        Address from = town.look_up(errand.x), to = town.look_up(errand.y);
        times[i] = errand_time(from, to);
        prices[i] = errand_price(from, to, express[i]);
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "addresses");
    int size = p.small ? 5000 : 5000000, count = p.small ? 6000 : 4000000, block = 512;
    unsigned seed = 1;
    std::vector<Address> addresses(size);
    for (Address &a : addresses) {
        a.east = lcg_next(&seed, 400000) / 10.0f;
        a.north = lcg_next(&seed, 300000) / 10.0f;
        a.floor = lcg_next(&seed, 8);
        a.zone = lcg_next(&seed, 12);
    }
    std::vector<int2> errands(count);
    std::vector<unsigned char> express(count);
    for (int i = 0; i < count; i++) {
        errands[i].x = lcg_next(&seed, size);
        errands[i].y = lcg_next(&seed, size);
        express[i] = lcg_next(&seed, 10) == 0;
    }
    Town town;
#ifdef AFTER
    town.all = device_copy_of(addresses.data(), size);
#else
    std::vector<float> east(size), north(size);
    std::vector<int> floor(size), zone(size);
    for (int i = 0; i < size; i++) {
        east[i] = addresses[i].east;
        north[i] = addresses[i].north;
        floor[i] = addresses[i].floor;
        zone[i] = addresses[i].zone;
    }
    town.east = device_copy_of(east.data(), size);
    town.north = device_copy_of(north.data(), size);
    town.floor = device_copy_of(floor.data(), size);
    town.zone = device_copy_of(zone.data(), size);
#endif
    int2 *d_errands = device_copy_of(errands.data(), count);
    unsigned char *d_express = device_copy_of(express.data(), count);
    float *d_times = device_array<float>(count);
    int *d_prices = device_array<int>(count), blocks = p.small ? 4 : 132 * 8;
    pair_time(&p, [&] { plan_errands<<<blocks, block>>>(town, d_errands, d_express, d_times, d_prices, count); });
    std::vector<float> times = host_copy_of(d_times, count);
    std::vector<int> prices = host_copy_of(d_prices, count);
    for (int i = 0; i < count; i += p.small ? 1 : 37) {
        const Address &from = addresses[errands[i].x], &to = addresses[errands[i].y];
        pair_near(&p, "times", i, errand_time(from, to), times[i], 1e-5);
        pair_near(&p, "prices", i, errand_price(from, to, express[i]), prices[i], 0);
    }
    return pair_end(&p);
}

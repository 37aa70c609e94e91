// SPDX-License-Identifier: Apache-2.0
//
// Rule: loop-unrolling
// Change: the side of the grid is a template argument, so that the loop over its halvings is unrolled.
// Why: with the side known only when running, every few operations of a level are followed by those of the loop: the
// next side, its square, the comparison and the jump.
#include "../common.h"

struct Place {
    float east, north;  // in the city's square, 0 to 1
};

struct Ride {
    Place from, to;
};

struct Keys {
    unsigned from, to;
};

// Where the Hilbert curve through a grid of side x side cells visits cell (x, y).
static __host__ __device__ __forceinline__ unsigned hilbert(unsigned x, unsigned y, unsigned side) {
    unsigned key = 0;
#ifdef AFTER
#pragma unroll
#endif
    for (unsigned s = side / 2; s > 0; s /= 2) {
        unsigned right = (x & s) != 0, top = (y & s) != 0;
        key += s * s * ((3 * right) ^ top);
        if (!top) {  // turn the quarter
            if (right) {
                x = side - 1 - x;
                y = side - 1 - y;
            }
            unsigned swap = x;
            x = y;
            y = swap;
        }
    }
    return key;
}

static __host__ __device__ __forceinline__ unsigned key_of(Place place, unsigned side) {
    unsigned x = (unsigned)(place.east * (float)side), y = (unsigned)(place.north * (float)side);
    return hilbert(x < side ? x : side - 1, y < side ? y : side - 1, side);
}

// Sort keys that bring rides together that begin, or end, close to each other.
#ifdef AFTER
template <unsigned side>
__global__ void curve_keys(const Ride *__restrict__ rides, Keys *__restrict__ keys, int count) {
#else
__global__ void curve_keys(const Ride *__restrict__ rides, Keys *__restrict__ keys, int count, unsigned side) {
#endif
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        Ride ride = rides[i];
        Keys both = {key_of(ride.from, side), key_of(ride.to, side)};
        keys[i] = both;
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "taxis");
    const unsigned side = 1 << 16;
    int count = p.small ? 3000 : 3000000, block = 192, grid = p.small ? 4 : 132 * 10;
    std::vector<Ride> rides(count);
    unsigned seed = 11;
    for (Ride &ride : rides) {
        ride.from.east = lcg_next(&seed, 1 << 20) / (float)(1 << 20);
        ride.from.north = lcg_next(&seed, 1 << 20) / (float)(1 << 20);
        ride.to.east = lcg_next(&seed, 1 << 20) / (float)(1 << 20);
        ride.to.north = lcg_next(&seed, 1 << 20) / (float)(1 << 20);
    }
    Ride *d_rides = device_copy_of(rides.data(), count);
    Keys *d_keys = device_array<Keys>(count);
    pair_time(&p, [&] {
#ifdef AFTER
        curve_keys<side><<<grid, block>>>(d_rides, d_keys, count);
#else
        curve_keys<<<grid, block>>>(d_rides, d_keys, count, side);
#endif
    });
    std::vector<Keys> keys = host_copy_of(d_keys, count);
    for (int i = 0; i < count; i += p.small ? 1 : 29) {
        // Here from the other end: the quarters are turned back as the curve is followed to the cell of the key.
        for (int end = 0; end < 2; end++) {
            Place place = end ? rides[i].to : rides[i].from;
            unsigned key = end ? keys[i].to : keys[i].from, x = 0, y = 0, rest = key;
            for (unsigned s = 1; s < side; s *= 2, rest /= 4) {
                unsigned right = rest / 2 & 1, top = (rest ^ right) & 1;
                if (!top) {
                    if (right) {
                        x = s - 1 - x;
                        y = s - 1 - y;
                    }
                    std::swap(x, y);
                }
                x += s * right;
                y += s * top;
            }
            pair_near(&p, end ? "to.x" : "from.x", i, (unsigned)(place.east * (float)side), x, 1e-9);
            pair_near(&p, end ? "to.y" : "from.y", i, (unsigned)(place.north * (float)side), y, 1e-9);
        }
    }
    return pair_end(&p);
}

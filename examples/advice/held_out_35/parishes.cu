// SPDX-License-Identifier: Apache-2.0
//
// Rule: sm-balance
// Change: a block that is done takes the next parish from a common counter; it no longer has a fixed range of them.
// Why: parishes are filed by county, so a few blocks get nothing but town parishes, which have many times more
// addresses, and most SMs wait for them.
#include "../common.h"

enum { BLOCK = 256 };

// A parish: the ring of its boundary, and the addresses in its bounding box, which a spatial index has found.
struct Parish {
    int first_corner, corners;
    int first_address, addresses;
};

// Crossing number of a ring around a point, all in whole metres from the corner of the bounding box (below 2^14).
__host__ __device__ inline bool encloses(const int2 *ring, int corners, int2 at) {
    bool inside = false;
    int2 a = ring[corners - 1];
    for (int c = 0; c < corners; c++) {
        int2 b = ring[c];
        if ((a.y > at.y) != (b.y > at.y)) {
            int side = (b.x - a.x) * (at.y - a.y) - (at.x - a.x) * (b.y - a.y);
            inside ^= (side > 0) == (b.y > a.y);
        }
        a = b;
    }
    return inside;
}

// One block counts the addresses that really lie in one parish.
__device__ inline void count_parish(const Parish &parish, const int2 *corner, const int2 *address, int *inside) {
    int total = 0;
    for (int start = 0; start < parish.addresses; start += BLOCK) {
        const int i = start + threadIdx.x;
        total += __syncthreads_count(i < parish.addresses && encloses(corner + parish.first_corner, parish.corners,
                                                                      address[parish.first_address + i]));
    }
    if (threadIdx.x == 0)
        *inside = total;
}

__global__ void parishes(const Parish *__restrict__ list, int count, const int2 *__restrict__ corner,
                         const int2 *__restrict__ address, int *__restrict__ inside, int *__restrict__ next) {
#ifdef AFTER
    __shared__ int taken;
    for (;;) {
        if (threadIdx.x == 0)
            taken = atomicAdd(next, 1);
        __syncthreads();
        const int n = taken;
        __syncthreads();
        if (n >= count)
            break;
        count_parish(list[n], corner, address, &inside[n]);
    }
#else
    const int each = (count + gridDim.x - 1) / gridDim.x, first = blockIdx.x * each;
    for (int n = first; n < min(first + each, count); n++)
        count_parish(list[n], corner, address, &inside[n]);
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "parishes");
    const int count = p.small ? 60 : 6000;
    int blocks = 12;
    if (!p.small) {
        CUDA_CHECK(cudaDeviceGetAttribute(&blocks, cudaDevAttrMultiProcessorCount, 0));
        blocks *= 4;
    }

    // Nine counties in ten are rural. Boundaries follow brooks and hedges: a star-shaped ring with noise.
    std::vector<Parish> list(count);
    std::vector<int2> corner, address;
    unsigned seed = 1538;
    for (int n = 0; n < count; n++) {
        Parish &parish = list[n];
        bool town = n * 10 / count == 6;
        int size = town ? 1500 : 5000;
        parish.first_corner = corner.size();
        parish.first_address = address.size();
        parish.corners = p.small ? 10 + lcg_next(&seed, 12) : 50 + lcg_next(&seed, 110);
        parish.addresses = (town ? 4500 + lcg_next(&seed, 3500) : 200 + lcg_next(&seed, 400)) / (p.small ? 14 : 1);
        for (int c = 0; c < parish.corners; c++) {
            double turn = 6.2831853 * c / parish.corners, r = size * (0.6 + 0.4 * lcg_next(&seed, 1000) / 1000);
            corner.push_back(make_int2((int)(size + r * cos(turn)), (int)(size + r * sin(turn))));
        }
        for (int a = 0; a < parish.addresses; a++) {
            int x = lcg_next(&seed, 2 * size), y = lcg_next(&seed, 2 * size);
            address.push_back(make_int2(x, y));
        }
    }

    Parish *d_list = device_copy_of(list.data(), count);
    int2 *d_corner = device_copy_of(corner.data(), corner.size()),
         *d_address = device_copy_of(address.data(), address.size());
    int *d_inside = device_array<int>(count), *d_next = device_array<int>(1);
    pair_time(&p, [&] {
#ifdef AFTER
        CUDA_CHECK(cudaMemsetAsync(d_next, 0, sizeof(int)));
#endif
        parishes<<<blocks, BLOCK>>>(d_list, count, d_corner, d_address, d_inside, d_next);
    });

    // The reference adds up the angles under which an address sees the boundary. It may differ from the crossings only
    // for an address exactly on it.
    std::vector<int> inside = host_copy_of(d_inside, count);
    for (int n = 0; n < count; n += p.small ? 2 : 149) {
        const Parish &parish = list[n];
        int expected = 0;
        for (int i = 0; i < parish.addresses; i++) {
            int2 at = address[parish.first_address + i];
            double angle = 0;
            for (int c = 0; c < parish.corners; c++) {
                int2 a = corner[parish.first_corner + c], b = corner[parish.first_corner + (c + 1) % parish.corners];
                double ax = a.x - at.x, ay = a.y - at.y, bx = b.x - at.x, by = b.y - at.y;
                angle += atan2(ax * by - ay * bx, ax * bx + ay * by);
            }
            expected += fabs(angle) > 3.1415927;
        }
        pair_near(&p, "inside", n, expected, inside[n], 0.002);
    }
    return pair_end(&p);
}

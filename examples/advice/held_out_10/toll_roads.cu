// SPDX-License-Identifier: Apache-2.0
//
// Rule: thread-increase
// Change: blocks have 256 threads instead of 32.
// Why: an SM holds 32 blocks at most, so that blocks of one warp leave half of its places for warps empty.
#include "../common.h"

#ifdef AFTER
enum { BLOCK = 256 };
#else
enum { BLOCK = 32 };
#endif
enum { ROADS = 4096 };

// What a trip over three roads costs.
__global__ void toll_roads(const int *roads, const float *tolls, float *out, int trips) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
    out[i] = tolls[roads[i]] + tolls[roads[trips + i]] + tolls[roads[2 * trips + i]];
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "toll_roads");
    int trips = p.small ? 1 << 14 : 1 << 22;
    std::vector<int> roads((size_t)trips * 3);
    std::vector<float> tolls = random_floats(ROADS, 0, 9, 1);
    unsigned seed = 2;
    for (int &r : roads)
        r = (int)lcg_next(&seed, ROADS);
    int *d_roads = device_copy_of(roads.data(), roads.size());
    float *d_tolls = device_copy_of(tolls.data(), ROADS), *d_out = device_array<float>(trips);
    pair_time(&p, [&] { toll_roads<<<trips / BLOCK, BLOCK>>>(d_roads, d_tolls, d_out, trips); });
    std::vector<float> out = host_copy_of(d_out, trips);
    for (int i = 0; i < trips; i += 97)
        pair_near(&p, "cost", i,
                  (double)tolls[roads[i]] + tolls[roads[trips + i]] + tolls[roads[2 * (size_t)trips + i]], out[i],
                  1e-5);
    return pair_end(&p);
}

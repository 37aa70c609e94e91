// SPDX-License-Identifier: Apache-2.0
//
// Rule: sm-balance
// Change: the blocks take the routes in turn, not each a part of the list.
// Why: the list is sorted, the longest routes first; the first block has some thirty times the work of the last.
#include "../common.h"

enum { BLOCK = 512, WARPS = BLOCK / 32 };

// What each caravan's route costs: its legs over sand and stone, the water to carry, and the worst leg; the legs of all
// routes lie behind each other.
__global__ void travel(const float2 *legs, const int *starts, float2 *costs, int routes, float thirst) {
    __shared__ float totals[WARPS], worsts[WARPS];
#ifdef AFTER
    int first = blockIdx.x, end = routes, step = gridDim.x;
#else
    int each = (routes + gridDim.x - 1) / gridDim.x;
    int first = blockIdx.x * each, end = min(first + each, routes), step = 1;
#endif
    for (int route = first; route < end; route += step) {
        float total = 0, worst = 0;
        for (int k = starts[route] + (int)threadIdx.x; k < starts[route + 1]; k += BLOCK) {
            float2 leg = legs[k];  // x: how long, y: how much of it is sand
            float hours = leg.x * (1 + leg.y * leg.y);
            float cost = hours + thirst * hours * sqrtf(hours);
            total += cost;
            worst = fmaxf(worst, cost);
        }
        for (int s = 16; s; s /= 2) {
            total += __shfl_xor_sync(~0u, total, s);
            worst = fmaxf(worst, __shfl_xor_sync(~0u, worst, s));
        }
        if (threadIdx.x % 32 == 0) {
            totals[threadIdx.x / 32] = total;
            worsts[threadIdx.x / 32] = worst;
        }
        __syncthreads();
        if (threadIdx.x < 32) {
            total = threadIdx.x < WARPS ? totals[threadIdx.x] : 0;
            worst = threadIdx.x < WARPS ? worsts[threadIdx.x] : 0;
            for (int s = 16; s; s /= 2) {
                total += __shfl_xor_sync(~0u, total, s);
                worst = fmaxf(worst, __shfl_xor_sync(~0u, worst, s));
            }
            if (threadIdx.x == 0)
                costs[route] = make_float2(total, worst);
        }
        __syncthreads();
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "caravans");
    int blocks = p.small ? 4 : 132, routes = p.small ? 12 : 132 * 12, longest = p.small ? 1200 : 16000;
    std::vector<int> starts(1, 0);
    for (int r = 0; r < routes; r++)
        starts.push_back(starts.back() + longest / 32 + (int)((long long)longest * (routes - r) / routes));
    size_t n = starts.back();
    std::vector<float> legs = random_floats(2 * n, 0, 1, 1);
    float2 *d_legs = device_copy_of((const float2 *)legs.data(), n), *d_costs = device_array<float2>(routes);
    int *d_starts = device_copy_of(starts.data(), starts.size());
    float thirst = 0.3f;
    pair_time(&p, [&] { travel<<<blocks, BLOCK>>>(d_legs, d_starts, d_costs, routes, thirst); });
    std::vector<float2> costs = host_copy_of(d_costs, routes);
    for (int route = 0; route < routes; route += p.small ? 1 : 11) {
        double total = 0, worst = 0;
        for (size_t k = starts[route]; k < (size_t)starts[route + 1]; k++) {
            double hours = legs[2 * k] * (1 + legs[2 * k + 1] * legs[2 * k + 1]),
                   cost = hours + thirst * hours * sqrt(hours);
            total += cost;
            worst = std::max(worst, cost);
        }
        pair_near(&p, "total", route, total, costs[route].x, 1e-4);
        pair_near(&p, "worst", route, worst, costs[route].y, 1e-4);
    }
    return pair_end(&p);
}

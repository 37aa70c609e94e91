// SPDX-License-Identifier: Apache-2.0
//
// Rule: warp-balance
// Change: the guests are dealt to the warps in turn instead of in runs of 32.
// Why: a guest is paired with those after him, so the first warp has fifteen times as many pairs as the last one.
#include "../common.h"

enum { BLOCK = 256, WARPS = BLOCK / 32, GUESTS = 256 };

// What is wrong with each seating plan: the dislikes of all pairs at one table, and how many tables are too full.
__global__ void quarrels(const unsigned char *dislike, const unsigned char *plans, int *costs, int *too_full, int count,
                         int tables) {
    __shared__ unsigned char seat[GUESTS];
    __shared__ int sums[WARPS], sizes[64];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int plan = blockIdx.x; plan < count; plan += gridDim.x) {
        seat[threadIdx.x] = plans[plan * GUESTS + threadIdx.x];
        if (threadIdx.x < 64)
            sizes[threadIdx.x] = 0;
        __syncthreads();
        atomicAdd(&sizes[seat[threadIdx.x]], 1);
        int sum = 0;
#ifdef AFTER
        for (int i = warp; i < GUESTS; i += WARPS) {
#else
        for (int i = warp * (GUESTS / WARPS); i < (warp + 1) * (GUESTS / WARPS); i++) {
#endif
            int table = seat[i];
            for (int j = i + 1 + lane; j < GUESTS; j += 32)
                if (seat[j] == table)
                    sum += dislike[i * GUESTS + j];
        }
        for (int step = 16; step; step /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, step);
        if (lane == 0)
            sums[warp] = sum;
        __syncthreads();
        if (threadIdx.x == 0) {
            int total = 0, full = 0;
            for (int w = 0; w < WARPS; w++)
                total += sums[w];
            for (int t = 0; t < tables; t++)
                full += sizes[t] > 2 * GUESTS / tables;
            costs[plan] = total;
            too_full[plan] = full;
        }
        __syncthreads();
    }
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "wedding_tables");
    int blocks = p.small ? 4 : 132, count = blocks * (p.small ? 2 : 12), tables = 12;
    std::vector<unsigned char> dislike(GUESTS * GUESTS), plans((size_t)count * GUESTS);
    lcg_fill(dislike.data(), dislike.size(), 1, 10);
    lcg_fill(plans.data(), plans.size(), 2, tables);
    unsigned char *d_dislike = device_copy_of(dislike.data(), dislike.size()),
                  *d_plans = device_copy_of(plans.data(), plans.size());
    int *d_costs = device_array<int>(count), *d_full = device_array<int>(count);
    pair_time(&p, [&] { quarrels<<<blocks, BLOCK>>>(d_dislike, d_plans, d_costs, d_full, count, tables); });
    std::vector<int> costs = host_copy_of(d_costs, count), full = host_copy_of(d_full, count);
    for (int plan = 0; plan < count; plan += p.small ? 1 : 5) {
        const unsigned char *seat = &plans[(size_t)plan * GUESTS];
        int total = 0, many = 0;
        for (int t = 0; t < tables; t++)
            many += std::count(seat, seat + GUESTS, t) > 2 * GUESTS / tables;
        for (int i = 0; i < GUESTS; i++)
            for (int j = i + 1; j < GUESTS; j++)
                total += seat[i] == seat[j] ? dislike[i * GUESTS + j] : 0;
        pair_near(&p, "cost", plan, total, costs[plan], 0);
        pair_near(&p, "too full", plan, many, full[plan], 0);
    }
    return pair_end(&p);
}

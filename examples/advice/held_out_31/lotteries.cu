// SPDX-License-Identifier: Apache-2.0
//
// Rule: global-coalescing
// Change: a thread's sixteen tickets are BLOCK tickets from each other instead of side by side.
// Why: with side by side tickets, the lanes of a warp read 128 bytes from each other: 32 cache lines a load, not two.
#include "../common.h"

#include <cstdint>

constexpr int BLOCK = 256, PER_THREAD = 16, PER_BLOCK = BLOCK * PER_THREAD;

struct Draw {
    uint64_t numbers;     // six bits of 49
    uint64_t extra;       // one more
    unsigned prize[8];    // by matches
    unsigned with_extra;  // added to the prize of five matches
};

__constant__ Draw saturday;

__host__ __device__ inline unsigned prize_of(uint64_t ticket, const Draw &draw) {
#ifdef __CUDA_ARCH__
    int matches = __popcll(ticket & draw.numbers);
#else
    int matches = __builtin_popcountll(ticket & draw.numbers);
#endif
    if (matches < 3)
        return 0;
    return draw.prize[matches] + (matches == 5 && (ticket & draw.extra) ? draw.with_extra : 0);
}

// What the tickets of every block have won together. The last tickets are blank.
__global__ void check_tickets(const uint64_t *__restrict__ tickets, unsigned *__restrict__ paid) {
    __shared__ unsigned of_warp[BLOCK / 32];
    const int t = threadIdx.x;
    const uint64_t *mine = tickets + (size_t)blockIdx.x * PER_BLOCK;
    unsigned won = 0;
    for (int k = 0; k < PER_THREAD; ++k) {
#ifdef AFTER
        won += prize_of(mine[k * BLOCK + t], saturday);
#else
        won += prize_of(mine[t * PER_THREAD + k], saturday);
#endif
    }
    won = __reduce_add_sync(0xffffffffu, won);
    if (t % 32 == 0)
        of_warp[t / 32] = won;
    __syncthreads();
    if (t == 0) {
        for (int w = 1; w < BLOCK / 32; ++w)
            won += of_warp[w];
        paid[blockIdx.x] = won;
    }
}

static uint64_t six_numbers(unsigned *seed) {
    uint64_t set = 0;
    for (int drawn = 0; drawn < 6;) {
        uint64_t bit = 1ull << lcg_next(seed, 49);
        if (!(set & bit)) {
            set |= bit;
            ++drawn;
        }
    }
    return set;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "lotteries");
    const size_t sold = p.small ? 29000 : 31000000;
    const int blocks = (int)((sold + PER_BLOCK - 1) / PER_BLOCK);
    std::vector<uint64_t> tickets((size_t)blocks * PER_BLOCK, 0);
    unsigned seed = 6;
    for (size_t i = 0; i < sold; ++i)
        tickets[i] = six_numbers(&seed);
    Draw draw = {six_numbers(&seed), 0, {0, 0, 0, 10, 55, 2600, 2000000, 0}, 40000};
    do
        draw.extra = 1ull << lcg_next(&seed, 49);
    while (draw.extra & draw.numbers);
    CUDA_CHECK(cudaMemcpyToSymbol(saturday, &draw, sizeof draw));
    uint64_t *d_tickets = device_copy_of(tickets.data(), tickets.size());
    unsigned *d_paid = device_array<unsigned>(blocks);
    pair_time(&p, [&] { check_tickets<<<blocks, BLOCK>>>(d_tickets, d_paid); });
    const std::vector<unsigned> paid = host_copy_of(d_paid, blocks);
    for (int b = 0; b < blocks; ++b) {
        unsigned expected = 0;
        for (size_t i = (size_t)b * PER_BLOCK; i < (size_t)(b + 1) * PER_BLOCK; ++i)
            expected += prize_of(tickets[i], draw);
        pair_near(&p, "paid", b, expected, paid[b], 0);
    }
    return pair_end(&p);
}

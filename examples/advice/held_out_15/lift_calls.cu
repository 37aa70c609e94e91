// SPDX-License-Identifier: Apache-2.0
//
// Rule: code-reordering
// Change: the next call is loaded before the present one is served.
// Why: every call begins with a wait for memory, and no load starts while the lifts are worked out.
#include "../common.h"

enum { BLOCK = 128, LIFTS = 4 };

struct Bank {
    int floor[LIFTS], free_at[LIFTS], waited, worst, held;
};

// Serves one call: bits 0 to 5 where from, 6 to 11 where to, 12 to 15 how many people, 16 to 31 when.
static __host__ __device__ void serve(Bank *bank, unsigned call, int speed) {
    int from = call & 63, to = call >> 6 & 63, people = call >> 12 & 15, when = call >> 16;
    int soonest = 1 << 30, chosen = 0;
#pragma unroll
    for (int l = 0; l < LIFTS; l++) {
        int ready = bank->free_at[l] > when ? bank->free_at[l] : when;
        int way = bank->floor[l] > from ? bank->floor[l] - from : from - bank->floor[l];
        int there = ready + way * speed;
        if (there < soonest) {
            soonest = there;
            chosen = l;
        }
    }
    int wait = soonest - when, doors = 0;
    while (people > 0) {  // the doors close when three are in, and open again for the rest
        people -= 3;
        doors += 4 + (doors & 3);
    }
    bank->held += doors > 8;
    bank->waited += wait;
    bank->worst = wait > bank->worst ? wait : bank->worst;
    int ride = (from > to ? from - to : to - from) * speed;
#pragma unroll
    for (int l = 0; l < LIFTS; l++)
        if (l == chosen) {
            bank->floor[l] = to;
            bank->free_at[l] = soonest + doors + ride;
        }
}

static __host__ __device__ Bank bank_at_rest() {
    Bank bank = {};
    for (int l = 0; l < LIFTS; l++)
        bank.floor[l] = 12 * l;
    return bank;
}

// The lifts of many buildings through a day of calls.
__global__ void day(const unsigned *calls, const int *speeds, int *waited, int *worst, int *held, int buildings,
                    int count) {
    int i = blockIdx.x * BLOCK + threadIdx.x, speed = speeds[i];
    Bank bank = bank_at_rest();
#ifdef AFTER
    unsigned next = calls[i];
#endif
    for (int c = 0; c < count; c++) {
#ifdef AFTER
        unsigned call = next;
        if (c + 1 < count)
            next = calls[(c + 1) * buildings + i];
#else
        unsigned call = calls[c * buildings + i];
#endif
        serve(&bank, call, speed);
    }
    waited[i] = bank.waited;
    worst[i] = bank.worst;
    held[i] = bank.held;
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "lift_calls");
    int buildings = p.small ? 512 : 132 * 2 * BLOCK, count = p.small ? 32 : 512;
    std::vector<unsigned> calls((size_t)buildings * count);
    std::vector<int> speeds(buildings);
    unsigned seed = 1;
    for (int c = 0; c < count; c++)
        for (int i = 0; i < buildings; i++) {
            unsigned from = lcg_next(&seed, 40), to = lcg_next(&seed, 40), people = 1 + lcg_next(&seed, 12);
            calls[(size_t)c * buildings + i] = from | to << 6 | people << 12 | (40 * c + lcg_next(&seed, 30)) << 16;
        }
    lcg_fill(speeds.data(), buildings, 2, 3);
    for (int &s : speeds)
        s += 2;
    unsigned *d_calls = device_copy_of(calls.data(), calls.size());
    int *d_speeds = device_copy_of(speeds.data(), buildings), *d_waited = device_array<int>(buildings),
        *d_worst = device_array<int>(buildings), *d_held = device_array<int>(buildings);
    pair_time(
        &p, [&] { day<<<buildings / BLOCK, BLOCK>>>(d_calls, d_speeds, d_waited, d_worst, d_held, buildings, count); });
    std::vector<int> waited = host_copy_of(d_waited, buildings), worst = host_copy_of(d_worst, buildings),
                     held = host_copy_of(d_held, buildings);
    for (int i = 0; i < buildings; i += 7) {
        Bank bank = bank_at_rest();
        for (int c = 0; c < count; c++)
            serve(&bank, calls[(size_t)c * buildings + i], speeds[i]);
        pair_near(&p, "waited", i, bank.waited, waited[i], 0);
        pair_near(&p, "worst", i, bank.worst, worst[i], 0);
        pair_near(&p, "held", i, bank.held, held[i], 0);
    }
    return pair_end(&p);
}

// SPDX-License-Identifier: Apache-2.0
//
// Rule: occupancy-up
// Change: the counters in shared memory are bytes instead of ints; no text has more than 240 characters.
// Why: 48 KiB of counters in a block leave room for four blocks of 128 threads on an SM; with 12 KiB there are sixteen.
#include "../common.h"

enum { BLOCK = 128, KEYS = 96, LONGEST = 240 };

#ifdef AFTER
typedef unsigned char Counter;
#else
typedef int Counter;
#endif

struct Wear {
    short busiest, presses, untouched;  // the key pressed most, how often, and how many keys are never pressed
};

static __host__ __device__ int key_of(unsigned char c) { return c >= 32 && c < 127 ? c - 32 : KEYS - 1; }

// Which keys each writer's keyboard wears out. Texts are stored with their first characters together, and so on.
__global__ void __launch_bounds__(BLOCK)
    keyboard_wear(const unsigned char *__restrict__ texts, const int *__restrict__ lengths, Wear *wear, int writers) {
    __shared__ Counter presses[KEYS][BLOCK];
    int writer = blockIdx.x * BLOCK + threadIdx.x;
    if (writer >= writers)
        return;
    for (int key = 0; key < KEYS; key++)
        presses[key][threadIdx.x] = 0;
    int length = lengths[writer];
    const unsigned char *text = texts + writer;
    for (int k = 0; k < length; k++, text += writers)
        presses[key_of(*text)][threadIdx.x]++;
    int busiest = 0, most = -1, untouched = 0;
    for (int key = 0; key < KEYS; key++) {
        int count = presses[key][threadIdx.x];
        untouched += count == 0;
        if (count > most) {
            most = count;
            busiest = key;
        }
    }
    wear[writer] = {(short)busiest, (short)most, (short)untouched};
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "keyboards");
    int writers = p.small ? 500 : 132 * 2048 - 20;
    unsigned seed = 4;
    std::vector<unsigned char> texts((size_t)LONGEST * writers);
    for (unsigned char &c : texts) {  // the smaller of two, so that some are more frequent
        seed = seed * 1664525u + 1013904223u;
        c = 30 + std::min(seed >> 8 & 127, seed >> 20 & 127);
    }
    std::vector<int> lengths(writers);
    for (int &length : lengths)
        length = p.small ? 20 + lcg_next(&seed, 40) : LONGEST - 50 + lcg_next(&seed, 51);
    unsigned char *d_texts = device_copy_of(texts.data(), texts.size());
    int *d_lengths = device_copy_of(lengths.data(), writers);
    Wear *d_wear = device_array<Wear>(writers);
    pair_time(&p, [&] {
        keyboard_wear<<<(writers + BLOCK - 1) / BLOCK, BLOCK>>>(d_texts, d_lengths, d_wear, writers);
    });
    std::vector<Wear> wear = host_copy_of(d_wear, writers);
    for (int i = 0; i < writers; i += p.small ? 1 : 29) {
        int presses[KEYS] = {};
        for (int k = 0; k < lengths[i]; k++)
            presses[key_of(texts[(size_t)k * writers + i])]++;
        int busiest = (int)(std::max_element(presses, presses + KEYS) - presses);
        pair_near(&p, "busiest", i, busiest, wear[i].busiest, 0);
        pair_near(&p, "presses", i, presses[busiest], wear[i].presses, 0);
        pair_near(&p, "untouched", i, std::count(presses, presses + KEYS, 0), wear[i].untouched, 0);
    }
    return pair_end(&p);
}

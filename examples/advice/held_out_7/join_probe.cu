// SPDX-License-Identifier: Apache-2.0
//
// Rule: streaming-hints
// Change: keys and results, each used once, are loaded and stored with the streaming hint (__ldcs, __stcs).
// Why: they evict from the L2 the hash table that all of them are looked up in.
#include "../common.h"

enum { BLOCK = 256, EMPTY = -1 };

static __host__ __device__ unsigned slot_of(int key, unsigned mask) { return (unsigned)key * 2654435761u >> 7 & mask; }

// The value that a hash table has for each key, or -1 (the probing side of a join).
__global__ void join_probe(const int *keys, const int2 *table, int *values, unsigned mask) {
    int i = blockIdx.x * BLOCK + threadIdx.x;
#ifdef AFTER
    int key = __ldcs(&keys[i]), value = EMPTY;
#else
    int key = keys[i], value = EMPTY;
#endif
    for (unsigned slot = slot_of(key, mask);; slot = (slot + 1) & mask) {
        int2 entry = table[slot];
        if (entry.x == key)
            value = entry.y;
        if (entry.x == key || entry.x == EMPTY)
            break;
    }
#ifdef AFTER
    __stcs(&values[i], value);
#else
    values[i] = value;
#endif
}

int main(int argc, char **argv) {
    Pair p = pair_begin(argc, argv, "join_probe");
    int n = p.small ? 1 << 15 : 1 << 25, slots = p.small ? 1 << 12 : 1 << 21;
    std::vector<int2> table(slots, make_int2(EMPTY, 0));
    std::vector<int> value_of(slots, EMPTY), keys(n);
    unsigned seed = 1;
    for (int k = 0; k < slots / 2; k++) {
        int key = lcg_next(&seed, slots);
        if (value_of[key] != EMPTY)
            continue;
        value_of[key] = k;
        unsigned slot = slot_of(key, slots - 1);
        while (table[slot].x != EMPTY)
            slot = (slot + 1) & (slots - 1);
        table[slot] = make_int2(key, k);
    }
    lcg_fill(keys.data(), n, 2, slots);
    int2 *d_table = device_copy_of(table.data(), slots);
    int *d_keys = device_copy_of(keys.data(), n), *d_values = device_array<int>(n);
    pair_time(&p, [&] { join_probe<<<n / BLOCK, BLOCK>>>(d_keys, d_table, d_values, slots - 1); });
    std::vector<int> values = host_copy_of(d_values, n);
    for (int i = 0; i < n; i += 101)
        pair_near(&p, "value", i, value_of[keys[i]], values[i], 0);
    return pair_end(&p);
}
